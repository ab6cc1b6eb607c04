/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_COMPLETE_H
#define TOPOOPT_COMPLETE_H

/* All of a plan that follows from its links, rings and trees. */

#include "data/plan.h"
#include "verify/predict.h"

/**
 * to_complete_plan() - give @plan a layout, and its cross-connects, tables and peers
 * @plan: with cluster and demand; what followed from another layout is dropped
 * @layout: taken over, also on failure
 * @effort: for the routes, see to_routing_fill()
 * @figures: gets what the plan predicts, as to_complete_predictions(); NULL for
 *	a plan without predictions. Unset on failure.
 *
 * Return: 0, or as to_cross_connects_fill() and to_routing_fill(); @err may be
 * unset after -ENOMEM.
 */
int to_complete_plan(struct to_plan *plan, struct to_layout *layout, unsigned int effort,
		     struct to_figures *figures, struct to_error *err);

/**
 * to_complete_primaries() - the same without backups and alternates, nor predictions
 *
 * Enough to see what a layout is worth; to_complete_backups() adds the rest.
 */
int to_complete_primaries(struct to_plan *plan, struct to_layout *layout, unsigned int effort,
			  struct to_error *err);

/** to_complete_backups() - what to_complete_primaries() leaves out of to_complete_plan() */
int to_complete_backups(struct to_plan *plan, struct to_figures *figures, struct to_error *err);

/**
 * to_complete_predictions() - make to_plan.predictions
 * @plan: with tables
 * @figures: gets the same as numbers
 *
 * Return: 0 or -ENOMEM.
 */
int to_complete_predictions(struct to_plan *plan, struct to_figures *figures);

/**
 * to_complete_all_predictions() - also those that take as long as making a plan
 * @effort: of the plan
 * @figures: gets the same, with those of flows
 *
 * They have comm_time_unbounded_s, too: see to_routing_unbounded(), or the same as with the routes
 * of @plan where no others save a hundredth.
 *
 * Return: 0 or -ENOMEM.
 */
int to_complete_all_predictions(struct to_plan *plan, unsigned int effort,
				struct to_figures *figures);

#endif
