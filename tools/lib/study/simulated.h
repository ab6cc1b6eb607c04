/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SIMULATED_H
#define TOPOOPT_SIMULATED_H

/* What simulated iterations were, as text, JSON and HTML. */

#include <jansson.h>
#include <stdio.h>

#include "simulate/simulate.h"
#include "study/packet_level.h"

/** struct to_simulated - iterations of one workload on one fabric */
struct to_simulated {
	const char *workload;		/* name of the job or model */
	const char *fabric;		/* name or file of the fabric */
	const char *routing;		/* which links bytes take, in words */
	const char *allreduce;		/* algorithm of AllReduce, in words */
	const char *plan;		/* file of the plan, or NULL */
	const char *stragglers;		/* distribution that was asked for, or NULL */
	const struct to_network *network;
	struct to_delays delays;
	bool changes;			/* links of the fabric change */
	unsigned int n, asked;		/* iterations that are done, and asked for */
	double *times;			/* seconds of each iteration */
	double *link_bytes, *link_busy;	/* of each link, bytes and seconds, summed */
	double critical_time[TO_TASK_KINDS];	/* seconds on critical paths, summed */
	double cpu;			/* seconds of processor time */
	uint64_t events, n_changes;	/* events, and changes of links, summed */
	const struct to_taskgraph *tasks;	/* of an iteration */
	const struct to_simulation *last;	/* last iteration */
	const struct to_utilisation *utilisation;	/* of links in it, or NULL */
	const uint32_t *alike;		/* as struct to_router has it */
	json_t *strategy;		/* of the model, or NULL */
	const struct to_packet_level *packets;	/* at packet level, else NULL */
};

/** to_simulated_add() - count @run, on @network, as an iteration, and as the last one */
void to_simulated_add(struct to_simulated *s, const struct to_simulation *run,
		      const struct to_network *network);

/** to_simulated_print() - print times, critical path and busiest link as text */
void to_simulated_print(FILE *out, const struct to_simulated *s);

/** to_simulated_json() - make what --json prints; NULL when out of memory */
json_t *to_simulated_json(const struct to_simulated *s);

/**
 * to_simulated_save() - write that JSON with tasks and transfers of the last iteration
 *
 * Return: 0 or a negative errno with @err set.
 */
int to_simulated_save(const struct to_simulated *s, const char *path, struct to_error *err);

/**
 * to_simulated_report() - write an HTML page of the last iteration
 * @version: of the program, for the foot of the page
 *
 * Return: 0 or a negative errno with @err set.
 */
int to_simulated_report(const struct to_simulated *s, const char *version, const char *path,
			struct to_error *err);

#endif
