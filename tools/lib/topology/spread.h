/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SPREAD_H
#define TOPOOPT_SPREAD_H

/* Spread a demand over shortest paths, towards min-max link utilisation. */

#include <stdint.h>

#include "base/arena.h"
#include "data/graph.h"
#include "graph/spf.h"

#define TO_SPREAD_PARTS_MAX 32

/**
 * struct to_spread - load of every arc while demand is being spread
 * @demand: bytes, n x n, row = destination, as they are read
 * @bytes: load per arc
 * @seconds_per_byte: per arc
 * @busiest: seconds that the busiest link is busy
 * @choice: per server, the choice (as in to_spf) that the last
 *	to_spread_demand() took; not set at the root nor out of its reach
 */
struct to_spread {
	const struct to_graph *graph;
	const uint64_t *demand;
	double *bytes, *seconds_per_byte, busiest;
	uint8_t *choice;
	double *flow, *cost;	/* scratch */
	struct to_arena arena;	/* has all arrays */
};

/** to_spread_init() - begin without load, with bandwidths of @cluster. Return: 0 or -ENOMEM. */
int to_spread_init(struct to_spread *spread, const struct to_graph *graph,
		   const struct to_cluster *cluster, const uint64_t *demand);
void to_spread_free(struct to_spread *spread);

/** to_spread_add() - put more bytes on an arc */
void to_spread_add(struct to_spread *spread, uint32_t arc, double bytes);

/**
 * to_spread_demand() - send a share of the demand for the root of @spf
 *
 * It follows the choices that are cheapest at the present loads, where a
 * link costs the fourth power of the time it is busy. Many small shares come
 * near min-max utilisation.
 */
void to_spread_demand(struct to_spread *spread, const struct to_spf *spf, double share);

/**
 * to_spread_parts() - choose the number of equal shares of the demand for each server
 * @per_server: shares per server on average
 * @parts: graph->n numbers up to TO_SPREAD_PARTS_MAX, 0 where nothing is sent
 *
 * So many that all are of about the same size.
 */
void to_spread_parts(const struct to_spread *spread, unsigned int per_server,
		     unsigned int *parts);

#endif
