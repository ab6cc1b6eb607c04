// SPDX-License-Identifier: GPL-2.0-or-later
/* Double binary trees, alone and as the AllReduce of a plan. */

#include <math.h>

#include "job.h"

#include "data/allreduce.h"
#include "graph/double_tree.h"
#include "format/plan_json.h"

#define MAX 300

static void two_trees_share_no_inner_server(void **state)
{
	(void)state;
	for (unsigned int n = 2; n <= MAX; n++) {
		unsigned int children[2][MAX] = { { 0 } }, allowed = 1;

		while (1u << (allowed - 1) < n)	/* 1 + log2 n, rounded up */
			allowed++;
		for (unsigned int second = 0; second < 2; second++) {
			unsigned int roots = 0;
			uint32_t parent[MAX];

			to_double_tree(n, second, parent);
			for (unsigned int i = 0; i < n; i++) {
				unsigned int depth = 0;

				for (uint32_t x = i; parent[x] != TO_SERVER_NONE; x = parent[x]) {
					assert_true(parent[x] < n);
					assert_true(++depth <= allowed);
				}
				if (parent[i] == TO_SERVER_NONE)
					roots++;
				else
					assert_true(++children[second][parent[i]] <= 2);
			}
			assert_int_equal(roots, 1);
		}
		for (unsigned int i = 0; i < n; i++)
			assert_false(children[0][i] && children[1][i]);
	}
}

static struct to_plan *double_tree_plan(unsigned int n, unsigned int degree, enum to_link_mode mode)
{
	struct to_demand *demand = job_new(n);
	struct to_error err = { "" };
	struct to_plan *plan;

	job_group(demand, 0, 1, n, 1000 * MIB);
	job_hot(demand, n / 2, MIB);
	plan = job_plan_family(demand, degree, mode, &to_family_double_tree, &err);
	assert_string_equal(err.text, "");
	return plan;
}

/* For any number of servers: right, named, each link loaded as it should be. */
static void plans_are_right(void **state)
{
	(void)state;
	for (unsigned int n = 3; n < 40; n += 1 + n / 8) {
		for (unsigned int i = 0; i < 6; i++) {
			unsigned int degree = 4 + 2 * (i / 2), pairs = degree / 4;
			enum to_link_mode mode = i % 2;
			struct to_plan *plan = double_tree_plan(n, degree, mode), *again;
			unsigned int per_hop = mode == TO_LINKS_DUPLEX ? 1 : 2, owned = 0;
			struct to_figures f = job_verify(plan).figures;
			struct to_rings rings = to_allreduce_of(plan);
			struct to_graph *graph = to_graph_new(n, plan->cluster->links,
							      plan->cluster->n_links, mode);
			size_t len, len_again;
			char *text, *text_again;
			struct to_error err = { "" };
			double all = 0, *reduced;

			assert_string_equal(f.family, "double-binary-tree");
			assert_int_equal(plan->n_trees, 2 * pairs);
			for (unsigned int k = 0; k < plan->cluster->n_links; k++)
				owned += plan->cluster->links[k].tree >= 0;
			assert_int_equal(owned, 2 * pairs * (n - 1) * per_hop);
			assert_non_null(graph);
			reduced = calloc(graph->n_arcs, sizeof(*reduced));
			assert_non_null(reduced);
			to_allreduce_link_bytes(&rings, graph, reduced);
			for (uint32_t a = 0; a < graph->n_arcs; a++)
				all += reduced[a];
			free(reduced);
			assert_true(fabs(all - 2.0 * (n - 1) * 1000 * MIB) < 1);
			assert_true(fabs(f.allreduce_time - 1000 * MIB / 2.0 / pairs * 8 / 100e9) < 1e-9);
			/* what is written is read, to the byte */
			text = job_printed(plan, &len);
			again = to_plan_parse(text, len, "printed", &err);
			assert_string_equal(err.text, "");
			job_verify(again);
			text_again = job_printed(again, &len_again);
			assert_int_equal(len, len_again);
			assert_memory_equal(text, text_again, len);
			free(text);
			free(text_again);
			to_graph_free(graph);
			to_plan_free(plan);
			to_plan_free(again);
		}
	}
}

/* Trees of the same links that are no double binary trees are not called so. */
static void names_what_is_no_pair(void **state)
{
	struct to_plan *plan = double_tree_plan(12, 4, TO_LINKS_DUPLEX);
	struct to_cluster *c = plan->cluster;
	struct to_verify_report report;
	struct job_lines lines = { 0 };

	(void)state;
	/* both the same tree: who is inside one is inside the other */
	memcpy(plan->trees[1].parents, plan->trees[0].parents, 12 * sizeof(uint32_t));
	for (unsigned int i = 0; i < c->n_links; i++)
		if (c->links[i].tree == 1)
			c->links[i].tree = -1;
	assert_int_equal(to_verify(plan, job_line, &lines, &report), 0);
	assert_string_equal(report.figures.family, "tree");
	assert_true(lines.n > 0);	/* the predictions name another */
	/* trees that own no links share all of them */
	for (unsigned int i = 0; i < c->n_links; i++)
		c->links[i].tree = -1;
	assert_int_equal(to_verify(plan, job_line, &lines, &report), 0);
	assert_string_equal(report.figures.family, "packed-trees");
	assert_true(report.figures.allreduce_time > 0);
	to_plan_free(plan);
}

static void wants_four_ports(void **state)
{
	struct to_error err = { "" };
	struct to_demand *demand = job_new(12);

	(void)state;
	job_group(demand, 0, 1, 12, MIB);
	assert_null(job_plan_family(demand, 3, TO_LINKS_DUPLEX, &to_family_double_tree, &err));
	assert_string_equal(err.text, "no topology of family double-binary-tree connects "
				      "12 servers with up to 3 ports each");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_trees_share_no_inner_server),
		cmocka_unit_test(plans_are_right),
		cmocka_unit_test(names_what_is_no_pair),
		cmocka_unit_test(wants_four_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
