/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_CONTROLLER_STATE_H
#define TOPOOPT_CONTROLLER_STATE_H

/* What the controller's loop and its repairs share. */

#include "control/candidates.h"
#include "control/controller_config.h"
#include "control/lossy.h"
#include "control/missing.h"
#include "control/planning.h"
#include "control/transition.h"
#include "data/down.h"

#define CONTROLLER_RETRY_S 1
#define CONTROLLER_RETRY_MAX_S 30

/**
 * struct controller_look - why the traffic is planned for
 * @excess, @promise: see struct to_shift
 * @start_ns: CLOCK_MONOTONIC
 */
struct controller_look {
	enum to_shift_verdict verdict;
	double excess, promise;
	uint64_t start_ns;
};

/**
 * struct controller - a controller at work
 * @path, @next_path, @repair_path: PLAN, PLAN.next, PLAN.repair; where PLAN is a symbolic
 *	link, beside the file that it leads to
 * @first: the plan at the start, whose cluster @switches borrows
 * @plan: in force
 * @asked: while @plan is a repaired one: the plan that it stands in for, which PLAN is;
 *	else NULL
 * @lock: of the plan's file, negative in a dry run
 * @next: while the fabric may be anywhere between @plan and this one, else NULL
 * @switches: open when @transition has them
 * @traffic: not observed yet
 * @candidates: plans, and what the traffic has cost on them
 * @planning: that is under way beside the loop, or NULL; it is for @planned
 * @onset_ns: CLOCK_MONOTONIC; start of the interval in which links were first busier than
 *	promised
 * @decide_ns, @ahead_ns: CLOCK_MONOTONIC; after a change that failed, none is made before;
 *	after a stage ahead that did, none is
 * @dark: seconds of the change under way in which links were dark
 * @committed_ns: CLOCK_MONOTONIC; when all servers had last committed
 * @broken: the fabric is not as @plan says
 * @unknown: why there is no matrix; empty when there is
 * @missing: servers that gave no recording of the last interval
 * @n_stale: ports whose counters stand still
 * @n_intervals, @n_changes: so far
 * @carrier: of all ports
 * @lossy: links of @lossy_of, held; the plan that was asked for at the last look
 * @lossy_ns: CLOCK_MONOTONIC of the next look at what links count
 * @without: what @plan does without, of the cluster of @asked
 * @since_ns: CLOCK_MONOTONIC; when the last ports lost their light or got it back
 * @repair_ns, @repair_pause: CLOCK_MONOTONIC of the next attempt, and seconds to the
 *	one after that, while repairs fail
 */
struct controller {
	const struct to_controller_config *config;
	char *path, *next_path, *repair_path;
	struct to_plan *first, *plan, *asked, *next;
	struct to_fabric *fabric;
	struct to_switch_set switches;
	struct to_transition transition;
	struct to_traffic traffic;
	struct to_candidates candidates;
	struct to_planning *planning;
	struct controller_look planned;
	int lock;
	uint64_t onset_ns, committed_ns, decide_ns, ahead_ns;
	double dark;
	bool broken;
	struct to_error unknown;
	struct to_missing missing;
	unsigned int n_stale;
	uint64_t n_intervals, n_changes;
	struct to_carrier carrier;
	struct to_lossy lossy;
	struct to_plan *lossy_of;
	uint64_t lossy_ns;
	struct to_down without;
	uint64_t since_ns, repair_ns;
	unsigned int repair_pause;
};

/** to_controller_state_is_repair() - Tell whether a plan is a repaired one */
bool to_controller_state_is_repair(const struct to_plan *plan);

/** to_controller_state_take() - Put @plan, which is taken over, in force */
void to_controller_state_take(struct controller *c, struct to_plan *plan);

/** to_controller_state_switch() - Put a repaired plan or the one asked for in force; taken over */
void to_controller_state_switch(struct controller *c, struct to_plan *plan);

/** to_controller_state_asked() - Return the plan that was asked for, which PLAN is */
const struct to_plan *to_controller_state_asked(const struct controller *c);

/** to_controller_state_restore() - Bring the fabric to c->plan, or set c->broken */
void to_controller_state_restore(struct controller *c, const char *why);

#endif
