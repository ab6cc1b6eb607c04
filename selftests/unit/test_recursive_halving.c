// SPDX-License-Identifier: GPL-2.0-or-later
/* AllReduce by recursive halving on generalised hypercubes. */

#include <math.h>

#include "collectives/collective_plan.h"
#include "graph/recursive_halving.h"
#include "job.h"
#include "topology/mesh.h"

#define STEP 10e-6

static const struct { unsigned int n, k; } shapes[] = {
	{ 2, 2 }, { 2, 4 }, { 2, 5 }, { 3, 2 }, { 4, 2 }, { 5, 1 }, { 3, 3 },
};

#define N_SHAPES (sizeof(shapes) / sizeof(*shapes))

static void near(double is, double should)
{
	assert_true(fabs(is - should) <= 1e-9 * fabs(should));
}

static struct to_cluster *mesh(const struct to_bcube *cube)
{
	struct to_error err = { "" };
	struct to_cluster *c = to_cluster_synthetic(cube->servers, to_mesh_ports(cube), 100 * GBPS,
						    TO_LINKS_DUPLEX, &err);

	assert_non_null(c);
	assert_int_equal(to_mesh_cable(c, cube), 0);
	return c;
}

/* Of as many levels as ports allow, the fewest. */
static void ports_choose_the_cube(void **state)
{
	struct to_bcube cube;

	(void)state;
	assert_true(to_recursive_halving_find(16, 4, &cube));
	assert_int_equal(cube.n, 2);
	assert_true(to_recursive_halving_find(16, 8, &cube));
	assert_int_equal(cube.n, 4);
	assert_true(to_recursive_halving_find(16, 15, &cube));
	assert_int_equal(cube.n, 16);
	assert_false(to_recursive_halving_find(16, 3, &cube));
	assert_true(to_recursive_halving_find(1024, 10, &cube));
	assert_int_equal(cube.k, 10);
	assert_false(to_recursive_halving_find(12, 8, &cube));
	assert_false(to_recursive_halving_find(2, 1, &cube));
}

/* All links carry the same, which is the least that any AllReduce puts on them. */
static void links_carry_the_same(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < N_SHAPES; i++) {
		struct to_error err = { "" };
		struct to_bcube cube, found;
		struct to_demand *demand;
		struct to_cluster *c;
		struct to_rings rings = { 0 };
		struct to_graph *graph;
		double *bytes, each;

		assert_int_equal(to_bcube_init(&cube, shapes[i].n, shapes[i].k, &err), 0);
		c = mesh(&cube);
		graph = to_graph_new(c->n_servers, c->links, c->n_links, c->link_mode);
		demand = job_new(cube.servers);
		job_group(demand, 0, 1, cube.servers, 1000 * MIB);
		assert_true(to_recursive_halving_linked(&cube, demand->groups[0].members, graph));
		rings.demand = demand;
		assert_int_equal(to_recursive_halving_trees(&cube, demand->groups[0].members, 0,
							    &rings.layout), 0);
		rings.layout.n_links = c->n_links;
		rings.layout.links = c->links;
		for (unsigned int t = 0; t < rings.layout.n_trees; t++)
			assert_int_equal(to_allreduce_tree_check(&rings.layout.trees[t], demand,
								 &err), 0);
		assert_int_equal(to_allreduce_shares_check(&rings, 0, &err), 0);
		bytes = calloc(graph->n_arcs, sizeof(*bytes));
		to_allreduce_link_bytes(&rings, graph, bytes);
		each = 2.0 * (cube.servers - 1) * 1000 * MIB / graph->n_arcs;
		for (uint32_t a = 0; a < graph->n_arcs; a++)
			assert_true(fabs(bytes[a] - each) < 1e-9 * each);

		assert_true(to_recursive_halving_is(&rings, 0, &found));
		assert_int_equal(found.n, cube.n);
		/* what owner 1 collects, by another server */
		rings.layout.trees[1].parents[0] = cube.servers - 1;
		assert_false(to_recursive_halving_is(&rings, 0, &found));
		free(bytes);
		rings.layout.n_links = 0;
		rings.layout.links = NULL;
		to_layout_free(&rings.layout);
		to_graph_free(graph);
		to_cluster_free(c);
		to_demand_free(demand);
	}
}

static struct to_plan *plan_buffer(struct to_cluster *cluster, unsigned int n, uint64_t bytes,
				   const char *family)
{
	struct to_error err = { "" };
	struct to_planner_knobs options = {
		.seed = 1, .latency = { STEP, STEP / 10 }, .fixed = cluster->n_links,
		.family = family ? to_family_find(family, &err) : NULL };
	struct to_demand *demand = job_new(n);
	struct to_plan *plan;

	job_group(demand, 0, 1, n, bytes);
	plan = to_planner_make(cluster, demand, &options, &err);
	assert_string_equal(err.text, "");
	return plan;
}

static struct to_plan *plan_ports(unsigned int n, unsigned int ports, uint64_t bytes,
				  const char *family)
{
	struct to_error err = { "" };

	return plan_buffer(to_cluster_synthetic(n, ports, 100 * GBPS, TO_LINKS_DUPLEX, &err), n,
			   bytes, family);
}

static double plan_time(struct to_plan *plan)
{
	struct to_figures f;

	assert_int_equal(to_predict_plan(plan, &f), 0);
	job_verify(plan);
	to_plan_free(plan);
	return to_predict_time(&f);
}

/* 2k steps and the bytes, for a buffer neither so small that trees nor so large that rings win. */
static void a_buffer_between_takes_it(void **state)
{
	struct to_plan *plan = plan_ports(16, 4, MIB, NULL);
	struct to_figures f;
	double time;

	(void)state;
	assert_int_equal(to_predict_plan(plan, &f), 0);
	assert_string_equal(f.family, "recursive-halving");
	near(f.allreduce_latency.seconds, 2 * 4 * STEP);
	near(f.allreduce_time, 2.0 * 15 / 16 / 4 * MIB * 8 / (100 * GBPS));
	time = plan_time(plan);
	assert_true(time < 0.7 * plan_time(plan_ports(16, 4, MIB, "totient")));
	assert_true(time < 0.7 * plan_time(plan_ports(16, 4, MIB, "double-binary-tree")));
}

/* An odd number of ports, and the hypercube that fixed cables are. */
static void other_hypercubes_too(void **state)
{
	struct to_error err = { "" };
	struct to_bcube cube;
	struct to_plan *plan = plan_ports(32, 5, 4 * MIB, NULL);
	struct to_figures f;

	(void)state;
	assert_int_equal(to_predict_plan(plan, &f), 0);
	assert_string_equal(f.family, "recursive-halving");
	near(f.allreduce_latency.seconds, 2 * 5 * STEP);
	to_plan_free(plan);
	assert_int_equal(to_bcube_init(&cube, 3, 2, &err), 0);
	plan = plan_buffer(mesh(&cube), 9, MIB, NULL);
	assert_int_equal(to_predict_plan(plan, &f), 0);
	assert_string_equal(f.family, "recursive-halving");
	near(f.allreduce_latency.seconds, 2 * 2 * STEP);
	to_plan_free(plan);
}

/* A message for all pieces that go to a neighbour: as many steps as are counted. */
static void it_is_sent_so(void **state)
{
	struct to_plan *plan = plan_ports(16, 5, 6400 * 1024, "recursive-halving");
	struct to_collective_plan c;
	struct to_error err = { "" };
	struct to_rings rings = to_allreduce_of(plan);
	double *bytes, *predicted;
	struct to_steps steps;
	bool certain;

	(void)state;
	assert_int_equal(to_collective_plan_init(&c, plan, TO_COLLECTIVE_PLAN,
						 TO_COLLECTIVE_NO_GROUP, false, 1600 * 1024, &err), 0);
	assert_int_equal(to_collective_plan_steps(&c, 3, &steps), 0);
	assert_int_equal(steps.n_threads, 4);
	assert_int_equal(steps.n_steps, 4 * 2 * 4);
	to_steps_free(&steps);
	bytes = calloc(2 * c.graph->n_arcs, sizeof(*bytes));
	predicted = bytes + c.graph->n_arcs;
	assert_int_equal(to_collective_plan_link_bytes(&c, bytes, &certain), 0);
	to_allreduce_link_bytes(&rings, c.graph, predicted);
	for (uint32_t a = 0; a < c.graph->n_arcs; a++)
		assert_true(fabs(bytes[a] - predicted[a]) <= 8 * 16);	/* halves of elements */
	free(bytes);
	to_collective_plan_free(&c);
	to_plan_free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ports_choose_the_cube),
		cmocka_unit_test(links_carry_the_same),
		cmocka_unit_test(a_buffer_between_takes_it),
		cmocka_unit_test(other_hypercubes_too),
		cmocka_unit_test(it_is_sent_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
