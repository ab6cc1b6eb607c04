/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ALLREDUCE_H
#define TOPOOPT_ALLREDUCE_H

/* What AllReduce rings put on links. */

#include "graph.h"
#include "plan.h"

/**
 * struct to_rings - rings and the links they may own
 *
 * A ring that owns links owns one for each of its hops. A ring that owns none
 * is routed hop by hop, like MP transfers.
 */
struct to_rings {
	unsigned int n_links, n_rings;
	const struct to_link *links;
	const struct to_ring *rings;
	const struct to_demand *demand;
};

/**
 * to_allreduce_hop_bytes() - bytes of @ring per hop and direction
 *
 * 2(n - 1)/n times the buffer, shared by all rings of the group, where a
 * reversible ring counts as two.
 */
double to_allreduce_hop_bytes(const struct to_rings *rings, const struct to_ring *ring);

/** to_allreduce_arc_bytes() - bytes of the ring that owns @arc of @graph, 0 else */
double to_allreduce_arc_bytes(const struct to_rings *rings, const struct to_graph *graph,
			      uint32_t arc);

/**
 * to_allreduce_routed() - all bytes that are routed: MP transfers, and hops of
 *	rings without links
 * @mp: whether to count MP transfers
 *
 * Return: n x n, row = source, to be freed; NULL when out of memory.
 */
uint64_t *to_allreduce_routed(const struct to_rings *rings, bool mp);

#endif
