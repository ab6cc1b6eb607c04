// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <string.h>

#include "topology/spread.h"

int to_spread_init(struct to_spread *spread, const struct to_graph *graph,
		   const struct to_cluster *cluster, const uint64_t *demand)
{
	size_t n = graph->n, arcs = graph->n_arcs;
	struct to_arena *arena = &spread->arena;
	unsigned int a;

	memset(spread, 0, sizeof(*spread));
	spread->graph = graph;
	spread->demand = demand;
	spread->bytes = to_arena_array(arena, arcs, sizeof(*spread->bytes));
	spread->seconds_per_byte = to_arena_array(arena, arcs, sizeof(*spread->seconds_per_byte));
	spread->flow = to_arena_array(arena, n, sizeof(*spread->flow));
	spread->cost = to_arena_array(arena, n, sizeof(*spread->cost));
	spread->choice = to_arena_array(arena, n, sizeof(*spread->choice));
	if (arena->failed) {
		to_spread_free(spread);
		return -ENOMEM;
	}
	for (a = 0; a < arcs; a++)
		spread->seconds_per_byte[a] = to_graph_seconds_per_byte(graph, cluster, a);
	return 0;
}

void to_spread_free(struct to_spread *spread)
{
	to_arena_free(&spread->arena);
	memset(spread, 0, sizeof(*spread));
}

void to_spread_add(struct to_spread *spread, uint32_t arc, double bytes)
{
	double busy;

	spread->bytes[arc] += bytes;
	busy = spread->bytes[arc] * spread->seconds_per_byte[arc];
	if (busy > spread->busiest)
		spread->busiest = busy;
}

/* Add a share of the demand for the root of @spf to the links of @choice. */
static void spread_follow(struct to_spread *spread, const struct to_spf *spf,
			  const uint8_t *choice, double share)
{
	const struct to_graph *g = spread->graph;
	uint32_t root = spf->order[0];
	double *flow = spread->flow;
	unsigned int i;

	for (i = 0; i < spf->n_reached; i++) {
		uint32_t x = spf->order[i];

		flow[x] = spread->demand[(size_t)root * g->n + x] * share;
	}
	for (i = spf->n_reached; i-- > 1;) {
		uint32_t x = spf->order[i], a = g->out[x] + choice[x];

		if (flow[x] != 0) {
			to_spread_add(spread, a, flow[x]);
			flow[g->to[a]] += flow[x];
		}
	}
}

void to_spread_demand(struct to_spread *spread, const struct to_spf *spf, double share)
{
	const struct to_graph *g = spread->graph;
	/* the power of a ratio: bytes themselves would overflow */
	double scale = spread->busiest > 0 ? 1 / spread->busiest : 0;
	double *cost = spread->cost;
	unsigned int i;

	cost[spf->order[0]] = 0;
	for (i = 1; i < spf->n_reached; i++) {
		uint32_t x = spf->order[i], first = g->out[x];
		uint64_t left = spf->choices[x];
		double least = 0;

		for (; left; left &= left - 1) {
			uint32_t a = first + __builtin_ctzll(left);
			double busy = spread->bytes[a] * spread->seconds_per_byte[a] * scale;
			double sum = cost[g->to[a]] + busy * busy * busy * busy;

			if (left == spf->choices[x] || sum < least) {
				least = sum;
				spread->choice[x] = a - first;
			}
		}
		cost[x] = least;
	}
	spread_follow(spread, spf, spread->choice, share);
}

void to_spread_parts(const struct to_spread *spread, unsigned int per_server,
		     unsigned int *parts)
{
	size_t n = spread->graph->n, x, root;
	double *bytes = spread->flow, all = 0;

	memset(bytes, 0, n * sizeof(*bytes));
	for (root = 0; root < n; root++)
		for (x = 0; x < n; x++)
			bytes[root] += spread->demand[root * n + x];
	for (root = 0; root < n; root++)
		all += bytes[root];
	for (root = 0; root < n; root++) {
		double wanted = bytes[root] > 0 ? ceil(bytes[root] * per_server * n / all) : 0;

		parts[root] = wanted < TO_SPREAD_PARTS_MAX ? wanted : TO_SPREAD_PARTS_MAX;
	}
}
