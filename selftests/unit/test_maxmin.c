// SPDX-License-Identifier: GPL-2.0-or-later
/* Max-min fair rates by what makes them so, while random flows come and go. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "graph/maxmin.h"

#define ARCS 40
#define FLOWS 60
#define STEPS 40
#define INDICES (FLOWS + 3)	/* those of flows that have gone are taken after the next solve */

/*
 * No arc carries more than it can, and every flow has a bottleneck: an arc that
 * is full and on which no flow is faster (Bertsekas and Gallager).
 */
static double rate(const struct to_maxmin *m, uint32_t flow)
{
	return m->flows[flow].arc == TO_MAXMIN_NONE ? 0 : m->arcs[m->flows[flow].arc].rate;
}

static void check(const struct to_maxmin *m, const double *capacity)
{
	double used[ARCS] = { 0 }, fastest[ARCS] = { 0 };

	for (unsigned int f = 0; f < m->n_flows; f++) {
		for (unsigned int i = 0; m->flows[f].weight && i < m->flows[f].n; i++) {
			const struct to_share *share = &m->shares[m->flows[f].first + i];

			used[share->arc] += m->flows[f].weight * rate(m, f) * share->bytes;
			fastest[share->arc] = fmax(fastest[share->arc], rate(m, f));
		}
	}
	for (unsigned int a = 0; a < ARCS; a++)
		assert_true(used[a] <= capacity[a] * (1 + 1e-9));
	for (unsigned int f = 0; f < m->n_flows; f++) {
		const struct to_flow *flow = &m->flows[f];
		unsigned int i;

		if (!flow->weight || !flow->n) {
			assert_true(!flow->weight || isinf(rate(m, f)));
			continue;
		}
		for (i = 0; i < flow->n; i++) {
			uint32_t a = m->shares[flow->first + i].arc;

			if (used[a] >= capacity[a] * (1 - 1e-9) &&
			    rate(m, f) >= fastest[a] * (1 - 1e-9))
				break;
		}
		assert_true(i < flow->n);
	}
}

/* A flow over some arcs; returns its index. */
static uint32_t add(struct to_maxmin *m, struct to_share *shares, size_t *used,
		    unsigned int kinds, uint64_t *random)
{
	const unsigned int percent = to_random_below(random, 60);
	const size_t first = *used;

	for (unsigned int a = 0; a < ARCS; a++)
		if (to_random_below(random, 100) < percent)
			shares[(*used)++] = (struct to_share){
				.arc = a, .bytes = (1 + to_random_below(random, kinds)) / 16.0 };
	return to_maxmin_add(m, first, *used - first);
}

/* Flows have another rate where it was said of their bottleneck, or they got another one. */
static void check_changed(const struct to_maxmin *m, const double *before)
{
	bool changed[ARCS] = { false }, moved[INDICES] = { false };

	for (unsigned int i = 0; i < m->n_changed; i++)
		changed[m->changed[i]] = true;
	for (unsigned int i = 0; i < m->n_moved; i++)
		moved[m->moved[i].flow] = true;
	for (unsigned int f = 0; f < m->n_flows; f++)
		if (m->flows[f].weight && m->flows[f].n && !moved[f])
			assert_true(changed[m->flows[f].arc] == (rate(m, f) != before[f]));
}

/* Rates are those of the same flows without a history. */
static void check_full(const struct to_maxmin *m, struct to_maxmin *full)
{
	static struct to_share shares[INDICES * ARCS];
	uint32_t same[INDICES];
	size_t used = 0;

	to_maxmin_clear(full);
	full->shares = shares;
	for (unsigned int f = 0; f < m->n_flows; f++) {
		const struct to_flow *flow = &m->flows[f];

		if (!flow->weight)
			continue;
		memcpy(shares + used, m->shares + flow->first, flow->n * sizeof(*shares));
		same[f] = to_maxmin_add(full, used, flow->n);
		for (unsigned int i = 1; i < flow->weight; i++)
			assert_int_equal(to_maxmin_join(full, same[f]), 0);
		used += flow->n;
	}
	assert_int_equal(to_maxmin_solve(full), 0);
	for (unsigned int f = 0; f < m->n_flows; f++)
		if (m->flows[f].weight && m->flows[f].n)
			assert_true(fabs(rate(m, f) / rate(full, same[f]) - 1) <= 1e-9);
}

static void rates_are_max_min_fair(void **state)
{
	static struct to_share shares[STEPS * FLOWS * ARCS];
	double capacity[ARCS] = { 0 }, before[INDICES];
	uint32_t there[FLOWS], n;
	uint64_t random = 3;
	struct to_maxmin m, full;

	(void)state;
	assert_int_equal(to_maxmin_init(&m, capacity, ARCS), 0);
	assert_int_equal(to_maxmin_init(&full, capacity, ARCS), 0);
	m.shares = shares;
	for (unsigned int round = 0; round < 100; round++) {
		/* equal numbers make arcs fill together */
		const unsigned int kinds = 1 + to_random_below(&random, 50);
		size_t used = 0;

		to_maxmin_clear(&m);
		for (unsigned int a = 0; a < ARCS; a++)
			capacity[a] = 1e9 * (1 + to_random_below(&random, kinds));
		n = 0;
		for (unsigned int step = 0; step < STEPS; step++) {
			unsigned int changes = 1 + to_random_below(&random, step ? 3 : FLOWS);

			memset(before, 0, sizeof(before));
			for (unsigned int f = 0; f < m.n_flows; f++)
				before[f] = rate(&m, f);
			while (changes--) {
				if (n && (n == FLOWS || (step && to_random_below(&random, 2)))) {
					const uint32_t i = to_random_below(&random, n);

					to_maxmin_remove(&m, there[i]);
					there[i] = there[--n];
					continue;
				}
				if (n && !to_random_below(&random, 4)) {
					there[n] = there[to_random_below(&random, n)];
					assert_int_equal(to_maxmin_join(&m, there[n++]), 0);
					continue;
				}
				there[n] = add(&m, shares, &used, kinds, &random);
				assert_true(there[n] < INDICES);
				before[there[n++]] = 0;
			}
			assert_int_equal(to_maxmin_solve(&m), 0);
			for (unsigned int f = changes = 0; f < m.n_flows; f++)
				changes += m.flows[f].weight;
			assert_int_equal(changes, n);
			check(&m, capacity);
			check_changed(&m, before);
			check_full(&m, &full);
		}
	}
	to_maxmin_free(&m);
	to_maxmin_free(&full);
}

/* A flow that ends where nobody is slower than it changes no other. */
static void others_keep_their_rates(void **state)
{
	static const double capacity[3] = { 8, 100, 100 };
	struct to_share shares[] = { { 0, 0, 1 }, { 0, 0, 1 }, { 1, 0, 1 }, { 1, 0, 1 }, { 2, 0, 1 } };
	struct to_maxmin m;
	uint32_t fast;

	(void)state;
	assert_int_equal(to_maxmin_init(&m, capacity, 3), 0);
	m.shares = shares;
	to_maxmin_add(&m, 0, 1);	/* half of the first */
	to_maxmin_add(&m, 1, 2);	/* half of the first, and over the second */
	fast = to_maxmin_add(&m, 3, 1);	/* the rest of the second */
	to_maxmin_add(&m, 4, 1);
	assert_int_equal(to_maxmin_solve(&m), 0);
	assert_int_equal(m.n_changed, 3);
	assert_int_equal(m.n_moved, 4);
	assert_true(rate(&m, fast) == 96);
	to_maxmin_remove(&m, fast);
	assert_int_equal(to_maxmin_solve(&m), 0);
	assert_int_equal(m.n_changed, 0);
	assert_int_equal(m.n_moved, 0);
	to_maxmin_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_are_max_min_fair),
		cmocka_unit_test(others_keep_their_rates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
