// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "topology/spread.h"

int to_load_init(struct to_load *load, const struct to_graph *graph,
		 const struct to_cluster *cluster, const uint64_t *demand)
{
	size_t n = graph->n, arcs = graph->n_arcs;
	unsigned int a;

	memset(load, 0, sizeof(*load));
	load->graph = graph;
	load->demand = demand;
	load->bytes = calloc(2 * arcs + 2 * n, sizeof(*load->bytes));
	load->choice = calloc(n, sizeof(*load->choice));
	if (!load->bytes || !load->choice) {
		to_load_free(load);
		return -ENOMEM;
	}
	load->seconds_per_byte = load->bytes + arcs;
	load->flow = load->seconds_per_byte + arcs;
	load->cost = load->flow + n;
	for (a = 0; a < arcs; a++)
		load->seconds_per_byte[a] = to_graph_seconds_per_byte(graph, cluster, a);
	return 0;
}

void to_load_free(struct to_load *load)
{
	free(load->bytes);
	free(load->choice);
	memset(load, 0, sizeof(*load));
}

void to_load_add(struct to_load *load, uint32_t arc, double bytes)
{
	double busy;

	load->bytes[arc] += bytes;
	busy = load->bytes[arc] * load->seconds_per_byte[arc];
	if (busy > load->busiest)
		load->busiest = busy;
}

void to_load_follow(struct to_load *load, const struct to_tree *tree,
		    const uint8_t *choice, double share)
{
	const struct to_graph *g = load->graph;
	uint32_t root = tree->order[0];
	double *flow = load->flow;
	unsigned int i;

	for (i = 0; i < tree->n_reached; i++) {
		uint32_t x = tree->order[i];

		flow[x] = load->demand[(size_t)x * g->n + root] * share;
	}
	for (i = tree->n_reached; i-- > 1;) {
		uint32_t x = tree->order[i], a = g->out[x] + choice[x];

		if (flow[x] != 0) {
			to_load_add(load, a, flow[x]);
			flow[g->to[a]] += flow[x];
		}
	}
}

void to_load_spread(struct to_load *load, const struct to_tree *tree, double share)
{
	const struct to_graph *g = load->graph;
	/* the power of a ratio: bytes themselves would overflow */
	double scale = load->busiest > 0 ? 1 / load->busiest : 0;
	double *cost = load->cost;
	unsigned int i;

	cost[tree->order[0]] = 0;
	for (i = 1; i < tree->n_reached; i++) {
		uint32_t x = tree->order[i], first = g->out[x];
		uint64_t left = tree->choices[x];
		double least = 0;

		for (; left; left &= left - 1) {
			uint32_t a = first + __builtin_ctzll(left);
			double busy = load->bytes[a] * load->seconds_per_byte[a] * scale;
			double sum = cost[g->to[a]] + busy * busy * busy * busy;

			if (left == tree->choices[x] || sum < least) {
				least = sum;
				load->choice[x] = a - first;
			}
		}
		cost[x] = least;
	}
	to_load_follow(load, tree, load->choice, share);
}

void to_load_parts(const struct to_load *load, unsigned int per_server,
		   unsigned int *parts)
{
	size_t n = load->graph->n, x, root;
	double *bytes = load->flow, all = 0;

	memset(bytes, 0, n * sizeof(*bytes));
	for (x = 0; x < n; x++)
		for (root = 0; root < n; root++)
			bytes[root] += load->demand[x * n + root];
	for (root = 0; root < n; root++)
		all += bytes[root];
	for (root = 0; root < n; root++) {
		double wanted = bytes[root] > 0 ? ceil(bytes[root] * per_server * n / all) : 0;

		parts[root] = wanted < TO_LOAD_PARTS_MAX ? wanted : TO_LOAD_PARTS_MAX;
	}
}
