/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PLANNER_H
#define TOPOOPT_PLANNER_H

/* From a cluster and a job to a plan. */

#include "base/effort.h"
#include "data/plan.h"
#include "topology/family.h"

/**
 * struct to_planner_options - what the job does not say
 * @fixed: keep the links of the cluster; all its servers take part
 * @rings: AllReduce over rings alone, as most clients know no trees
 * @degree: ports of a server that may be used, 0 for all
 * @family: the only one to try, NULL for all; not with @fixed
 * @effort: TO_EFFORT_MIN to TO_EFFORT_MAX, 0 for TO_EFFORT_DEFAULT
 * @max_stretch: see struct to_plan; 0 for TO_STRETCH_DEFAULT
 * @latency: of AllReduce; zeroes for none
 * @seed: same inputs and seed, same plan to the byte
 * @progress: called with the percent that is done, NULL for nobody
 * @data: for @progress
 */
struct to_planner_options {
	bool fixed, rings;
	unsigned int degree, effort;
	const struct to_family *family;
	double max_stretch;
	struct to_latency latency;
	uint64_t seed;
	void (*progress)(void *data, unsigned int percent);
	void *data;
};

/**
 * to_planner_make() - plan @demand on @cluster
 * @cluster: taken over, also on failure
 * @demand: taken over, also on failure
 *
 * Without @fixed the plan has the servers that the job names, in its order,
 * or the first that it counts.
 *
 * Return: the plan, NULL with @err set.
 */
struct to_plan *to_planner_make(struct to_cluster *cluster,
				struct to_demand *demand,
				const struct to_planner_options *options,
				struct to_error *err);

#endif
