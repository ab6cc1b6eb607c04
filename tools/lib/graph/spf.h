/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SPF_H
#define TOPOOPT_SPF_H

/* The shortest-path DAG from all servers to one root. */

#include <stdint.h>

#include "base/arena.h"
#include "data/graph.h"

/**
 * struct to_spf - next hops towards a root
 * @n_reached: servers that reach the root, itself included
 * @distance: hops to the root, per server
 * @order: the servers that reach it by increasing distance, root first
 * @choices: per server, the arcs on a shortest path, as a bit mask: bit k is
 *	arc graph.out[x] + k
 */
struct to_spf {
	unsigned int n_reached;
	uint16_t *distance;
	uint32_t *order;
	uint64_t *choices;
	struct to_arena arena;	/* has all arrays */
};

/** to_spf_init() - room for trees of @graph. Return: 0 or -ENOMEM. */
int to_spf_init(struct to_spf *spf, const struct to_graph *graph);
void to_spf_free(struct to_spf *spf);

/**
 * to_spf_grow() - the shortest-path DAG to @root
 * @without: server taken out of the graph, TO_SERVER_NONE for none
 */
void to_spf_grow(struct to_spf *spf, const struct to_graph *graph,
		 uint32_t root, uint32_t without);

/** to_spf_grow_port() - the same of paths that enter @root by its port @port */
void to_spf_grow_port(struct to_spf *spf, const struct to_graph *graph,
		      uint32_t root, unsigned int port);

#endif
