/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SPECIAL_CASES_H
#define TOPOOPT_SPECIAL_CASES_H

/*
 * Restricted searches beside the one that was asked for. The fastest plan is kept, so more
 * freedom never gives a slower plan.
 */

#include "plan/search.h"

#define TO_SPECIAL_CASES_SEED 1	/* a plan of another seed is never slower than that of this seed */

/**
 * to_special_cases_try() - try restricted searches and keep the fastest plan
 * @plan: complete, found with @knobs
 * @knobs: of the search; effort and seed are set to those of the search that won
 * @figures: of @plan; updated to the figures of the chosen plan
 *
 * Restricted searches are: duplex links instead of simplex ones, where each duplex link
 * becomes two simplex links; fewer ports, where Algorithm 1 then uses up the other ports;
 * less effort on all ports; and each of these also with TO_SPECIAL_CASES_SEED. A search is
 * skipped when its lower bound is no faster than @plan.
 *
 * Large jobs (SPECIAL_CASES_ALL) try duplex links only: there other seeds and more effort
 * change less, and the search itself tries every split of the ports.
 *
 * @plan is replaced only by a plan that is faster by more than a permille.
 *
 * Return: 0, or a negative errno of to_search_complete().
 */
int to_special_cases_try(struct to_plan *plan, struct to_planner_knobs *knobs,
			 struct to_figures *figures, struct to_error *err);

#endif
