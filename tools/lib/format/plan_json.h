/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PLAN_JSON_H
#define TOPOOPT_PLAN_JSON_H

/* plan.json */

#include <stdio.h>

#include "base/json.h"
#include "data/plan.h"

/** to_plan_load_shared() - Load plan.json from a file; the plan may have packet switches */
struct to_plan *to_plan_load_shared(const char *path, struct to_error *err);

/** to_plan_parse() - plan.json from memory; @name is for errors */
struct to_plan *to_plan_parse(const char *data, size_t len, const char *name,
			      struct to_error *err);

/**
 * to_plan_save() - write @plan to @path ("-" = standard output)
 *
 * Written to a temporary file beside @path and renamed, so a reader never
 * sees half a plan. Same plan, same bytes. -EBUSY while @path is the plan of another
 * process: see plan_lock.h.
 */
int to_plan_save(const struct to_plan *plan, const char *path,
		 struct to_error *err);

/** to_plan_print() - the text that to_plan_save() writes */
int to_plan_print(const struct to_plan *plan, FILE *out, struct to_error *err);

/** Words for enum to_link_use; ends with NULL. */
extern const char *const to_plan_link_uses[];

/** to_plan_print_dark() - Print the dark links of @plan, as in plan.json */
void to_plan_print_dark(FILE *out, const struct to_plan *plan);

/** to_plan_read_dark() - Read the dark links of plan.json; for struct to_json_field */
int to_plan_read_dark(const struct to_json *at, void *to /* struct to_plan * */);

/** to_plan_print_table() - table of @server as in plan.json; 0 or -ENOMEM */
int to_plan_print_table(FILE *out, const struct to_plan *plan, unsigned int server);

#endif
