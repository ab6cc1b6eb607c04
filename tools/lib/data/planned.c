// SPDX-License-Identifier: GPL-2.0-or-later
#include "data/planned.h"

#include <stddef.h>

#include "data/allreduce.h"

void to_planned_matrix(const struct to_plan *plan, double iterations,
		       uint64_t *bytes)
{
	const struct to_demand *demand = plan->demand;
	struct to_rings rings = to_allreduce_of(plan);
	const size_t n = demand->n;

	for (size_t i = 0; i < n * n; i++)
		bytes[i] = demand->mp[i] * iterations;
	to_allreduce_add(&rings, true, iterations, bytes);
}
