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
 * @utilisation: of links in it, or NULL; @alike: of its router
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
	const struct to_utilisation *utilisation;
	const uint32_t *alike;
	json_t *strategy;
	const struct to_packet_level *packets;
};

/** to_simulated_add() - @run, on @network, is one of the iterations, and the last one */
void to_simulated_add(struct to_simulated *s, const struct to_simulation *run,
		      const struct to_network *network);

void to_simulated_print(FILE *out, const struct to_simulated *s);

/**
 * to_simulated_json() - what --json prints
 *
 * Return: NULL when out of memory.
 */
json_t *to_simulated_json(const struct to_simulated *s);

/** to_simulated_save() - the same with all that the last iteration was; 0 or -errno */
int to_simulated_save(const struct to_simulated *s, const char *path, struct to_error *err);

/** to_simulated_report() - that as an HTML page; 0 or -errno */
int to_simulated_report(const struct to_simulated *s, const char *version, const char *path,
			struct to_error *err);

#endif
