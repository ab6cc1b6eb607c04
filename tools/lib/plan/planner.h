/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PLANNER_H
#define TOPOOPT_PLANNER_H

/* From a cluster and a job to a plan. */

#include "data/plan.h"
#include "plan/planner_price.h"
#include "topology/family.h"
#include "topology/planner_knobs.h"

/**
 * to_planner_make() - plan @demand on @cluster
 * @cluster: taken over, also on failure
 * @demand: taken over, also on failure
 *
 * With free links the plan has the servers that the job names, in the job's order, or
 * the first ones of the cluster.
 *
 * Return: the plan, NULL with @err set.
 */
struct to_plan *to_planner_make(struct to_cluster *cluster, struct to_demand *demand,
				const struct to_planner_knobs *knobs, struct to_error *err);

/**
 * to_planner_make_priced() - plan as to_planner_make() and find what restrictions cost
 * @price: set; of no_buffer_cycles and of to_family_one_order
 *
 * Return: the plan, NULL with @err set.
 */
struct to_plan *to_planner_make_priced(struct to_cluster *cluster, struct to_demand *demand,
				       const struct to_planner_knobs *knobs,
				       struct to_planner_price *price, struct to_error *err);

#endif
