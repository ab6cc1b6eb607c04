// SPDX-License-Identifier: GPL-2.0-or-later
/* Max-min fair rates by what makes them so, on random flows. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "graph/maxmin.h"

#define ARCS 12
#define FLOWS 20

/*
 * No arc carries more than it can, and every flow has a bottleneck: an arc that
 * is full and on which no flow is faster (Bertsekas and Gallager).
 */
static void check(const struct to_flow *flows, unsigned int n, const double *capacity)
{
	double used[ARCS] = { 0 }, fastest[ARCS] = { 0 };

	for (unsigned int f = 0; f < n; f++) {
		for (unsigned int i = 0; i < flows[f].n_shares; i++) {
			uint32_t a = flows[f].shares[i].arc;

			used[a] += flows[f].weight * flows[f].rate * flows[f].shares[i].bytes;
			fastest[a] = fmax(fastest[a], flows[f].rate);
		}
	}
	for (unsigned int a = 0; a < ARCS; a++)
		assert_true(used[a] <= capacity[a] * (1 + 1e-9));
	for (unsigned int f = 0; f < n; f++) {
		unsigned int i;

		for (i = 0; i < flows[f].n_shares; i++) {
			uint32_t a = flows[f].shares[i].arc;

			if (used[a] >= capacity[a] * (1 - 1e-9) &&
			    flows[f].rate >= fastest[a] * (1 - 1e-9))
				break;
		}
		assert_true(i < flows[f].n_shares || isinf(flows[f].rate));
	}
}

static void rates_are_max_min_fair(void **state)
{
	struct to_share shares[FLOWS][ARCS];
	struct to_flow flows[FLOWS];
	double capacity[ARCS] = { 0 }, used[ARCS];
	uint64_t random = 3;
	struct to_maxmin m;

	(void)state;
	assert_int_equal(to_maxmin_init(&m, capacity, ARCS), 0);
	for (unsigned int round = 0; round < 2000; round++) {
		unsigned int n = to_random_below(&random, FLOWS + 1);
		/* equal numbers make arcs fill together */
		unsigned int kinds = 1 + to_random_below(&random, 50);

		for (unsigned int a = 0; a < ARCS; a++)
			capacity[a] = 1e9 * (1 + to_random_below(&random, kinds));
		for (unsigned int f = 0; f < n; f++) {
			unsigned int percent = to_random_below(&random, 100);

			flows[f] = (struct to_flow){ .shares = shares[f],
						     .weight = 1 + to_random_below(&random, 3) };
			for (unsigned int a = 0; a < ARCS; a++)
				if (to_random_below(&random, 100) < percent)
					shares[f][flows[f].n_shares++] = (struct to_share){
						a, (1 + to_random_below(&random, kinds)) / 16.0 };
		}
		assert_int_equal(to_maxmin_fill(&m, flows, n), 0);
		check(flows, n, capacity);

		for (unsigned int a = 0; a < ARCS; a++)
			used[a] = 0;
		for (unsigned int f = 0; f < n; f++)
			for (unsigned int i = 0; i < flows[f].n_shares; i++)
				used[shares[f][i].arc] += flows[f].weight * flows[f].rate *
							  shares[f][i].bytes;
		for (unsigned int i = 0; i < m.n_used; i++) {
			uint32_t a = m.used[i];

			assert_true(used[a] > 0);
			assert_true(fabs(capacity[a] - m.left[a] - used[a]) < 1e-9 * capacity[a]);
			used[a] = 0;
		}
		for (unsigned int a = 0; a < ARCS; a++)
			assert_true(used[a] == 0);
	}
	to_maxmin_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_are_max_min_fair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
