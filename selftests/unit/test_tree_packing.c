// SPDX-License-Identifier: GPL-2.0-or-later
/* Trees packed into graphs, beside what the partitions of their vertices allow. */

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "graph/tree_packing.h"

#define VERTICES 1024
#define EDGES 4096
#define TREES 64

static struct to_packing_edge edges[EDGES];
static uint32_t parents[TREES * VERTICES], everyone[VERTICES];
static double shares[TREES];
static unsigned int n_edges;

static void edge(uint32_t a, uint32_t b)
{
	assert_true(n_edges < EDGES);
	edges[n_edges++] = (struct to_packing_edge){ .a = a, .b = b, .seconds_per_byte = 1 };
}

static void circulant(unsigned int n, unsigned int jumps, const unsigned int *jump)
{
	n_edges = 0;
	for (unsigned int k = 0; k < jumps; k++)
		for (unsigned int i = 0; i < (2 * jump[k] == n ? n / 2 : n); i++)
			edge(i, (i + jump[k]) % n);
}

/* Load of edge @e by the trees alone; each is walked to its root from every member. */
static void check(const struct to_packing *p)
{
	double *load = calloc(p->n_edges, sizeof(*load)), most = 0;

	assert_non_null(load);
	for (unsigned int g = 0; g < p->n_groups; g++) {
		const struct to_packing_group *group = &p->groups[g];
		double all = 0;

		for (unsigned int k = 0; k < group->n_trees; k++) {
			const uint32_t *up = group->parents + (size_t)k * group->n_members;
			unsigned int roots = 0;

			all += group->shares[k];
			for (unsigned int i = 0; i < group->n_members; i++) {
				unsigned int steps = 0, at = i, e;

				roots += up[i] == i;
				for (; up[at] != at; at = up[at])
					assert_true(++steps < group->n_members);
				if (up[i] == i || group->n_members < p->n)
					continue;
				for (e = 0; (p->edges[e].a != group->members[i] ||
					     p->edges[e].b != group->members[up[i]]) &&
					    (p->edges[e].b != group->members[i] ||
					     p->edges[e].a != group->members[up[i]]); e++)
					assert_true(e + 1 < p->n_edges);
				load[e] += group->bytes * group->shares[k];
			}
			assert_int_equal(roots, 1);
		}
		assert_true(fabs(all - 1) < 1e-12);
	}
	for (unsigned int e = 0; e < p->n_edges; e++)
		most = fmax(most, p->edges[e].busy + p->edges[e].trees);
	assert_true(fabs(most - p->busiest) < 1e-9 * most);
	assert_true(p->bound <= p->busiest * (1 + 1e-9));
	/* no two edges join the same vertices here */
	for (unsigned int e = 0; e < p->n_edges && p->groups[0].n_members == p->n; e++)
		assert_true(fabs(load[e] * p->edges[e].seconds_per_byte - p->edges[e].trees) < 1e-9);
	free(load);
}

static struct to_packing pack_all(unsigned int n, unsigned int n_trees)
{
	struct to_packing_group group = { .n_members = n, .n_trees = n_trees, .members = everyone,
					  .bytes = 1, .parents = parents, .shares = shares };
	struct to_packing p = { .n = n, .n_edges = n_edges, .n_groups = 1, .passes = 16,
				.edges = edges, .groups = &group, .seed = 1 };

	for (unsigned int i = 0; i < n; i++)
		everyone[i] = i;
	assert_int_equal(to_tree_packing(&p), 0);
	check(&p);
	p.groups = NULL;
	return p;
}

/* Load of the busiest edge, if nothing but @n - 1 edges of each tree among all counts. */
static double even(unsigned int n)
{
	return (n - 1.0) / n_edges;
}

static void regular_graphs_are_used_up(void **state)
{
	static const unsigned int jumps3[] = { 1, 0 }, jumps5[] = { 1, 3, 0 },
				  jumps7[] = { 1, 3, 5, 0 };
	static const unsigned int *const jumps[] = { jumps3, jumps5, jumps7 };

	(void)state;
	for (unsigned int n = 16; n <= 1024; n *= 4) {
		for (unsigned int half = 1; half <= 3; half++) {
			unsigned int jump[4], k;

			memcpy(jump, jumps[half - 1], (half + 1) * sizeof(*jump));
			jump[half] = n / 2;
			circulant(n, half + 1, jump);
			k = to_tree_packing_count(n, n_edges, TREES);
			assert_true(pack_all(n, k).busiest <= 1.01 * even(n));
		}
	}
}

static void petersen(void)
{
	n_edges = 0;
	for (unsigned int i = 0; i < 5; i++) {
		edge(i, (i + 1) % 5);
		edge(i, 5 + i);
		edge(5 + i, 5 + (i + 2) % 5);
	}
}

static void known_graphs_pack_exactly(void **state)
{
	(void)state;
	petersen();
	/* 15 edges, 9 for a tree: 5 trees, each edge in 3 */
	assert_true(fabs(pack_all(10, 5).busiest - 0.6) < 1e-12);
	/* the complete graph of 2 k vertices falls into k trees */
	for (unsigned int n = 4; n <= 32; n += 4) {
		n_edges = 0;
		for (unsigned int i = 0; i < n; i++)
			for (unsigned int k = 0; k < i; k++)
				edge(i, k);
		assert_true(fabs(pack_all(n, n / 2).busiest - 2.0 / n) < 1e-12);
	}
	/* two rings that one edge joins: it has all of every tree */
	n_edges = 0;
	for (unsigned int i = 0; i < 6; i++) {
		edge(i, (i + 1) % 6);
		edge(6 + i, 6 + (i + 1) % 6);
	}
	edge(0, 6);
	assert_true(fabs(pack_all(12, 12).busiest - 1) < 1e-12);
}

/* The vertices' parts, numbered as they come, one partition after the other. */
static bool partition_next(unsigned int *part, unsigned int n)
{
	for (unsigned int i = n; i-- > 1;) {
		unsigned int most = 0;

		for (unsigned int k = 0; k < i; k++)
			most = part[k] > most ? part[k] : most;
		if (part[i] > most)
			continue;
		part[i]++;
		memset(part + i + 1, 0, (n - i - 1) * sizeof(*part));
		return true;
	}
	return false;
}

/*
 * The least that the busiest edge can be with @k equal trees: edges then carry whole
 * trees, and all partitions have room for theirs (Tutte, Nash-Williams).
 */
static double exact(unsigned int n, unsigned int k)
{
	double best = INFINITY;

	/* the busiest one is one of these */
	for (unsigned int e = 0; e < n_edges; e++) {
		for (unsigned int of = 1; of <= k; of++) {
			double limit = edges[e].busy + (double)of / k * edges[e].seconds_per_byte;
			unsigned int part[8] = { 0 };
			bool fits = true;

			if (limit >= best)
				continue;
			do {
				unsigned int parts = 0, room = 0, i;

				for (i = 0; i < n; i++)
					parts = part[i] + 1 > parts ? part[i] + 1 : parts;
				for (i = 0; i < n_edges; i++) {
					double left = (limit - edges[i].busy) /
						      edges[i].seconds_per_byte * k + 1e-9;

					if (part[edges[i].a] != part[edges[i].b] && left > 0)
						room += left < k ? floor(left) : k;
				}
				fits = room >= k * (parts - 1);
			} while (fits && partition_next(part, n));
			if (fits)
				best = limit;
		}
	}
	for (unsigned int e = 0; e < n_edges; e++)
		best = fmax(best, edges[e].busy);
	return best;
}

/* Do trees of any share fit, none of whose edges is busier than @limit? */
static bool fits_any(unsigned int n, double limit)
{
	unsigned int part[8] = { 0 };

	do {
		unsigned int parts = 0, i;
		double room = 0;

		for (i = 0; i < n; i++)
			parts = part[i] + 1 > parts ? part[i] + 1 : parts;
		for (i = 0; i < n_edges; i++)
			if (part[edges[i].a] != part[edges[i].b])
				room += fmax(limit - edges[i].busy, 0) / edges[i].seconds_per_byte;
		if (room < parts - 1)
			return false;
	} while (partition_next(part, n));
	return true;
}

/* The least that the busiest edge can be with trees of any share. */
static double exact_any(unsigned int n)
{
	double low = 0, high = 100;

	for (unsigned int i = 0; i < 60; i++) {
		double middle = (low + high) / 2;

		if (fits_any(n, middle))
			high = middle;
		else
			low = middle;
	}
	for (unsigned int e = 0; e < n_edges; e++)
		high = fmax(high, edges[e].busy);
	return high;
}

/* Graphs of a few vertices, edges as fast and as busy as they come. */
static void small_graphs_pack_exactly(void **state)
{
	uint64_t random = 3;
	unsigned int tried = 0;

	(void)state;
	while (tried < 120) {
		unsigned int n = 4 + to_random_below(&random, 3);
		unsigned int k = tried % 2 ? TREES : 3 + to_random_below(&random, 4);
		bool alike = to_random_below(&random, 2);
		struct to_packing p;
		double least;

		n_edges = 0;
		for (unsigned int i = 1; i < n; i++)
			edge(i, to_random_below(&random, i));
		for (unsigned int i = 0; i < n; i++) {
			for (unsigned int j = 0; j < i; j++) {
				unsigned int e;

				for (e = 0; e < n_edges && (edges[e].a != i || edges[e].b != j); e++)
					;
				if (e == n_edges && !to_random_below(&random, 2))
					edge(i, j);
			}
		}
		for (unsigned int e = 0; e < n_edges && !alike; e++) {
			edges[e].seconds_per_byte = 1 + to_random_below(&random, 3);
			edges[e].busy = to_random_below(&random, 8) / 4.0;
		}
		p = pack_all(n, k);
		least = k > n_edges ? exact_any(n) : exact(n, k);
		/* the bound is of trees of any share */
		assert_true(p.bound <= least * (1 + 1e-9));
		assert_true(fabs(p.busiest - least) <= (k > n_edges ? 2e-5 : 2e-3) * least);
		tried++;
	}
}

/* Around 512 edges that are busy, as of a few servers that all others talk to. */
static void large_graphs_pack_around_load(void **state)
{
	unsigned int n = VERTICES, k = TREES;
	uint64_t random = 5;
	struct to_packing p;

	(void)state;
	circulant(n, 4, (const unsigned int[]){ 1, 7, 83, 411 });
	for (unsigned int e = 0; e < n_edges; e++)
		edges[e].busy = edges[e].a % 16 && edges[e].b % 16 ?
				to_random_below(&random, 100) / 2000.0 : 0.2;
	p = pack_all(n, k);
	/* what a whole tree more on every edge would be */
	assert_true(p.busiest <= p.bound + 1.0 / k);
	assert_true(p.busiest <= 1.04 * p.bound);
}

static void groups_go_along_others(void **state)
{
	/* members 0 to 3 of a ring of 8, every other one, and all of it */
	static const uint32_t some[] = { 0, 2, 4, 6 };
	struct to_packing_group groups[] = {
		{ .n_members = 4, .n_trees = 4, .members = some, .bytes = 1, .parents = parents,
		  .shares = shares },
		{ .n_members = 8, .n_trees = 8, .members = everyone, .bytes = 2,
		  .parents = parents + 4 * 4, .shares = shares + 4 },
	};
	struct to_packing p = { .n = 8, .n_groups = 2, .passes = 16, .edges = edges,
				.groups = groups, .seed = 1 };

	(void)state;
	for (unsigned int i = 0; i < 8; i++)
		everyone[i] = i;
	circulant(8, 1, (const unsigned int[]){ 1 });
	p.n_edges = n_edges;
	assert_int_equal(to_tree_packing(&p), 0);
	check(&p);
	/* 3 of 4 hops of two edges each, 7 of 8 edges: six and fourteen over eight */
	assert_true(fabs(p.busiest - 2.5) < 1e-9);
	assert_true(p.bound > 2.5 * (1 - 1e-9));
	n_edges = p.n_edges = 5;	/* 0 to 5 in a row, 6 and 7 apart */
	assert_int_equal(to_tree_packing(&p), -ENOTCONN);
}

/* However busy it is, members go by the edge that joins them. */
static void hops_take_the_edge_there_is(void **state)
{
	static const uint32_t pair[] = { 0, 1 };
	struct to_packing_group group = { .n_members = 2, .n_trees = 2, .members = pair,
					  .bytes = 1, .parents = parents, .shares = shares };
	struct to_packing p = { .n = 8, .n_groups = 1, .passes = 16, .edges = edges,
				.groups = &group, .seed = 1 };

	(void)state;
	circulant(8, 1, (const unsigned int[]){ 1 });
	edges[0].busy = 9;
	p.n_edges = n_edges;
	assert_int_equal(to_tree_packing(&p), 0);
	assert_true(fabs(p.busiest - 10) < 1e-9);
	assert_true(fabs(edges[0].trees - 1) < 1e-9);
}

/* One of all and one of three vertices, which goes along the fourth, around a busy edge. */
static void groups_share_as_they_fit(void **state)
{
	static const uint32_t some[] = { 0, 1, 2 };
	static double more[TREES];
	struct to_packing_group groups[] = {
		{ .n_members = 3, .n_trees = TREES, .members = some, .bytes = 1,
		  .parents = parents + TREES * 4, .shares = more },
		{ .n_members = 4, .n_trees = TREES, .members = everyone, .bytes = 2,
		  .parents = parents, .shares = shares },
	};
	struct to_packing p = { .n = 4, .n_groups = 2, .edges = edges, .groups = groups, .seed = 1 };

	(void)state;
	for (unsigned int i = 0; i < 4; i++)
		everyone[i] = i;
	circulant(4, 1, (const unsigned int[]){ 1 });
	edges[0].busy = 1;
	p.n_edges = n_edges;
	assert_int_equal(to_tree_packing(&p), 0);
	check(&p);
	/* a third of the three goes from 0 to 2 by 3, the rest by 1; trees of all take 2 to 3 to 0 */
	assert_true(fabs(p.busiest - 7 / 3.0) < 1e-4);
	assert_true(p.bound > 7 / 3.0 * (1 - 1e-5));
	/* no more trees than the basis has */
	assert_true(groups[0].n_trees + groups[1].n_trees <= p.n_edges + 1);
	p.n_edges = n_edges = 2;	/* 3 is apart */
	groups[0].n_trees = groups[1].n_trees = TREES;
	assert_int_equal(to_tree_packing(&p), -ENOTCONN);
}

/*
 * 0 and 1, which a slow edge joins, both reach 2 along 4, that is nearest to one of them, and 3:
 * two hops there leave the slow edge to few bytes.
 */
static void groups_go_around_slow_edges(void **state)
{
	static const uint32_t some[] = { 0, 1, 2 };
	struct to_packing_group group = { .n_members = 3, .n_trees = TREES, .members = some,
					  .bytes = 1, .parents = parents, .shares = shares };
	struct to_packing p = { .n = 5, .n_groups = 1, .edges = edges, .groups = &group, .seed = 1 };

	(void)state;
	n_edges = 0;
	edge(0, 1);
	edges[0].seconds_per_byte = 10;
	edge(0, 4);
	edge(1, 4);
	edge(4, 3);
	edge(3, 2);
	p.n_edges = n_edges;
	assert_int_equal(to_tree_packing(&p), 0);
	check(&p);
	/* two elevenths of the bytes take the slow edge, and others once where they else go twice */
	assert_true(fabs(p.busiest - 20 / 11.0) < 1e-4);
	assert_true(p.bound > 20 / 11.0 * (1 - 1e-5));
}

static void the_same_again(void **state)
{
	static uint32_t before[TREES * 64];

	(void)state;
	circulant(64, 2, (const unsigned int[]){ 1, 9 });
	pack_all(64, 31);
	memcpy(before, parents, 31 * 64 * sizeof(*before));
	memset(parents, 0xff, sizeof(parents));
	pack_all(64, 31);
	assert_memory_equal(before, parents, 31 * 64 * sizeof(*before));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(regular_graphs_are_used_up),
		cmocka_unit_test(known_graphs_pack_exactly),
		cmocka_unit_test(small_graphs_pack_exactly),
		cmocka_unit_test(large_graphs_pack_around_load),
		cmocka_unit_test(groups_go_along_others),
		cmocka_unit_test(hops_take_the_edge_there_is),
		cmocka_unit_test(groups_share_as_they_fit),
		cmocka_unit_test(groups_go_around_slow_edges),
		cmocka_unit_test(the_same_again),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
