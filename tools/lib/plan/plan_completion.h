/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PLAN_COMPLETION_H
#define TOPOOPT_PLAN_COMPLETION_H

/* What follows from the links, rings and trees of a plan: the rest of the plan. */

#include "data/plan.h"
#include "verify/predict.h"

/**
 * to_plan_completion_fill() - Give a plan a layout, cross-connects, tables and predictions
 * @plan: with cluster and demand; what followed from another layout is dropped
 * @layout: taken over, also on failure
 * @effort: for the routes, see to_routing_fill()
 * @figures: gets the predictions as numbers; NULL for a plan without predictions. Unset on
 *	failure.
 *
 * Return: 0, or an error of to_cross_connects_fill() or to_routing_fill(); @err may be
 * unset after -ENOMEM.
 */
int to_plan_completion_fill(struct to_plan *plan, struct to_layout *layout, unsigned int effort,
			    struct to_figures *figures, struct to_error *err);

/**
 * to_plan_completion_primaries() - Give a plan a layout, cross-connects and primary routes
 *
 * Enough to see what a layout is worth; to_plan_completion_backups() adds the rest.
 * Parameters and errors are those of to_plan_completion_fill().
 */
int to_plan_completion_primaries(struct to_plan *plan, struct to_layout *layout,
				 unsigned int effort, struct to_error *err);

/** to_plan_completion_backups() - Add backup routes, alternates and predictions to a plan */
int to_plan_completion_backups(struct to_plan *plan, struct to_figures *figures,
			       struct to_error *err);

/**
 * to_plan_completion_predictions() - Make to_plan.predictions
 * @plan: with tables
 * @figures: gets the predictions as numbers
 *
 * Return: 0 or -ENOMEM.
 */
int to_plan_completion_predictions(struct to_plan *plan, struct to_figures *figures);

/**
 * to_plan_completion_all_predictions() - Make all predictions, which takes as long as planning
 * @effort: of the plan
 * @figures: gets the predictions as numbers, with those of flows
 *
 * Adds comm_time_unbounded_s: see to_routing_unbounded(). It is that of the plan's routes where
 * no others save a hundredth.
 *
 * Return: 0 or -ENOMEM.
 */
int to_plan_completion_all_predictions(struct to_plan *plan, unsigned int effort,
				       struct to_figures *figures);

#endif
