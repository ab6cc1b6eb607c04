// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/phases.h"

#include <math.h>
#include <stddef.h>

static double phases_sum(const uint64_t *bytes, unsigned int cells)
{
	double sum = 0;

	for (unsigned int i = 0; i < cells; i++)
		sum += bytes[i];
	return sum;
}

/* Total variation of the shares of two matrices, both of which have bytes. */
static double phases_apart(const uint64_t *a, const uint64_t *b, unsigned int cells)
{
	const double of_a = 1 / phases_sum(a, cells), of_b = 1 / phases_sum(b, cells);
	double apart = 0;

	for (unsigned int i = 0; i < cells; i++)
		apart += fabs(a[i] * of_a - b[i] * of_b);
	return apart / 2;
}

unsigned int to_phases_find(const uint64_t *const *bytes, unsigned int n_matrices,
			    unsigned int cells, uint32_t *phase, double *distance)
{
	unsigned int n = 0, centre = UINT32_MAX, i;

	for (i = 0; i < n_matrices; i++) {
		const bool any = phases_sum(bytes[i], cells) > 0;

		phase[i] = any ? 0 : UINT32_MAX;
		distance[i] = any ? INFINITY : -1;
		if (any && centre == UINT32_MAX)
			centre = i;
	}
	while (centre != UINT32_MAX && n < TO_PHASES_MAX) {
		const unsigned int from = centre;
		double farthest = TO_PHASES_APART;

		centre = UINT32_MAX;
		for (i = 0; i < n_matrices; i++) {
			double apart;

			if (phase[i] == UINT32_MAX)
				continue;
			apart = phases_apart(bytes[from], bytes[i], cells);
			if (apart < distance[i]) {
				distance[i] = apart;
				phase[i] = n;
			}
			if (distance[i] > farthest) {
				farthest = distance[i];
				centre = i;
			}
		}
		n++;
	}
	return n;
}

unsigned int to_phases_newest(const uint32_t *phase, unsigned int n_matrices)
{
	bool known[TO_PHASES_MAX] = { false };
	unsigned int newest = 0;

	for (unsigned int i = 0; i < n_matrices; i++) {
		if (phase[i] == UINT32_MAX || known[phase[i]])
			continue;
		known[phase[i]] = true;
		newest = i;
	}
	return newest;
}
