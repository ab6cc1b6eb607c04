/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SPF_H
#define TOPOOPT_SPF_H

/* The shortest-path DAG from all servers to one root, with loop-free backups. */

#include <stdint.h>

#include "base/arena.h"
#include "data/graph.h"

#define TO_ARC_NONE UINT8_MAX

/**
 * struct to_spf - next hops towards a root
 * @n_reached: servers that reach the root, itself included
 * @distance: hops to the root, per server
 * @order: the servers that reach it by increasing distance, root first
 * @place: per server, where it is in @order, UINT32_MAX when it is not
 * @choices: per server, the arcs on a shortest path, as a bit mask: bit k is
 *	arc graph.out[x] + k
 * @backup: per server whose @choices is a single arc, the arc to take while
 *	that one is down, same counting; TO_ARC_NONE where there is none
 *
 * A backup is loop-free with every choice of every other server: no path on
 * from it comes back to the server. It need not be a loop-free alternate of
 * RFC 5286, which only looks at distances: a server further out that
 * has another choice gives up its choice through the protected server. On a
 * ring of four that covers a neighbour's link, where RFC 5286 finds nothing.
 */
struct to_spf {
	unsigned int n_reached;
	uint16_t *distance;
	uint32_t *order, *place;
	uint64_t *choices;
	uint8_t *backup;
	uint32_t *stack, *seen, seen_mark;	/* scratch */
	struct to_arena arena;	/* has all arrays */
};

/** to_spf_init() - room for trees of @graph. Return: 0 or -ENOMEM. */
int to_spf_init(struct to_spf *spf, const struct to_graph *graph);
void to_spf_free(struct to_spf *spf);

/**
 * to_spf_grow() - the shortest-path DAG to @root, without backups
 * @without: server taken out of the graph, TO_SERVER_NONE for none
 */
void to_spf_grow(struct to_spf *spf, const struct to_graph *graph,
		 uint32_t root, uint32_t without);

/**
 * to_spf_protect() - find backups
 * @keep: per server, choices that it must keep, same mask; NULL for none
 */
void to_spf_protect(struct to_spf *spf, const struct to_graph *graph,
		    const uint64_t *keep);

#endif
