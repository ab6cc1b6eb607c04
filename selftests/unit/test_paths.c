// SPDX-License-Identifier: GPL-2.0-or-later
/* k shortest paths against all simple paths. */

#include "graph/paths.h"
#include "job.h"

#define N 7
#define K 12

static unsigned int lengths[10000], n_lengths;

static void walk(const struct to_graph *g, uint32_t at, uint32_t dst, unsigned int seen,
		 unsigned int hops)
{
	if (at == dst) {
		lengths[n_lengths++] = hops;
		return;
	}
	for (uint32_t a = g->out[at]; a < g->out[at + 1]; a++)
		if (!(seen >> g->to[a] & 1))
			walk(g, g->to[a], dst, seen | 1 << g->to[a], hops + 1);
}

static int ascending(const void *a, const void *b)
{
	return *(const unsigned int *)a - *(const unsigned int *)b;
}

static void are_the_shortest_of_all(void **state)
{
	uint64_t random = 9;

	(void)state;
	for (unsigned int round = 0; round < 1000; round++) {
		unsigned int n = 2 + to_random_below(&random, N - 1), n_links;
		struct to_link links[2 * N];
		struct to_path paths[K];
		struct to_graph *g;
		int found;

		n_links = to_random_below(&random, 2 * n);
		for (unsigned int i = 0; i < n_links; i++) {
			uint32_t a = to_random_below(&random, n);

			links[i] = (struct to_link){ .a.server = a,
				.b.server = (a + 1 + to_random_below(&random, n - 1)) % n };
		}
		g = to_graph_new(n, links, n_links, round % 2);
		assert_non_null(g);
		n_lengths = 0;
		walk(g, 0, n - 1, 1, 0);
		qsort(lengths, n_lengths, sizeof(*lengths), ascending);
		found = to_paths_find(g, 0, n - 1, K, paths);
		assert_int_equal(found, n_lengths < K ? n_lengths : K);
		for (int i = 0; i < found; i++) {
			unsigned int seen = 1;
			uint32_t at = 0;

			assert_int_equal(paths[i].n, lengths[i]);
			for (unsigned int k = 0; k < paths[i].n; k++) {
				assert_int_equal(g->from[paths[i].arcs[k]], at);
				at = g->to[paths[i].arcs[k]];
				assert_false(seen >> at & 1);
				seen |= 1 << at;
			}
			assert_int_equal(at, n - 1);
			for (int k = 0; k < i; k++)
				assert_true(paths[k].n != paths[i].n ||
					    memcmp(paths[k].arcs, paths[i].arcs, paths[i].n * sizeof(uint32_t)));
		}
		to_paths_free(paths, found);
		to_graph_free(g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(are_the_shortest_of_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
