/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SIMULATION_H
#define TOPOOPT_SIMULATION_H

/* What simulated iterations were, as text and JSON. */

#include <jansson.h>
#include <stdio.h>

#include "packet_level.h"
#include "simulate/simulate.h"

/**
 * struct to_simulated - iterations of one workload on one fabric
 * @workload, @fabric: what they are called
 * @routing, @allreduce: which links bytes took, and how AllReduce went
 * @plan: file of the plan, or NULL
 * @times: seconds of each of the @n iterations
 * @link_bytes, @link_busy: of the network's links, summed over iterations
 * @critical_time: seconds of each kind of task on the critical path, summed
 * @last: the last iteration, with @tasks
 * @asked: iterations that were asked for
 * @changes: whether links change, @n_changes: how often they did, summed
 * @stragglers: as they were asked for, or NULL
 * @packets: at packet level, else NULL
 */
struct to_simulated {
	const char *workload, *fabric, *routing, *allreduce, *plan, *stragglers;
	const struct to_network *network;
	struct to_delays delays;
	bool changes;
	unsigned int n, asked;
	double *times, *link_bytes, *link_busy, critical_time[TO_TASK_KINDS], cpu;
	uint64_t events, n_changes;
	const struct to_taskgraph *tasks;
	const struct to_simulation *last;
	json_t *strategy;
	const struct to_packet_level *packets;
};

void to_simulated_print(FILE *out, const struct to_simulated *s);

/**
 * to_simulated_json() - what --json prints
 *
 * Return: NULL when out of memory.
 */
json_t *to_simulated_json(const struct to_simulated *s);

/** to_simulated_save() - the same with all tasks and transfers of the last iteration; 0 or -errno */
int to_simulated_save(const struct to_simulated *s, const char *path, struct to_error *err);

#endif
