/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_LOAD_H
#define TOPOOPT_LOAD_H

/* Spread a demand over shortest paths so that no link is loaded too much. */

#include <stdint.h>

#include "data/graph.h"
#include "graph/spf.h"

#define TO_LOAD_PARTS_MAX 32

/**
 * struct to_load - load of every arc while demand is being spread
 * @demand: bytes, n x n, row = source
 * @bytes: load per arc
 * @seconds_per_byte: per arc
 * @busiest: seconds that the busiest link is busy
 * @choice: per server, the choice (as in to_tree) that the last
 *	to_load_spread() took; not set at the root nor out of its reach
 */
struct to_load {
	const struct to_graph *graph;
	const uint64_t *demand;
	double *bytes, *seconds_per_byte, busiest;
	uint8_t *choice;
	double *flow, *cost;	/* scratch */
};

/** to_load_init() - no load yet, bandwidths from @cluster. 0 or -ENOMEM. */
int to_load_init(struct to_load *load, const struct to_graph *graph,
		 const struct to_cluster *cluster, const uint64_t *demand);
void to_load_free(struct to_load *load);

/** to_load_add() - @bytes more on @arc */
void to_load_add(struct to_load *load, uint32_t arc, double bytes);

/**
 * to_load_follow() - add a share of the demand for the root of @tree to the
 *	links of @choice
 * @choice: per server, one of its choices; may be to_load.choice
 * @share: of the demand; negative to take back what was added
 */
void to_load_follow(struct to_load *load, const struct to_tree *tree,
		    const uint8_t *choice, double share);

/**
 * to_load_spread() - send a share of the demand for the root of @tree
 *
 * It follows the choices that are cheapest at the loads of the moment, where a
 * link costs the fourth power of the time it is busy. Many small shares make
 * an even load.
 */
void to_load_spread(struct to_load *load, const struct to_tree *tree, double share);

/**
 * to_load_parts() - in how many equal shares to send the demand for each server
 * @per_server: shares per server on average
 * @parts: graph->n numbers up to TO_LOAD_PARTS_MAX, 0 where nothing is sent
 *
 * So many that all are of about the same size.
 */
void to_load_parts(const struct to_load *load, unsigned int per_server,
		   unsigned int *parts);

#endif
