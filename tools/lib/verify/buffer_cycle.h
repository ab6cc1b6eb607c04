/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_BUFFER_CYCLE_H
#define TOPOOPT_BUFFER_CYCLE_H

/*
 * Whether routes can deadlock where hardware forwards and PFC keeps all buffers from
 * overflowing: a buffer of link a that waits for one of link b, as a route takes b after a,
 * and so on back to a (Dally and Seitz, "Deadlock-free message routing in multiprocessor
 * interconnection networks", IEEE Trans. Comput. 36(5), 1987). The relays of this product
 * forward in the kernel, whose queues drop and wait for nobody.
 */

#include "data/graph.h"
#include "data/plan.h"

/**
 * struct to_buffer_cycle - links that can wait for each other
 * @dependencies: pairs of buffers that some route takes one after the other: a link's, or on
 *	a packet switch those of its ports and of the servers' ports on it
 * @n, @servers: at which the links of a cycle begin; each link, to the next server, waits
 *	for the one behind it. @n is 0 where no link can wait for itself. @servers is for free()
 */
struct to_buffer_cycle {
	uint64_t dependencies;
	uint32_t n, *servers;
};

/**
 * to_buffer_cycle_find() - follow the routes of @plan while nothing is broken
 * @graph: of its links
 * @demand: routes that MP transfers and AllReduce of the plan's demand take, not those of
 *	all pairs of servers
 *
 * Where there are several cycles, one of them. Return: 0 or -ENOMEM.
 */
int to_buffer_cycle_find(const struct to_plan *plan, const struct to_graph *graph, bool demand,
			 struct to_buffer_cycle *cycle);

#endif
