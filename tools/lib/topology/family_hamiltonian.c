// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/effort.h"
#include "graph/hamilton.h"
#include "topology/family.h"

/* Exchanges that one search tries: each takes longer the more servers there are. */
#define HAMILTONIAN_STEPS 2e6	/* over the servers */
#define HAMILTONIAN_PAIRS 10	/* but only so often for each pair of servers */

/* MP bytes between @members, n x n. */
static uint64_t *hamiltonian_demand(const struct to_builder *b, const uint32_t *members,
				    unsigned int n)
{
	uint64_t *demand = calloc((size_t)n * n, sizeof(*demand));
	size_t i, j;

	for (i = 0; demand && i < n; i++)
		for (j = 0; j < n; j++)
			demand[i * n + j] = b->demand->mp[(size_t)members[i] * b->n + members[j]];
	return demand;
}

/* How many links there are between @members, n x n. */
static uint8_t *hamiltonian_links(const struct to_builder *b, const uint32_t *members,
				  unsigned int n)
{
	uint8_t *links = calloc((size_t)n * n, sizeof(*links));
	uint32_t *place = calloc(b->n, sizeof(*place));	/* in @members, from 1 */
	unsigned int i;

	for (i = 0; links && place && i < n; i++)
		place[members[i]] = i + 1;
	for (i = 0; links && place && i < b->layout.n_links; i++) {
		uint32_t x = place[b->layout.links[i].a.server];
		uint32_t y = place[b->layout.links[i].b.server];

		if (!x || !y)
			continue;
		links[(size_t)(x - 1) * n + y - 1]++;
		if (b->duplex)
			links[(size_t)(y - 1) * n + x - 1]++;
	}
	if (!place) {
		free(links);
		links = NULL;
	}
	free(place);
	return links;
}

static unsigned long hamiltonian_steps(const struct to_builder *b, unsigned int n)
{
	double steps = HAMILTONIAN_STEPS / n, pairs = HAMILTONIAN_PAIRS * (double)n * n;

	return to_effort_steps(steps < pairs ? steps : pairs, b->knobs.effort);
}

static int hamiltonian_lay(struct to_builder *b, const uint32_t *members, unsigned int n,
			   unsigned int n_rings, int group)
{
	uint64_t *demand = hamiltonian_demand(b, members, n);
	uint8_t *links = hamiltonian_links(b, members, n);
	uint32_t *cycles = calloc((size_t)n * n_rings, sizeof(*cycles)), *order;
	struct to_hamilton_job job = {
		.n = n, .n_cycles = n_rings, .ports = b->knobs.degree, .duplex = b->duplex,
		.demand = demand, .links = links, .seed = b->knobs.seed,
		.steps = hamiltonian_steps(b, n) };
	struct to_hamilton_score start, score;
	int ret = demand && links && cycles ? 0 : -ENOMEM;
	unsigned int i, k;

	if (!ret && n > 2)
		ret = to_hamilton_search(&job, cycles, &start, &score);
	for (i = 0; !ret && i < n_rings; i++) {
		order = calloc(n, sizeof(*order));
		if (!order) {
			ret = -ENOMEM;
			break;
		}
		/* two servers have one ring, as often as wanted */
		for (k = 0; k < n; k++)
			order[k] = members[n > 2 ? cycles[(size_t)i * n + k] : k];
		to_builder_ring(b, order, n, n == 2, group);
	}
	free(demand);
	free(links);
	free(cycles);
	return ret;
}

static int hamiltonian_build(struct to_builder *b, unsigned int backbone)
{
	return to_builder_lay_all(b, backbone, hamiltonian_lay);
}

const struct to_family to_family_hamiltonian = {
	.name = "hamiltonian",
	.searches = true,
	.build = hamiltonian_build,
};
