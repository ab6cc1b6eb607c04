/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PLAN_TABLES_JSON_H
#define TOPOOPT_PLAN_TABLES_JSON_H

/* The tables of plan.json, a server's each. */

#include <stdbool.h>

#include "base/json.h"
#include "data/plan.h"

/**
 * to_plan_read_table() - one element of the tables of plan.json
 * @done: per server, whether it has a table; that of this one is set
 */
int to_plan_read_table(const struct to_json *at, const struct to_plan *plan, bool *done);

/** to_plan_read_tables() - those of all servers; for struct to_json_field */
int to_plan_read_tables(const struct to_json *at, void *to /* struct to_plan * */);

#endif
