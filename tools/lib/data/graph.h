/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_GRAPH_H
#define TOPOOPT_GRAPH_H

/* The links of a plan as a directed graph of servers. */

#include <stdint.h>

#include "base/arena.h"
#include "data/cluster.h"

#define TO_DISTANCE_NONE UINT16_MAX

/**
 * struct to_graph - servers and the arcs between them
 * @n: servers
 * @n_arcs: directions of links: two per duplex link, one per simplex link
 * @out: n + 1 offsets; the arcs that leave server x are out[x]..out[x+1]-1,
 *	in the order of the links
 * @from: server an arc leaves, per arc
 * @to: server an arc enters, per arc
 * @link: index of the link, per arc
 * @port: egress port at @from, per arc
 * @peer_port: ingress port at @to, per arc
 * @in: n + 1 offsets into @in_from and @in_arc
 * @in_from: servers with an arc into x: in[x]..in[x+1]-1
 * @in_arc: those arcs
 * @arena: has all arrays
 */
struct to_graph {
	unsigned int n, n_arcs;
	uint32_t *out, *from, *to, *link, *port, *peer_port;
	uint32_t *in, *in_from, *in_arc;
	struct to_arena arena;
};

/**
 * to_graph_new() - graph of @links
 * @n: servers; every end of a link is below it
 *
 * The ports of the links may be unassigned, they are only carried along.
 *
 * Return: the graph, NULL when out of memory.
 */
struct to_graph *to_graph_new(unsigned int n, const struct to_link *links,
			      unsigned int n_links, enum to_link_mode mode);
void to_graph_free(struct to_graph *graph);

/** to_graph_seconds_per_byte() - of @arc, at the slower of its ports */
double to_graph_seconds_per_byte(const struct to_graph *graph,
				 const struct to_cluster *cluster, uint32_t arc);

/**
 * to_graph_cables() - find which arcs a cut of one cable takes together
 * @cables: per arc, a bit for each arc that leaves its server on its cable, itself included:
 *	bit i is arc out[x] + i
 *
 * One arc each, but where functions share a cable.
 */
void to_graph_cables(const struct to_graph *graph, const struct to_cluster *cluster,
		     uint64_t *cables);

/**
 * to_graph_distances() - hops from every server to @dst
 * @without: server taken out of the graph, TO_SERVER_NONE for none
 * @distance: n hops, TO_DISTANCE_NONE where there is no path
 * @order: the servers that reach @dst by increasing distance, @dst first; n
 *
 * Return: how many servers reach @dst, itself included.
 */
unsigned int to_graph_distances(const struct to_graph *graph, uint32_t dst,
				uint32_t without, uint16_t *distance,
				uint32_t *order);

/**
 * to_graph_port_distances() - hops of paths that enter @dst by its port @port
 *
 * They do not cross @dst before. Else as to_graph_distances().
 */
unsigned int to_graph_port_distances(const struct to_graph *graph, uint32_t dst,
				     unsigned int port, uint16_t *distance, uint32_t *order);

#endif
