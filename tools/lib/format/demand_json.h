/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_DEMAND_JSON_H
#define TOPOOPT_DEMAND_JSON_H

/* job.json, and the demand inside plan.json. */

#include <stdio.h>

#include "base/json.h"
#include "data/demand.h"

/**
 * to_demand_load() - read job.json
 * @most: servers that it may have: TO_SERVERS_USUAL, or TO_SERVERS_MAX with --large;
 *	a job's matrix takes 8 bytes for each pair of them
 */
struct to_demand *to_demand_load(const char *path, unsigned int most, struct to_error *err);

/** to_demand_parse() - job.json from memory; @name is for errors */
struct to_demand *to_demand_parse(const char *data, size_t len, const char *name,
				  unsigned int most, struct to_error *err);
/**
 * to_demand_save() - write job.json to @path ("-" = standard output)
 *
 * By renaming, as to_plan_save() does. What it writes, to_demand_load() reads.
 */
int to_demand_save(const struct to_demand *demand, const char *path, struct to_error *err);

/** to_demand_read() - a plan's "demand", of at most @most servers */
int to_demand_read(const struct to_json *at, struct to_demand *demand, unsigned int most);

/** to_demand_print() - what to_demand_read() reads; 0 or -ENOMEM */
int to_demand_print(FILE *out, const struct to_demand *demand);

#endif
