/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PLAN_JSON_H
#define TOPOOPT_PLAN_JSON_H

#include <stdio.h>

#include "data/plan.h"

/** Words for enum to_link_use; ends with NULL. */
extern const char *const to_plan_link_uses[];

/** to_plan_print_table() - table of @server as in plan.json; 0 or -ENOMEM */
int to_plan_print_table(FILE *out, const struct to_plan *plan, unsigned int server);

/**
 * to_plan_read_table() - one element of the tables of plan.json
 * @done: per server, whether it has a table; that of this one is set
 */
int to_plan_read_table(const struct to_json *at, const struct to_plan *plan, bool *done);

#endif
