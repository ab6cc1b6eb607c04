/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SIMULATE_H
#define TOPOOPT_SIMULATE_H

/*
 * How long one training iteration takes on a plan: a fluid model.
 *
 * Bytes flow along the plan's tables and rings at max-min fair rates over the
 * links' bandwidths, which are set anew whenever a task starts or ends. What
 * has been sent arrives TO_HOP_SECONDS per hop later; an AllReduce along a ring
 * of n servers is 2(n - 1) hops long, along a tree twice its depth, and goes at
 * the pace of its slowest link.
 */

#include <stdbool.h>

#include "base/error.h"
#include "data/plan.h"
#include "data/taskgraph.h"

#define TO_HOP_SECONDS 1e-6

/**
 * enum to_simulate_detail - how the transfers of one task share links
 * @TO_SIMULATE_TASKS: they keep in step: all end together, as under a scheduler
 *	that slows down what would end early. Alone, the task takes as long as
 *	its busiest link. Against others it counts as if it were made of
 *	transfers of its mean size.
 * @TO_SIMULATE_TRANSFERS: each at its own max-min fair rate, as congestion
 *	control would have it; many times the work
 *
 * On plans routed for min-max link utilisation, an all-to-all takes 15 to 19 %
 * longer by transfers, a DLRM iteration 2 to 5 % (16 and 128 servers); the work
 * is 0.7 ms against 30 us for 16 servers, 15 s against 1 ms for 128.
 */
enum to_simulate_detail { TO_SIMULATE_TASKS, TO_SIMULATE_TRANSFERS };

/**
 * struct to_simulation - one iteration
 * @time: seconds until the last task has finished
 * @start, @finish: seconds, per task
 * @arc_bytes: sent, per arc of to_simulator_graph()
 * @arc_busy: seconds in which something was sent, per arc
 * @critical: @n_critical tasks that bound the iteration: each waited for the one
 *	before it, the last one ends the iteration
 * @critical_time: seconds of @time in tasks of each kind on that path
 */
struct to_simulation {
	double time;
	double *start, *finish;
	double *arc_bytes, *arc_busy;
	uint32_t n_critical;
	uint32_t *critical;
	double critical_time[TO_TASK_KINDS];
};

struct to_simulator;

/**
 * to_simulator_new() - prepare for many runs on the links and tables of @plan
 *
 * @plan must outlive it. One thread at a time may use a simulator.
 *
 * Return: NULL with @err set when out of memory.
 */
struct to_simulator *to_simulator_new(const struct to_plan *plan, struct to_error *err);
void to_simulator_free(struct to_simulator *simulator);

/** to_simulator_graph() - the arcs that a simulation counts */
const struct to_graph *to_simulator_graph(const struct to_simulator *simulator);

/**
 * to_simulate() - run the tasks of @tasks once
 * @tasks: after to_taskgraph_finish(); servers are those of the plan
 *
 * The tasks are not bound to the plan's own demand: AllReduce over servers for
 * which the plan has neither rings nor trees takes a routed ring.
 *
 * Return: what happened, good until the next call; NULL with @err set when out
 * of memory, when the plan has other servers, or when it has no path between two
 * servers that the tasks need.
 */
const struct to_simulation *to_simulate(struct to_simulator *simulator,
					const struct to_taskgraph *tasks,
					enum to_simulate_detail detail, struct to_error *err);

#endif
