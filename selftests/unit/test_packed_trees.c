// SPDX-License-Identifier: GPL-2.0-or-later
/* Trees that share all links, as plans have them. */

#include <math.h>

#include "job.h"

#include "base/effort.h"
#include "data/allreduce.h"
#include "plan/repair.h"

/* Rings leave a port of odd degree idle; trees do not. */
static void odd_degrees_are_used_up(void **state)
{
	(void)state;
	for (unsigned int n = 16; n <= 64; n *= 4) {
		for (unsigned int degree = 3; degree <= 7; degree += 2) {
			struct to_demand *demand = job_new(n);
			struct to_plan *plan;
			struct to_figures f;

			job_group(demand, 0, 1, n, 1000 * MIB);
			plan = job_planned(demand, degree, TO_LINKS_DUPLEX);
			f = job_verify(plan).figures;
			assert_string_equal(f.family, "packed-trees");
			assert_int_equal(plan->n_rings, 0);
			assert_true(f.allreduce_time <= 1.01 * f.allreduce_time_bound);
			to_plan_free(plan);
		}
	}
}

/* Where rings fill all ports, they stay: they have links of their own. */
static void even_degrees_keep_rings(void **state)
{
	(void)state;
	for (unsigned int mode = 0; mode < 2; mode++) {
		struct to_demand *demand = job_new(16);
		struct to_plan *plan;

		job_group(demand, 0, 1, 16, 1000 * MIB);
		plan = job_planned(demand, mode == TO_LINKS_DUPLEX ? 4 : 3, mode);
		assert_int_equal(plan->n_trees, 0);
		to_plan_free(plan);
	}
}

/* Time of the plan of @demand, on trees or on the rings of a family. */
static double time_of(const struct to_demand *demand, const struct to_family *family)
{
	struct to_error err = { "" };
	struct to_plan *plan = job_plan_family(to_demand_copy(demand), 4, TO_LINKS_DUPLEX, family,
					       &err);
	double time;

	assert_non_null(plan);
	assert_int_equal(plan->n_trees > 0, !family);
	time = job_verify(plan).figures.comm_time;
	to_plan_free(plan);
	return time;
}

/* A server that all talk to is a leaf of most trees, which rings could not do for it. */
static void trees_go_around_mp_transfers(void **state)
{
	struct to_demand *demand = job_new(24);
	double rings, trees;

	(void)state;
	job_group(demand, 0, 1, 24, 1000 * MIB);
	job_hot(demand, 3, 50 * MIB);
	job_hot(demand, 14, 50 * MIB);
	rings = fmin(time_of(demand, &to_family_hamiltonian),
		     time_of(demand, &to_family_totient));
	trees = time_of(demand, NULL);
	assert_true(trees < 0.9 * rings);
	to_demand_free(demand);
}

/* Servers in four rows of eight, each with its neighbours in the row and in the column. */
static struct to_cluster *torus(void)
{
	struct to_error err = { "" };
	struct to_cluster *c = to_cluster_synthetic(32, 4, 100 * GBPS, TO_LINKS_DUPLEX, &err);

	assert_non_null(c);
	c->n_links = 64;
	c->links = calloc(c->n_links, sizeof(*c->links));
	for (unsigned int x = 0; x < 32; x++) {
		c->links[2 * x] = (struct to_link){ { x, 0 }, { x / 8 * 8 + (x + 1) % 8, 1 },
						    .ring = -1, .tree = -1 };
		c->links[2 * x + 1] = (struct to_link){ { x, 2 }, { (x + 8) % 32, 3 },
							.ring = -1, .tree = -1 };
	}
	return c;
}

/*
 * Transfers between all keep the links of long rows twice as busy as those of columns, at a mean
 * of 3/4: trees take what they leave, though on the best links they would leave nothing.
 */
static void trees_take_what_fixed_links_have_left(void **state)
{
	const struct to_planner_knobs options = { .fixed = true, .seed = 1,
						    .effort = TO_EFFORT_MIN };
	struct to_demand *demand = job_new(32);
	struct to_error err = { "" };
	double rate = 100e9 / 8, reduced, rows;
	struct to_figures f;
	struct to_plan *plan;

	(void)state;
	job_group(demand, 0, 1, 32, 128 * MIB);
	for (unsigned int i = 0; i < 32 * 32; i++)
		demand->mp[i] = i % 33 ? MIB : 0;
	plan = to_planner_make(torus(), demand, &options, &err);
	assert_non_null(plan);
	f = job_verify(plan).figures;
	/* 31 of 64 links for a tree; 16 hops along the row to 8 servers of 4 rows, by two links */
	reduced = 128.0 * MIB * 31 / 64 / rate;
	rows = 16.0 * 4 / 2 * MIB / rate;
	assert_true(f.comm_time <= 1.01 * (reduced + 0.75 * rows));
	to_plan_free(plan);
}

/* A third port of a fifth of the speed takes its part. */
static void slow_ports_take_less(void **state)
{
	struct to_planner_knobs options = { .degree = 3, .seed = 1 };
	struct to_error err = { "" };
	struct to_demand *demand = job_new(16);
	struct to_cluster *c = to_cluster_synthetic(16, 3, 100 * GBPS, TO_LINKS_DUPLEX, &err);
	struct to_plan *plan;
	struct to_figures f;

	(void)state;
	for (unsigned int i = 0; i < 16; i++)
		c->servers[i].ports[2].bandwidth = 20 * GBPS;
	job_group(demand, 0, 1, 16, 1000 * MIB);
	plan = to_planner_make(c, demand, &options, &err);
	assert_non_null(plan);
	f = job_verify(plan).figures;
	assert_true(plan->n_trees > 0);
	assert_true(f.allreduce_time <= 1.01 * f.allreduce_time_bound);
	to_plan_free(plan);
}

/* The links that are left share what a lost one had. */
static void other_links_take_what_a_lost_one_had(void **state)
{
	struct to_demand *demand = job_new(16);
	struct to_error err = { "" };
	struct to_repair repair;
	char word[TO_DOWN_NAME_MAX];
	struct to_plan *plan;
	struct to_down down;

	(void)state;
	job_group(demand, 0, 1, 16, 1000 * MIB);
	plan = job_planned(demand, 5, TO_LINKS_DUPLEX);
	assert_int_equal(to_down_init(&down, plan->cluster), 0);
	assert_int_equal(to_down_parse(&down, plan->cluster, to_down_name(plan->cluster, plan->cluster->links[0].a, word),
				       &err), 0);
	assert_int_equal(to_repair_plan(plan, &down, TO_EFFORT_DEFAULT, &repair, &err), 0);
	assert_true(repair.plan->n_trees > 0);
	job_verify(repair.plan);
	assert_int_equal(repair.plan->cluster->n_links, 39);
	assert_true(repair.after.comm_time <= 1.01 * 40 / 39 * repair.before.comm_time);
	to_repair_free(&repair);
	to_down_free(&down);
	to_plan_free(plan);
}

/* Any groups and transfers, duplex and simplex: plans verify, and read as they are written. */
static void any_job_verifies(void **state)
{
	unsigned int with = 0, routed = 0;
	uint64_t random = 11;

	(void)state;
	for (unsigned int round = 0; round < 20; round++) {
		unsigned int n = 4 + to_random_below(&random, 12);
		struct to_demand *demand = job_random(n, &random);
		struct to_plan *plan = job_planned(demand, 3 + to_random_below(&random, 3),
						   to_random_below(&random, 2));
		struct to_rings rings = to_allreduce_of(plan);
		const struct to_cluster *c = plan->cluster;
		struct to_graph *graph = to_graph_new(n, c->links, c->n_links, c->link_mode);
		struct to_error err = { "" };
		struct to_plan *again;
		size_t len, len_again;
		char *text, *text_again;

		assert_non_null(graph);
		job_verify(plan);
		with += plan->n_trees > 0;
		for (unsigned int i = 0; i < plan->n_trees; i++)
			routed += to_allreduce_tree_routed(&rings, graph, &plan->trees[i]);
		text = job_printed(plan, &len);
		again = to_plan_parse(text, len, "printed", &err);
		assert_string_equal(err.text, "");
		text_again = job_printed(again, &len_again);
		assert_int_equal(len, len_again);
		assert_memory_equal(text, text_again, len);
		free(text);
		free(text_again);
		to_graph_free(graph);
		to_plan_free(plan);
		to_plan_free(again);
	}
	print_message("# %u of 20 plans have trees, %u hops are routed\n", with, routed);
	assert_true(with > 5 && routed > 0);
}

/* Measured bytes of an AllReduce on trees are not taken for MP transfers. */
static void measured_bytes_are_recognised(void **state)
{
	struct to_demand *demand = job_new(16);
	uint64_t *bytes = calloc(16 * 16, sizeof(*bytes)), buffer;
	struct to_rings rings;
	struct to_plan *plan;

	(void)state;
	job_group(demand, 0, 1, 16, 1000 * MIB);
	demand->mp[5] = 70 * MIB;
	plan = job_planned(demand, 3, TO_LINKS_DUPLEX);
	assert_true(plan->n_trees > 0);
	to_allreduce_and_mp(plan, 2, bytes);
	rings = to_allreduce_of(plan);
	assert_int_equal(to_allreduce_take(&rings, bytes, &buffer), 0);
	assert_float_equal((double)buffer, 2000. * MIB, 1000);
	for (unsigned int i = 0; i < 16 * 16; i++)
		assert_float_equal((double)bytes[i], i == 5 ? 140. * MIB : 0, 1000);
	free(bytes);
	to_plan_free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(odd_degrees_are_used_up),
		cmocka_unit_test(even_degrees_keep_rings),
		cmocka_unit_test(trees_go_around_mp_transfers),
		cmocka_unit_test(trees_take_what_fixed_links_have_left),
		cmocka_unit_test(slow_ports_take_less),
		cmocka_unit_test(other_links_take_what_a_lost_one_had),
		cmocka_unit_test(any_job_verifies),
		cmocka_unit_test(measured_bytes_are_recognised),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
