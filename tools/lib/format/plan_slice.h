/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PLAN_SLICE_H
#define TOPOOPT_PLAN_SLICE_H

/*
 * One server's part of a plan: what its agent needs, a thousandth of the plan
 * of a thousand servers. The servers with their links are a cluster.json, the
 * same for all; the table is as in plan.json, see to_plan_print_table(). What agents without
 * continuity checks do not know is apart, and they ignore it: the rest, see to_plan_slice_rest().
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "data/plan.h"

/**
 * struct to_plan_servers - the servers of the last slice, for the next one
 * @text: of its cluster.json, up to the links
 * @fingerprint: of that, 0: there is none
 *
 * From plan to plan only links change, and reading the servers takes most of the time.
 */
struct to_plan_servers {
	char *text;
	uint64_t fingerprint;
	struct to_cluster *cluster;
};

void to_plan_servers_free(struct to_plan_servers *servers);

/**
 * to_plan_slice_parse() - plan of which there is one table
 * @job: name of the job
 * @servers: of the slice before, zeroed for the first; those of this one are kept there
 * @server: gets whose table it is
 *
 * No demand, rings or predictions; the other tables are empty: good for
 * to_apply_open() and recording, not for planning.
 */
struct to_plan *to_plan_slice_parse(const char *job, const char *cluster, const char *table,
				    struct to_plan_servers *servers, unsigned int *server,
				    struct to_error *err);

/**
 * to_plan_slice_take() - to_plan_slice_parse() of values, for servers that were read before
 * @links: array of those of the cluster.json
 * @table: object
 */
struct to_plan *to_plan_slice_take(const char *job, json_t *links, json_t *table,
				   const struct to_plan_servers *servers, unsigned int *server,
				   struct to_error *err);

/**
 * to_plan_slice_rest() - return what all servers get beside the cluster.json and their tables
 * @unable: per server, whether it sends no checks, beside those that the plan names; or NULL
 *
 * An object with "dark" and "checks" of plan.json. Return: NULL without either, or without memory.
 */
json_t *to_plan_slice_rest(const struct to_plan *plan, const bool *unable);

/**
 * to_plan_slice_add_rest() - add the rest to a plan that was read
 * @rest: see to_plan_slice_rest(), or NULL
 *
 * Return: 0 or a negative errno with @err.
 */
int to_plan_slice_add_rest(struct to_plan *plan, json_t *rest, struct to_error *err);

/**
 * to_plan_slice_servers() - fingerprint of the servers of a cluster.json that was printed
 * @links: gets where the array of its links begins, which ends with the last ] of the text
 *
 * Return: 0 when it has no links.
 */
uint64_t to_plan_slice_servers(const char *cluster, const char **links);

#endif
