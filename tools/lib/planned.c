// SPDX-License-Identifier: GPL-2.0-or-later
#include "planned.h"

#include <stddef.h>

/* Directions in which the rings of a group run. */
static unsigned int planned_directions(const struct to_plan *plan,
				       unsigned int group)
{
	unsigned int directions = 0;

	for (unsigned int r = 0; r < plan->n_rings; r++)
		if (plan->rings[r].group == group)
			directions += plan->rings[r].reverse ? 2 : 1;
	return directions;
}

void to_planned_matrix(const struct to_plan *plan, double iterations,
		       uint64_t *bytes)
{
	const struct to_demand *demand = plan->demand;
	const size_t n = demand->n;

	for (size_t i = 0; i < n * n; i++)
		bytes[i] = demand->mp[i] * iterations;
	for (unsigned int r = 0; r < plan->n_rings; r++) {
		const struct to_ring *ring = &plan->rings[r];
		double share = 2.0 * (ring->n - 1) / ring->n *
			       demand->groups[ring->group].bytes * iterations /
			       planned_directions(plan, ring->group);

		for (unsigned int i = 0; i < ring->n; i++) {
			size_t a = ring->order[i];
			size_t b = ring->order[(i + 1) % ring->n];

			bytes[a * n + b] += share;
			if (ring->reverse)
				bytes[b * n + a] += share;
		}
	}
}
