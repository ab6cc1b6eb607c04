/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_REPLAN_H
#define TOPOOPT_REPLAN_H

/*
 * Measured traffic against the plan it runs on: keep the plan, give the same
 * links new routes, or rewire. What costs least over the horizon wins.
 */

#include <stdio.h>

#include "base/effort.h"
#include "data/plan.h"
#include "plan/traffic.h"
#include "topology/reconfig.h"

/**
 * struct to_replan_options - how to decide
 * @horizon: seconds that the traffic is expected to stay as it was measured
 * @threshold: share of the communication time that a change must save, to be
 *	told from noise
 * @dark: seconds that changed links are dark, in each step; negative: as the
 *	switches say
 * @effort: of routes and of TopologyFinder, TO_EFFORT_MIN to TO_EFFORT_MAX
 * @topology_finder: also try TopologyFinder; takes far longer than Algorithm 5
 * @predict: give the new plan its predictions; takes a sixth of the time
 * @seed: same inputs and seed, same decision and plan to the byte
 */
struct to_replan_options {
	double horizon, threshold, dark;
	unsigned int effort;
	bool topology_finder, predict;
	uint64_t seed;
};

/** TO_REPLAN_DEFAULTS - the incremental path: Algorithm 5 and quick routes */
#define TO_REPLAN_DEFAULTS ((struct to_replan_options){ \
	.horizon = 10, .threshold = 0.05, .dark = -1, .effort = TO_EFFORT_MIN, .seed = 1 })

enum to_replan_action { TO_REPLAN_KEEP, TO_REPLAN_REROUTE, TO_REPLAN_REWIRE };

/** NULL-terminated, in the order of enum to_replan_action: "keep", ... */
extern const char *const to_replan_action_names[];

/**
 * enum to_replan_source - origin of the links of a choice
 * @TO_REPLAN_CURRENT: the plan, with its routes
 * @TO_REPLAN_ROUTES: the plan, with new routes
 * @TO_REPLAN_RECONFIG_MP: Algorithm 5, but rings and trees keep their links
 * @TO_REPLAN_RECONFIG: Algorithm 5 on all ports
 * @TO_REPLAN_RECONFIG_SPREAD: Algorithm 5 on half of them, the others keep paths
 *	short for what is sent between all
 * @TO_REPLAN_FINDER: TopologyFinder
 */
enum to_replan_source {
	TO_REPLAN_CURRENT, TO_REPLAN_ROUTES, TO_REPLAN_RECONFIG_MP, TO_REPLAN_RECONFIG,
	TO_REPLAN_RECONFIG_SPREAD, TO_REPLAN_FINDER, TO_REPLAN_SOURCES
};

/** NULL-terminated, in the order of enum to_replan_source: "current", ... */
extern const char *const to_replan_source_names[];

/**
 * struct to_replan_choice - one thing that could be done, with its price
 * @comm_time: seconds that the busiest link is busy with the measured bytes
 * @estimated: that is an estimate: the choice was not routed
 * @cut, @made: cross-connects that go and that come
 * @steps: in so many, see rewire_steps.h
 * @dark: seconds in which some of them are dark, of all steps
 * @delayed: bytes that would have crossed those that are cut while each is dark
 * @lost: seconds of the job's progress that are lost meanwhile: it goes as slow as
 *	on the links that the first step leaves; where these do not reach everybody,
 *	it stands still
 * @gain: seconds of progress gained in the rest of the horizon, over the pace of
 *	now
 * @net: @gain - @lost; the largest wins
 * @payback: seconds until as much is gained as was lost, INFINITY for never
 */
struct to_replan_choice {
	enum to_replan_action action;
	enum to_replan_source source;
	double comm_time;
	bool estimated;
	unsigned int cut, made, steps;
	double dark, delayed, lost, gain, net, payback;
};

/** struct to_replan_none - a source that has no topology, and why */
struct to_replan_none {
	enum to_replan_source source;
	struct to_error why;
};

/**
 * struct to_replan_result - the decision
 * @action: what to do
 * @plan: the new plan, to be freed; NULL to keep the old one
 * @reason: one line for a person
 * @seconds: of the measurement, what to_replan_choice.comm_time is for
 * @bytes: measured
 * @choices: all that was priced; [0] is to keep the plan
 * @chosen: index of the one taken
 * @none: sources that could have been choices, but have no topology
 */
struct to_replan_result {
	enum to_replan_action action;
	struct to_plan *plan;
	char reason[256];
	double seconds, bytes;
	unsigned int n_choices, chosen, n_none;
	struct to_replan_choice choices[TO_REPLAN_SOURCES];
	struct to_replan_none none[TO_REPLAN_SOURCES];
};

/**
 * to_replan() - decide what to do about @traffic
 * @plan: in force; not changed
 * @traffic: measured under it or since
 *
 * AllReduce is told from MP transfers by the rings and trees of the plan, see
 * to_allreduce_take(). A running job keeps the order of its rings, so a new plan
 * has them too, on links of their own or routed. Links between ports that are on
 * no optical switch stay. A new plan leaves as many cross-connects alone as it
 * can, see to_crossconnect_reassign(); to_cross_connects_diff() tells which change.
 *
 * The job is taken to compute while the busiest link is idle, and not otherwise:
 * when a measurement of W seconds kept it busy for C, and it would be C' on
 * other links, the same work takes W - C + C'. That is the most a change can do:
 * where communication is hidden behind computing, less is gained.
 *
 * Small plans are routed for every choice; of large ones only what is best by
 * estimates, and the next best when that does not hold. Where estimates are so near
 * that routes may turn them round, what moves fewer cross-connects is routed before
 * what moves more, and the latter only when it may still be better.
 *
 * Return: 0 with a decision; -EINVAL when @plan has no connected links to start
 * from, when its cross-connects collide or are not its links', or when @traffic
 * is of another number of servers; -ENOMEM. @result needs no freeing then.
 */
int to_replan(const struct to_plan *plan, const struct to_traffic *traffic,
	      const struct to_replan_options *options, struct to_replan_result *result,
	      struct to_error *err);

/**
 * to_replan_all() - price all that could be done about @traffic
 * @plans: set to the plan of every source that was routed, to be freed
 *
 * Else as to_replan(); @result has no plan.
 */
int to_replan_all(const struct to_plan *plan, const struct to_traffic *traffic,
		  const struct to_replan_options *options,
		  struct to_plan *plans[TO_REPLAN_SOURCES], struct to_replan_result *result,
		  struct to_error *err);

/** to_replan_print_choices() - print every choice with its price, and sources without one */
void to_replan_print_choices(FILE *out, const struct to_replan_result *result);

/** to_replan_json() - make JSON of a decision, as toctl replan --json prints it */
json_t *to_replan_json(const struct to_replan_result *result);

#endif
