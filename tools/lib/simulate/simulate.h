/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SIMULATE_H
#define TOPOOPT_SIMULATE_H

/*
 * How long one training iteration takes on a network: a fluid model.
 *
 * Bytes flow along the network's paths at max-min fair rates over the links'
 * bandwidths, which are set anew whenever a task starts or ends. What has been
 * sent arrives after the latency of its path; an AllReduce along a ring of n
 * servers has that of 2(n - 1) steps, along a tree of twice its depth, and goes at
 * the pace of its slowest link.
 */

#include <stdbool.h>

#include "base/error.h"
#include "data/plan.h"
#include "data/taskgraph.h"
#include "simulate/router.h"
#include "simulate/utilisation.h"

/** Latency of a link of a plan that is being searched for. */
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
 * longer by transfers, a DLRM iteration 2 to 5 % (16 and 128 servers). By
 * transfers, an all-to-all of 128 servers takes 0.1 s of work where all are equal,
 * and 1.7 s where no two are: then the end of each changes the rates of half of the
 * others. By tasks it takes 1 ms.
 */
enum to_simulate_detail { TO_SIMULATE_TASKS, TO_SIMULATE_TRANSFERS };

/**
 * struct to_simulation - one iteration
 * @time: seconds until the last task has finished
 * @start, @finish: seconds, per task
 * @transfer_finish: seconds, per transfer of the tasks; only by TO_SIMULATE_TRANSFERS.
 *	Their task may have finished a little later: it has the longest of their latencies
 * @link_bytes: sent, per link of to_simulator_network()
 * @link_busy: seconds in which something was sent, per link
 * @n_changes: how often links changed, where they do
 * @events: ends of tasks, of phases and of what they send
 * @critical: @n_critical tasks that bound the iteration: each waited for the one
 *	before it, the last one ends the iteration
 * @critical_time: seconds of @time in tasks of each kind on that path
 */
struct to_simulation {
	double time;
	double *start, *finish, *transfer_finish;
	double *link_bytes, *link_busy;
	uint64_t events;
	uint32_t n_changes, n_critical;
	uint32_t *critical;
	double critical_time[TO_TASK_KINDS];
};

struct to_simulator;

/**
 * to_simulator_on() - prepare for many runs on @router
 *
 * @router must outlive it. One thread at a time may use both.
 *
 * Return: NULL with @err set when out of memory.
 */
struct to_simulator *to_simulator_on(struct to_router *router, struct to_error *err);

/**
 * to_simulator_new() - to_simulator_on() the links and tables of @plan
 *
 * @plan must outlive it. A link takes TO_HOP_SECONDS, relays and steps nothing.
 *
 * Return: NULL with @err set when out of memory.
 */
struct to_simulator *to_simulator_new(const struct to_plan *plan, struct to_error *err);
void to_simulator_free(struct to_simulator *simulator);

/**
 * to_simulator_watch() - call @watch now and then while it runs
 * @watch: @done of the iteration, 0 to 1; not 0 ends it
 */
void to_simulator_watch(struct to_simulator *simulator, int (*watch)(void *data, double done),
			void *data);

/**
 * to_simulator_slow() - compute slower
 * @factors: for each server, how many times as long its computing takes; kept, not
 *	copied; NULL for 1
 */
void to_simulator_slow(struct to_simulator *simulator, const double *factors);

/**
 * to_simulator_record() - have @utilisation say how busy links are over an iteration
 * @utilisation: allocated here if it is all zero, and to be freed by the caller; cleared when
 *	an iteration begins; NULL to stop
 *
 * Return: 0 or -ENOMEM.
 */
int to_simulator_record(struct to_simulator *simulator, struct to_utilisation *utilisation);

/** to_simulator_network() - the links that a simulation counts; of a plan, its arcs in order */
const struct to_network *to_simulator_network(const struct to_simulator *simulator);

/**
 * to_simulate() - run the tasks of @tasks once
 * @tasks: after to_taskgraph_finish(); servers are those of the network
 *
 * Return: what happened, good until the next call; NULL with @err set when out
 * of memory, when the network has other servers, or no path between two servers
 * that the tasks need, when the watch ended it (-EINTR).
 */
const struct to_simulation *to_simulate(struct to_simulator *simulator,
					const struct to_taskgraph *tasks,
					enum to_simulate_detail detail, struct to_error *err);

#endif
