/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PLAN_SLICE_H
#define TOPOOPT_PLAN_SLICE_H

/*
 * One server's part of a plan: what its agent needs, a thousandth of the plan
 * of a thousand servers. The servers with their links are a cluster.json, the
 * same for all; the table is as in plan.json, see to_plan_print_table().
 */

#include <stdio.h>

#include "data/plan.h"

/** to_plan_slice_print_cluster() - cluster.json with the links of @plan */
void to_plan_slice_print_cluster(FILE *out, const struct to_plan *plan);

/**
 * to_plan_slice_parse() - plan of which there is one table
 * @job: name of the job
 * @server: gets whose table it is
 *
 * No demand, rings or predictions; the other tables are empty: good for
 * to_apply_open() and recording, not for planning.
 */
struct to_plan *to_plan_slice_parse(const char *job, const char *cluster, const char *table,
				    unsigned int *server, struct to_error *err);

#endif
