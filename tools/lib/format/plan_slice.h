/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PLAN_SLICE_H
#define TOPOOPT_PLAN_SLICE_H

/*
 * One server's part of a plan: what its agent needs, a thousandth of the plan
 * of a thousand servers. The servers with their links are a cluster.json, the
 * same for all; the table is as in plan.json, see to_plan_print_table().
 */

#include <jansson.h>
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
 * to_plan_slice_add_dark() - Add links that no table uses, but whose ends listen for each other
 * @dark: array, as in plan.json; NULL: none
 *
 * Return: 0 or a negative errno with @err.
 */
int to_plan_slice_add_dark(struct to_plan *plan, json_t *dark, struct to_error *err);

/** to_plan_slice_dark() - Return the dark links of @plan for that; NULL: none */
json_t *to_plan_slice_dark(const struct to_plan *plan);

/**
 * to_plan_slice_servers() - fingerprint of the servers of a cluster.json that was printed
 * @links: gets where the array of its links begins, which ends with the last ] of the text
 *
 * Return: 0 when it has no links.
 */
uint64_t to_plan_slice_servers(const char *cluster, const char **links);

#endif
