// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "allreduce.h"

double to_allreduce_hop_bytes(const struct to_rings *rings, const struct to_ring *ring)
{
	unsigned int directions = 0, i;

	for (i = 0; i < rings->n_rings; i++)
		if (rings->rings[i].group == ring->group)
			directions += rings->rings[i].reverse ? 2 : 1;
	return 2.0 * (ring->n - 1) / ring->n *
	       rings->demand->groups[ring->group].bytes / directions;
}

double to_allreduce_arc_bytes(const struct to_rings *rings, const struct to_graph *graph,
			      uint32_t arc)
{
	const struct to_link *link = &rings->links[graph->link[arc]];
	const struct to_ring *ring;

	if (link->ring < 0)
		return 0;
	ring = &rings->rings[link->ring];
	/* two servers: one duplex link is the way there and the way back */
	if (graph->from[arc] == link->a.server || ring->reverse || ring->n == 2)
		return to_allreduce_hop_bytes(rings, ring);
	return 0;
}

uint64_t *to_allreduce_routed(const struct to_rings *rings, bool mp)
{
	size_t n = rings->demand->n;
	uint64_t *routed = calloc(n * n, sizeof(*routed));
	bool *owns = calloc(rings->n_rings + 1, sizeof(*owns));
	unsigned int i, k;

	if (!routed || !owns) {
		free(routed);
		free(owns);
		return NULL;
	}
	if (mp)
		memcpy(routed, rings->demand->mp, n * n * sizeof(*routed));
	for (i = 0; i < rings->n_links; i++)
		if (rings->links[i].ring >= 0)
			owns[rings->links[i].ring] = true;
	for (i = 0; i < rings->n_rings; i++) {
		const struct to_ring *ring = &rings->rings[i];
		uint64_t bytes = owns[i] ? 0 : ceil(to_allreduce_hop_bytes(rings, ring));

		for (k = 0; bytes && k < ring->n; k++) {
			uint32_t x = ring->order[k], y = ring->order[(k + 1) % ring->n];

			routed[x * n + y] += bytes;
			if (ring->reverse)
				routed[y * n + x] += bytes;
		}
	}
	free(owns);
	return routed;
}
