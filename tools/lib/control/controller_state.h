/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_CONTROLLER_STATE_H
#define TOPOOPT_CONTROLLER_STATE_H

/* What the controller's loop and its repairs share. */

#include "control/candidates.h"
#include "control/controller_config.h"
#include "control/course.h"
#include "control/lossy.h"
#include "control/missing.h"
#include "control/planning.h"
#include "control/slow.h"
#include "control/transition.h"
#include "data/down.h"

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
 * @change_ns: CLOCK_MONOTONIC; when the last change began
 * @dark: seconds of the change under way in which links were dark
 * @committed_ns: CLOCK_MONOTONIC; when all servers had last committed
 * @course: when what failed may be tried again
 * @broken: servers may be between @plan and @next
 * @unknown: why there is no matrix; empty when there is
 * @missing: servers that gave no recording of the last interval
 * @n_stale: ports whose counters stand still
 * @n_intervals, @n_changes: so far
 * @carrier: of all ports
 * @lossy: links of @lossy_of, held; the plan that was asked for at the last look
 * @slow: ports of @lossy_of that run at a lower rate than it says
 * @lossy_ns: CLOCK_MONOTONIC of the next look at what links count
 * @without: what @plan does without, of the cluster of @asked
 * @down: what is down, by the last look
 * @outdated: @plan is for something else than @down
 * @tried: fingerprint of @down and @recabled when a change failed last
 * @recabled: links that cables make in place of those of the plan asked for, @n_recabled of
 *	them, by the last look
 * @since_ns: CLOCK_MONOTONIC; when the last ports lost their light or got it back
 * @away: per server, whether it was said that it is left out, as its agent is away
 * @astray: per server, whether it lacks the table that was decided on; @n_astray of them
 * @brought: why servers that are astray could not be brought back, as told last; "" for nothing
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
	uint64_t onset_ns, committed_ns, decide_ns, ahead_ns, change_ns;
	double dark;
	struct to_course course;
	bool broken, outdated;
	struct to_error unknown, brought;
	struct to_missing missing;
	unsigned int n_stale;
	uint64_t n_intervals, n_changes;
	struct to_carrier carrier;
	struct to_lossy lossy;
	struct to_slow slow;
	struct to_plan *lossy_of;
	uint64_t lossy_ns;
	struct to_down without, down;
	uint64_t tried;
	struct to_link *recabled;
	unsigned int n_recabled;
	uint64_t since_ns;
	bool *away, *astray;
	unsigned int n_astray;
};

/**
 * to_controller_state_is_repair() - Tell whether a plan is a repaired one
 *
 * It does without something that is down, has links that cables make in place of those of
 * the plan asked for, or is for ports that run at another rate.
 */
bool to_controller_state_is_repair(const struct controller *c, const struct to_plan *plan);

/** to_controller_state_has_link() - Tell whether a link of @plan has the ends of @link */
bool to_controller_state_has_link(const struct to_plan *plan, const struct to_link *link);

/**
 * to_controller_state_is_recabled() - Tell whether a cable leads elsewhere than the plan asked for
 * @link: of a repaired plan; a link that an optical switch moved is none
 */
bool to_controller_state_is_recabled(const struct controller *c, const struct to_plan *plan,
				     const struct to_link *link);

/** to_controller_state_take() - Put @plan, which is taken over, in force */
void to_controller_state_take(struct controller *c, struct to_plan *plan);

/** to_controller_state_switch() - Put a repaired plan or the one asked for in force; taken over */
void to_controller_state_switch(struct controller *c, struct to_plan *plan);

/** to_controller_state_asked() - Return the plan that was asked for, which PLAN is */
const struct to_plan *to_controller_state_asked(const struct controller *c);

#endif
