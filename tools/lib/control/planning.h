/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PLANNING_H
#define TOPOOPT_PLANNING_H

/*
 * to_candidates_plan() beside the loop, which goes on meanwhile: in a thread of its own,
 * with less priority, on a copy of the candidates.
 */

#include "control/candidates.h"

struct to_planning;

/**
 * to_planning_begin() - plan for the traffic that @candidates remembers now
 * @candidates: kept until to_planning_end(); no other planning is under way for it
 *
 * Return: NULL when there is no memory or thread for it.
 */
struct to_planning *to_planning_begin(struct to_candidates *candidates);

/** to_planning_done() - would to_planning_end() return at once? */
bool to_planning_done(const struct to_planning *planning);

/** to_planning_cancel() - have it end after the plan that is being made, with -ECANCELED */
void to_planning_cancel(struct to_planning *planning);

/**
 * to_planning_end() - wait for it, and take over what was planned; frees @planning
 *
 * Return: how many candidates are new, or a negative errno with @err.
 */
int to_planning_end(struct to_planning *planning, struct to_error *err);

#endif
