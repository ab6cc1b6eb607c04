// SPDX-License-Identifier: GPL-2.0-or-later
/* Maximum-weight matching against trying everything, and where that is too much
 * against graphs that are made around a matching which is known to be best. */

#include <errno.h>

#include "graph/matching.h"
#include "job.h"

#define N 300

struct graph {
	unsigned int n, n_edges;
	struct to_matching_edge edges[N * N / 2];
	int64_t weight[N][N];
};

static void clear(struct graph *g, unsigned int n)
{
	g->n = n;
	g->n_edges = 0;
	for (unsigned int v = 0; v < n; v++)
		memset(g->weight[v], 0, n * sizeof(*g->weight[v]));
}

static void add(struct graph *g, unsigned int a, unsigned int b, int64_t weight)
{
	g->edges[g->n_edges++] = (struct to_matching_edge){ a, b, weight };
	g->weight[a][b] = g->weight[b][a] = weight;
}

/* Most weight of all matchings, by the set of vertices that are taken. */
static int64_t most(const struct graph *g)
{
	int64_t *best = calloc(1ul << g->n, sizeof(*best)), sum;
	unsigned int set, v, w;

	assert_non_null(best);
	for (set = 1; set < 1u << g->n; set++) {
		v = __builtin_ctz(set);
		best[set] = best[set & ~(1u << v)];
		for (w = v + 1; w < g->n; w++) {
			if (!(set >> w & 1) || g->weight[v][w] <= 0)
				continue;
			sum = g->weight[v][w] + best[set & ~(1u << v) & ~(1u << w)];
			best[set] = sum > best[set] ? sum : best[set];
		}
	}
	sum = best[set - 1];
	free(best);
	return sum;
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

/* The smallest graphs in all variety, then fewer that are larger. */
static void is_maximal_on_random_graphs(void **state)
{
	static const struct {
		unsigned int rounds, n;
	} sizes[] = { { 20000, 8 }, { 3000, 12 }, { 20, 18 } };
	static struct graph g;
	uint64_t random = 7;

	(void)state;
	for (unsigned int s = 0; s < 3; s++) {
		for (unsigned int round = 0; round < sizes[s].rounds; round++) {
			/* few different weights make ties, which make blossoms */
			unsigned int weights = 1 + to_random_below(&random, round % 2 ? 6 : 1000);
			unsigned int dense = 1 + to_random_below(&random, 4);

			clear(&g, s ? sizes[s].n - round % 2 : 1 + to_random_below(&random, 8));
			for (unsigned int a = 0; a < g.n; a++)
				for (unsigned int b = a + 1; b < g.n; b++)
					if (to_random_below(&random, 4) < dense)
						add(&g, a, b, to_random_below(&random, weights + 1));
			assert_int_equal(solve(&g), most(&g));
		}
	}
}

static void is_maximal_on_bipartite_graphs(void **state)
{
	static struct graph g;
	uint64_t random = 8;

	(void)state;
	for (unsigned int round = 0; round < 1000; round++) {
		unsigned int left = 1 + to_random_below(&random, 11);

		clear(&g, 12);
		for (unsigned int a = 0; a < left; a++)
			for (unsigned int b = left; b < g.n; b++)
				add(&g, a, b, to_random_below(&random, round % 2 ? 4 : 100));
		assert_int_equal(solve(&g), most(&g));
	}
}

/*
 * Blossom of the @n vertices from @first, n odd, in twice the dual variables:
 * all pairs in it are worth @z more, its base is the vertex returned, all others
 * are matched in it. Made of an odd number of blossoms, the first has the base.
 */
static unsigned int plant_blossom(struct graph *g, unsigned int first, unsigned int n,
				  int64_t z, uint32_t *mate, uint64_t *random)
{
	unsigned int base, left, right, at, size, a, b;

	if (n == 1)
		return first;
	for (a = first; a < first + n; a++)
		for (b = first; b < first + n; b++)
			g->weight[a][b] += z;
	size = 1 + 2 * to_random_below(random, n / 2);
	base = plant_blossom(g, first, size, 2 * to_random_below(random, 3), mate, random);
	for (at = first + size; at < first + n;) {
		unsigned int rest = first + n - at;

		size = 1 + 2 * to_random_below(random, rest / 2);
		left = plant_blossom(g, at, size, 2 * to_random_below(random, 3), mate, random);
		at += size;
		size = rest - size;
		size -= 2 * to_random_below(random, (size + 1) / 2);
		right = plant_blossom(g, at, size, 2 * to_random_below(random, 3), mate, random);
		at += size;
		mate[left] = right;
		mate[right] = left;
	}
	return base;
}

/*
 * A complete graph around a matching and the dual solution that proves it best:
 * no slack on matched edges, often none on others. Returns its weight.
 */
static int64_t plant(struct graph *g, unsigned int n, unsigned int slacks, uint64_t *random)
{
	unsigned int at, size, base, lonely = TO_UNMATCHED, a, b;
	uint32_t mate[N], label[N];
	int64_t y[N], sum = 0;

	clear(g, n);
	memset(mate, 0xff, sizeof(mate));
	for (at = 0; at < n; at += size) {
		size = 1 + 2 * to_random_below(random, (n - at + 1) / 2);
		base = plant_blossom(g, at, size, 2 * to_random_below(random, 50), mate, random);
		/* a few stay alone */
		if (lonely == TO_UNMATCHED || !to_random_below(random, 8)) {
			lonely = base;
		} else {
			mate[base] = lonely;
			mate[lonely] = base;
			lonely = TO_UNMATCHED;
		}
	}
	for (a = 0; a < n; a++) {
		y[a] = mate[a] == TO_UNMATCHED ? 0 : 2 * to_random_below(random, 20);
		label[a] = a;
	}
	for (a = 0; a + 1 < n; a++) {
		uint32_t *other = &label[a + to_random_below(random, n - a)], was = label[a];

		label[a] = *other;
		*other = was;
	}
	for (a = 0; a < n; a++) {
		for (b = a + 1; b < n; b++) {
			int64_t twice = y[a] + y[b] + g->weight[a][b];

			if (mate[a] != b)
				twice -= 2 * (int64_t)to_random_below(random, slacks);
			else
				sum += twice / 2;
			g->edges[g->n_edges++] = (struct to_matching_edge){ label[a], label[b],
									    twice / 2 };
		}
	}
	for (a = 0; a < g->n_edges; a++)
		g->weight[g->edges[a].a][g->edges[a].b] =
			g->weight[g->edges[a].b][g->edges[a].a] = g->edges[a].weight;
	return sum;
}

static void is_maximal_on_large_graphs_of_blossoms(void **state)
{
	static struct graph g;
	uint64_t random = 9;

	(void)state;
	for (unsigned int round = 0; round < 400; round++) {
		unsigned int n = round % 20 ? 11 + to_random_below(&random, 90) : N - round / 20;
		int64_t best = plant(&g, n, 1 + to_random_below(&random, 40), &random);

		assert_int_equal(solve(&g), best);
	}
}

/* All edges are equally good, most are not looked at first. */
static void matches_all_vertices_where_weights_are_equal(void **state)
{
	static struct graph g;

	(void)state;
	for (unsigned int n = N - 1; n <= N; n++) {
		clear(&g, n);
		for (unsigned int a = 0; a < n; a++)
			for (unsigned int b = a + 1; b < n; b++)
				add(&g, a, b, 3);
		assert_int_equal(solve(&g), n / 2 * 3);
	}
}

static void prefers_two_edges_to_a_heavy_one(void **state)
{
	static struct graph g;

	(void)state;
	clear(&g, 4);
	add(&g, 0, 1, 6);
	add(&g, 1, 2, 10);
	add(&g, 2, 3, 5);
	assert_int_equal(solve(&g), 11);
}

static void takes_large_weights(void **state)
{
	static struct graph g;
	uint32_t mate[N];

	(void)state;
	for (unsigned int n = 2; n <= 15; n++) {
		clear(&g, n);
		for (unsigned int a = 0; a < n; a++)
			for (unsigned int b = a + 1; b < n; b++)
				add(&g, a, b, n < 8 ? TO_MATCHING_WEIGHT_MAX / (1 + a % 2)
						    : TO_MATCHING_WEIGHT_MAX - a * b);
		assert_int_equal(solve(&g), most(&g));
	}
	g.edges[3].weight = TO_MATCHING_WEIGHT_MAX + 1;
	assert_int_equal(to_matching_solve(g.n, g.edges, g.n_edges, mate), -ERANGE);
}

static void leaves_worthless_edges_alone(void **state)
{
	static struct graph g;

	(void)state;
	clear(&g, 4);
	add(&g, 0, 1, 0);
	add(&g, 2, 3, -5);
	assert_int_equal(solve(&g), 0);
	clear(&g, 3);
	assert_int_equal(solve(&g), 0);
	clear(&g, 0);
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
		static struct graph g;

		clear(&g, 10);
		for (unsigned int i = 0; i < 13; i++)
			add(&g, pairs[i][0], pairs[i][1], round >> i & 1 ? 9 : 8);
		assert_int_equal(solve(&g), most(&g));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_maximal_on_random_graphs),
		cmocka_unit_test(is_maximal_on_bipartite_graphs),
		cmocka_unit_test(is_maximal_on_large_graphs_of_blossoms),
		cmocka_unit_test(matches_all_vertices_where_weights_are_equal),
		cmocka_unit_test(prefers_two_edges_to_a_heavy_one),
		cmocka_unit_test(takes_large_weights),
		cmocka_unit_test(leaves_worthless_edges_alone),
		cmocka_unit_test(finds_its_way_through_nested_blossoms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
