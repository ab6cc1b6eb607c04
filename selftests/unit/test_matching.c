// SPDX-License-Identifier: GPL-2.0-or-later
/* Maximum-weight matching against trying everything. */

#include "job.h"
#include "matching.h"

#define N 10

struct graph {
	unsigned int n, n_edges;
	struct to_matching_edge edges[N * N];
	int64_t weight[N][N];
};

static void add(struct graph *g, unsigned int a, unsigned int b, int64_t weight)
{
	g->edges[g->n_edges++] = (struct to_matching_edge){ a, b, weight };
	g->weight[a][b] = g->weight[b][a] = weight;
}

/* Most weight that the vertices not in @used can add. */
static int64_t most(const struct graph *g, unsigned int used)
{
	unsigned int v = 0, w;
	int64_t best;

	while (v < g->n && used >> v & 1)
		v++;
	if (v == g->n)
		return 0;
	best = most(g, used | 1 << v);
	for (w = v + 1; w < g->n; w++) {
		if (used >> w & 1 || g->weight[v][w] <= 0)
			continue;
		int64_t sum = g->weight[v][w] + most(g, used | 1 << v | 1 << w);

		best = sum > best ? sum : best;
	}
	return best;
}

/* Weight of the solution, which must be a matching on edges that exist. */
static int64_t solve(const struct graph *g)
{
	uint32_t mate[N];
	int64_t sum = 0;

	assert_int_equal(to_matching_solve(g->n, g->edges, g->n_edges, mate), 0);
	for (unsigned int v = 0; v < g->n; v++) {
		if (mate[v] == TO_UNMATCHED)
			continue;
		assert_true(mate[v] < g->n);
		assert_int_equal(mate[mate[v]], v);
		assert_true(g->weight[v][mate[v]] > 0);
		if (v < mate[v])
			sum += g->weight[v][mate[v]];
	}
	return sum;
}

static void is_maximal_on_random_graphs(void **state)
{
	uint64_t random = 7;

	(void)state;
	for (unsigned int round = 0; round < 20000; round++) {
		struct graph g = { .n = 1 + to_random_below(&random, N) };
		/* few different weights make ties, which make blossoms */
		unsigned int weights = 1 + to_random_below(&random, round % 2 ? 6 : 1000);
		unsigned int dense = 1 + to_random_below(&random, 4);

		for (unsigned int a = 0; a < g.n; a++)
			for (unsigned int b = a + 1; b < g.n; b++)
				if (to_random_below(&random, 4) < dense)
					add(&g, a, b, to_random_below(&random, weights + 1));
		assert_int_equal(solve(&g), most(&g, 0));
	}
}

static void prefers_two_edges_to_a_heavy_one(void **state)
{
	struct graph g = { .n = 4 };

	(void)state;
	add(&g, 0, 1, 6);
	add(&g, 1, 2, 10);
	add(&g, 2, 3, 5);
	assert_int_equal(solve(&g), 11);
}

static void takes_large_weights(void **state)
{
	struct graph g = { .n = 5 };

	(void)state;
	for (unsigned int a = 0; a < 5; a++)
		add(&g, a, (a + 1) % 5, (1ll << 59) + a);
	assert_int_equal(solve(&g), most(&g, 0));
}

static void leaves_worthless_edges_alone(void **state)
{
	struct graph g = { .n = 4 };

	(void)state;
	add(&g, 0, 1, 0);
	add(&g, 2, 3, -5);
	assert_int_equal(solve(&g), 0);
	g = (struct graph){ .n = 3 };
	assert_int_equal(solve(&g), 0);
}

/* Odd cycles joined by bridges: blossoms inside blossoms. */
static void finds_its_way_through_nested_blossoms(void **state)
{
	static const unsigned int pairs[][2] = {
		{ 0, 1 }, { 1, 2 }, { 2, 0 }, { 2, 3 }, { 3, 4 }, { 4, 5 }, { 5, 3 },
		{ 5, 6 }, { 6, 7 }, { 7, 0 }, { 4, 8 }, { 8, 9 }, { 9, 1 },
	};

	(void)state;
	for (unsigned int round = 0; round < 1 << 13; round++) {
		struct graph g = { .n = 10 };

		for (unsigned int i = 0; i < 13; i++)
			add(&g, pairs[i][0], pairs[i][1], round >> i & 1 ? 9 : 8);
		assert_int_equal(solve(&g), most(&g, 0));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_maximal_on_random_graphs),
		cmocka_unit_test(prefers_two_edges_to_a_heavy_one),
		cmocka_unit_test(takes_large_weights),
		cmocka_unit_test(leaves_worthless_edges_alone),
		cmocka_unit_test(finds_its_way_through_nested_blossoms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
