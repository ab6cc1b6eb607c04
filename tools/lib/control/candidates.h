/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_CANDIDATES_H
#define TOPOOPT_CANDIDATES_H

/*
 * The plans that a fabric could have, and which of them it should have now.
 *
 * Each interval of traffic is priced on every candidate, by its tables, and
 * plan/regret.h says when the one in force has cost too much. New candidates are
 * planned when the plan in force keeps its links busier than it promised
 * (measure/shift.h): for the traffic since then, for all that is remembered, and for
 * its phases, each of which is common and unlike the others. Of all that the planner
 * makes of these, those become candidates that would have cost least.
 *
 * The plan that the loop began with always is the first candidate.
 */

#include <stdatomic.h>

#include <jansson.h>

#include "measure/shift.h"
#include "plan/change_price.h"
#include "plan/regret.h"
#include "plan/replan.h"
#include "routing/busy_time.h"

/**
 * struct to_candidates_config - what the operator decides
 * @memory_ns: traffic so far back is planned for
 * @change_cost: seconds of busy links that a change of links costs beside those that
 *	are lost while it is made; negative: what the slowest switch takes, 0.25 at least
 */
struct to_candidates_config {
	uint64_t memory_ns;
	double change_cost;
};

#define TO_CANDIDATES_DEFAULTS { .memory_ns = 10000000000, .change_cost = -1 }

/**
 * struct to_candidates_plan - one of them
 * @id: number, 0 for the first; none is given twice
 * @source: where its links are from, see to_replan_source_names; "first"
 * @promise: busy time over its lower bound, as planned
 * @worth: seconds that it saved over the next best candidate; what was long ago counts less
 */
struct to_candidates_plan {
	struct to_busy_time busy;
	unsigned int id;
	const char *source;
	double promise, worth;
};

/**
 * struct to_candidates_interval - one interval of traffic that is remembered
 * @demand: AllReduce told from MP transfers; @traffic: as measured
 * @bound: seconds, see to_busy_time_bound()
 * @cost: seconds, per candidate
 * @work: work functions after it
 */
struct to_candidates_interval {
	struct to_traffic traffic;
	struct to_demand *demand;
	double bound, cost[TO_REGRET_MAX], work[TO_REGRET_MAX];
};

/**
 * struct to_candidates_outcome - what the last change came to
 * @since: there was one, and the plan before it still is a candidate
 * @before: that plan
 * @predicted: share of the busy time that it was to save
 * @spent, @kept: busy seconds since, and what they would have been without it
 */
struct to_candidates_outcome {
	bool since;
	unsigned int before;
	double predicted, spent, kept;
};

/**
 * struct to_candidates - plans and prices
 * @at: the one in force is candidate[regret.at]
 * @intervals: oldest first; @n_intervals of them, room for @room
 * @n_same: of @intervals, those since the newest phase of them came
 * @shift: whether the plan in force keeps its promise
 * @dark: seconds that links were dark in a step of the last change; negative: not known
 * @stop: ends to_candidates_plan() early, with -ECANCELED, when it is set; or NULL
 * @n_lent: of @intervals, the oldest of them, a copy has the traffic, see
 *	to_candidates_lend()
 * @kept: @n_kept that were forgotten since, but not yet by the copy
 */
struct to_candidates {
	struct to_candidates_config config;
	struct to_candidates_plan candidate[TO_REGRET_MAX];
	struct to_regret regret;
	struct to_candidates_interval *intervals;
	unsigned int n_intervals, n_same, room, next_id;
	struct to_shift shift;
	struct to_candidates_outcome outcome;
	double dark;
	const atomic_bool *stop;
	struct to_candidates_interval *kept;
	unsigned int n_lent, n_kept;
};

/** to_candidates_init() - @plan is in force. Return: 0 or -ENOMEM. */
int to_candidates_init(struct to_candidates *c, const struct to_candidates_config *config,
		       const struct to_plan *plan);
void to_candidates_free(struct to_candidates *c);

/**
 * to_candidates_observe() - the next interval
 * @traffic: emptied
 * @verdict: whether to call to_candidates_plan()
 *
 * Return: 0 or -ENOMEM.
 */
int to_candidates_observe(struct to_candidates *c, struct to_traffic *traffic,
			  enum to_shift_verdict *verdict);

/**
 * to_candidates_plan() - plan for the traffic that is remembered
 *
 * Return: how many candidates are new, or a negative errno with @err.
 */
int to_candidates_plan(struct to_candidates *c, struct to_error *err);

/**
 * to_candidates_lend() - a copy on which another thread can plan
 * @c: no other copy of it is there
 * @copy: for to_candidates_open() and to_candidates_plan(); it shares plans and traffic
 *	with @c, which neither changes, until to_candidates_return()
 *
 * Return: 0 or -ENOMEM.
 */
int to_candidates_lend(struct to_candidates *c, struct to_candidates *copy);

/** to_candidates_open() - what takes longer to copy. Return: 0 or -ENOMEM. */
int to_candidates_open(struct to_candidates *copy);

/**
 * to_candidates_return() - what was planned on the copy becomes candidates of @c, too
 * @copy: freed
 * @made: what to_candidates_plan() returned for it
 *
 * They are priced beside those that @c has by now, with the traffic that came since.
 *
 * Return: how many are new, or a negative errno with @err.
 */
int to_candidates_return(struct to_candidates *c, struct to_candidates *copy, int made,
			 struct to_error *err);

/** to_candidates_choose() - index of the candidate that should be in force */
unsigned int to_candidates_choose(const struct to_candidates *c);

/**
 * to_candidates_likely() - index of the candidate that will be chosen if traffic goes on so
 * @staged: plan for which preparations were made, or NULL
 *
 * That is when half of what must be lost before the change is. It is @staged until half of
 * that again is not any more, or another one is as much ahead. Return: that of the plan in
 * force when there is none.
 */
unsigned int to_candidates_likely(const struct to_candidates *c, const struct to_plan *staged);

/** to_candidates_saves() - share of the busy time that candidate @index saves */
double to_candidates_saves(const struct to_candidates *c, unsigned int index);

/** to_candidates_action() - what it takes to have candidate @index. Return: 0 or -ENOMEM. */
int to_candidates_action(const struct to_candidates *c, unsigned int index,
			 enum to_replan_action *action);

/** to_candidates_moved() - candidate @index is in force */
void to_candidates_moved(struct to_candidates *c, unsigned int index);

/** to_candidates_drop() - candidate @index cannot be had */
void to_candidates_drop(struct to_candidates *c, unsigned int index);

/** to_candidates_json() - array of all with their prices; NULL when out of memory */
json_t *to_candidates_json(const struct to_candidates *c);

#endif
