/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_BOUND_H
#define TOPOOPT_BOUND_H

/* Lower bound of an iteration's time over all topologies. */

#include "data/cluster.h"
#include "data/taskgraph.h"
#include "simulate/network.h"

/**
 * struct to_bound - for many task graphs of the same servers
 * @sends_at, @receives_at: bytes/s of each server by all of its ports, or by its links
 */
struct to_bound {
	uint32_t n_servers, max_tasks;
	double *sends_at, *receives_at;
	double *computes, *sends, *receives, *out, *in;	/* scratch, per server */
	double *ready;					/* scratch, per task */
	uint32_t *waiting, *queue;
};

/**
 * to_bound_init() - prepare for tasks on the first @n_servers of @cluster
 * @degree: ports of a server that may be used, 0 for all
 *
 * Return: 0 or -ENOMEM.
 */
int to_bound_init(struct to_bound *bound, const struct to_cluster *cluster, uint32_t n_servers,
		  unsigned int degree);

/** to_bound_init_network() - the same for tasks on the servers of @network */
int to_bound_init_network(struct to_bound *bound, const struct to_network *network);
void to_bound_free(struct to_bound *bound);

/**
 * to_bound_time() - seconds
 *
 * The most of: what a server computes, sends or receives over all of its ports;
 * the longest chain of tasks that wait for each other, with the network to
 * itself. As if every server were joined to every other without any in between,
 * the ideal network of TopoOpt's naive approach (section 3.2). AllReduce is
 * counted as rings spread it, evenly; the leaves of a tree send less, its inner
 * servers more.
 *
 * Return: the bound, negative when out of memory.
 */
double to_bound_time(struct to_bound *bound, const struct to_taskgraph *tasks);

#endif
