/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PORT_LOADS_H
#define TOPOOPT_PORT_LOADS_H

/*
 * What links put on the ports at their ends. A port on a cable has one link, and is busy
 * as that is; a port on a packet switch has one to each other port there, and its bandwidth
 * once, out and in.
 */

#include <stdint.h>

#include "base/arena.h"
#include "data/graph.h"

/**
 * struct to_port_loads - bytes through ports, each way
 * @graph: is kept, not owned
 * @n: ways through ports that have links
 * @out, @in: per arc, the way out of the port it leaves and into the port it enters
 * @bytes: per way
 * @seconds_per_byte: the same
 */
struct to_port_loads {
	const struct to_graph *graph;
	uint32_t n, *out, *in;
	double *bytes, *seconds_per_byte;
	struct to_arena arena;		/* has all arrays */
};

/** to_port_loads_init() - of the links of @graph between @cluster's ports. 0 or -ENOMEM. */
int to_port_loads_init(struct to_port_loads *loads, const struct to_graph *graph,
		       const struct to_cluster *cluster);
void to_port_loads_free(struct to_port_loads *loads);

/** to_port_loads_set() - load the ports with @bytes, per arc */
void to_port_loads_set(struct to_port_loads *loads, const double *bytes);

/** to_port_loads_most() - bytes through the port with most of them, one way */
double to_port_loads_most(const struct to_port_loads *loads);

/** to_port_loads_seconds() - that the busiest port sends or receives */
double to_port_loads_seconds(const struct to_port_loads *loads);

#endif
