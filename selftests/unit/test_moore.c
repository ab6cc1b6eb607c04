// SPDX-License-Identifier: GPL-2.0-or-later
/* Graphs at the Moore bound: their definitions, and plans on them. */

#include "job.h"

#include "graph/moore.h"

/* Least sum of the distances from a vertex. */
static unsigned int moore_bound(unsigned int n, unsigned int degree)
{
	unsigned int left = n - 1, layer = degree, sum = 0;

	for (unsigned int hops = 1; left; hops++, layer *= degree - 1) {
		unsigned int reached = layer < left ? layer : left;

		sum += hops * reached;
		left -= reached;
	}
	return sum;
}

static struct to_graph *graph_of(const bool *adjacent, unsigned int n)
{
	struct to_link *links = calloc((size_t)n * n, sizeof(*links));
	unsigned int n_links = 0;
	struct to_graph *graph;

	assert_non_null(links);
	for (uint32_t x = 0; x < n; x++)
		for (uint32_t y = x + 1; y < n; y++)
			if (adjacent[x * n + y])
				links[n_links++] = (struct to_link){
					.a.server = x, .b.server = y, .ring = -1, .tree = -1 };
	graph = to_graph_new(n, links, n_links, TO_LINKS_DUPLEX);
	assert_non_null(graph);
	free(links);
	return graph;
}

static void no_distance_could_be_shorter(void **state)
{
	static const unsigned int known[][2] = {
		{ 10, 3 }, { 14, 3 }, { 20, 3 }, { 24, 5 }, { 50, 7 }, { 16, 5 },
		{ 7, 6 }, { 12, 6 }, { 12, 9 }, { 15, 6 }, { 26, 4 }, { 42, 5 }, { 62, 6 },
		{ 146, 9 }, { 182, 10 },
		{ 13, 4 }, { 8, 3 }, { 13, 5 },
	};
	uint16_t distance[TO_MOORE_VERTICES];
	uint32_t order[TO_MOORE_VERTICES];

	(void)state;
	for (unsigned int i = 0; i < sizeof(known) / sizeof(*known); i++) {
		unsigned int n = known[i][0], degree = known[i][1];
		bool *adjacent = to_moore_graph(n, degree);
		struct to_graph *graph;

		if (n * degree % 2) {
			/* no regular graph has such numbers */
			assert_null(adjacent);
			continue;
		}
		assert_non_null(adjacent);
		graph = graph_of(adjacent, n);
		for (uint32_t x = 0; x < n; x++) {
			unsigned int sum = 0;

			assert_int_equal(graph->out[x + 1] - graph->out[x], degree);
			assert_int_equal(to_graph_distances(graph, x, TO_SERVER_NONE, distance,
							    order), n);
			for (uint32_t y = 0; y < n; y++)
				sum += distance[y];
			if (sum != moore_bound(n, degree))
				fail_msg("%u vertices of degree %u: %u hops, not %u", n, degree, sum,
					 moore_bound(n, degree));
		}
		free(adjacent);
		to_graph_free(graph);
	}
}

/* Points of a polarity graph: any two have one neighbour in common, or are their own. */
static void polarity_graphs_have_diameter_two(void **state)
{
	static const unsigned int orders[] = { 3, 4, 5, 7, 8, 9, 11 };
	uint16_t distance[TO_MOORE_VERTICES];
	uint32_t order[TO_MOORE_VERTICES];

	(void)state;
	for (unsigned int i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
		unsigned int q = orders[i], n = q * q + q + 1, fewer = 0;
		bool *adjacent = to_moore_graph(n, q + 1);
		struct to_graph *graph;

		assert_non_null(adjacent);
		graph = graph_of(adjacent, n);
		for (uint32_t x = 0; x < n; x++) {
			unsigned int degree = graph->out[x + 1] - graph->out[x];

			fewer += degree == q;
			assert_true(degree == q || degree == q + 1);
			to_graph_distances(graph, x, TO_SERVER_NONE, distance, order);
			for (uint32_t y = 0; y < n; y++)
				assert_true(distance[y] <= 2);
		}
		/* circulant graphs win where they have diameter 2, too */
		assert_true(fewer == q + 1 || fewer == 0);
		free(adjacent);
		to_graph_free(graph);
	}
}

/* MP transfers between all load no link of the plan more than the bound allows. */
static void plans_between_all_meet_the_bound(void **state)
{
	static const unsigned int known[][2] = { { 10, 3 }, { 14, 3 }, { 16, 5 }, { 50, 7 } };

	(void)state;
	for (unsigned int i = 0; i < sizeof(known) / sizeof(*known); i++) {
		unsigned int n = known[i][0];
		struct to_demand *demand = job_new(n);
		struct to_error err = { "" };
		struct to_figures f;
		struct to_plan *plan;

		for (uint32_t x = 0; x < n; x++)
			for (uint32_t y = 0; y < n; y++)
				demand->mp[x * n + y] = x == y ? 0 : MIB;
		plan = job_plan(demand, known[i][1], TO_LINKS_DUPLEX, &err);
		assert_string_equal(err.text, "");
		f = job_verify(plan).figures;
		assert_string_equal(f.family, "moore");
		assert_true(f.max_mp_link_load <= 1.02 * f.max_mp_link_load_bound);
		to_plan_free(plan);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_distance_could_be_shorter),
		cmocka_unit_test(polarity_graphs_have_diameter_two),
		cmocka_unit_test(plans_between_all_meet_the_bound),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
