/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SEARCH_H
#define TOPOOPT_SEARCH_H

/* One search: topologies for a job, of which the best is routed. */

#include "data/plan.h"
#include "topology/planner_knobs.h"
#include "verify/predict.h"

/**
 * to_search_plan() - complete @plan by the best topology that is found
 * @plan: with cluster and demand of the same servers; to_plan.candidates is set, too
 * @figures: set to what the plan predicts
 *
 * Return: 0, -EINVAL when the family has no rings, or as to_topology_find() and
 * to_plan_completion_fill(); @err may be unset after -ENOMEM.
 */
int to_search_plan(struct to_plan *plan, const struct to_planner_knobs *knobs,
		   struct to_figures *figures, struct to_error *err);

/**
 * to_search_complete() - complete @plan with AllReduce on the rings of @layout or on packed
 *	trees, whichever is faster
 *
 * Packed trees are not tried where @knobs ask for rings or for a family.
 */
int to_search_complete(struct to_plan *plan, struct to_layout *layout,
		       const struct to_planner_knobs *knobs, struct to_figures *figures,
		       struct to_error *err);

#endif
