// SPDX-License-Identifier: GPL-2.0-or-later
/* What the steps of AllReduce take, on rings and trees whose time a person can work out. */

#include <errno.h>
#include <math.h>

#include "graph/shallow_trees.h"
#include "job.h"
#include "verify/allreduce_latency.h"

#define STEP 10e-6
#define RELAY 1e-6
#define SERVERS 16

static void near(double is, double should)
{
	assert_true(fabs(is - should) <= 1e-9 * fabs(should));
}

/* Figures of @plan for the latencies of this test. */
static struct to_figures figures(struct to_plan *plan)
{
	struct to_figures f;

	assert_non_null(plan);
	plan->latency = (struct to_latency){ STEP, RELAY };
	assert_int_equal(to_predict_plan(plan, &f), 0);
	return f;
}

static struct to_plan *plan_rings(unsigned int servers, unsigned int calls)
{
	struct to_planner_knobs options = { .rings = true, .seed = 1 };
	struct to_demand *demand = job_new(servers);
	struct to_error err = { "" };

	job_group(demand, 0, 1, servers, MIB);
	demand->groups[0].calls = calls;
	return to_planner_make(to_cluster_synthetic(servers, 4, 100 * GBPS, TO_LINKS_DUPLEX, &err),
			       demand, &options, &err);
}

static void a_ring_takes_all_its_steps(void **state)
{
	struct to_plan *plan = plan_rings(SERVERS, 0);
	struct to_figures f = figures(plan);

	(void)state;
	near(f.allreduce_latency.seconds, 2 * (SERVERS - 1) * STEP);
	near(f.allreduce_latency.bound, 2 * STEP);	/* 5 know after one, 25 after two */
	to_plan_free(plan);
	plan = plan_rings(SERVERS, 25);
	f = figures(plan);
	near(f.allreduce_latency.seconds, 25 * 2 * (SERVERS - 1) * STEP);
	near(f.allreduce_latency.bound, 25 * 2 * STEP);
	to_plan_free(plan);
}

/* Servers 0 and 2 of a ring of four: each hop of theirs passes one server. */
static void a_relay_takes_its_own(void **state)
{
	struct to_demand *demand = job_new(4);
	struct to_error err = { "" };
	struct to_plan *plan;
	struct to_figures f;

	(void)state;
	job_group(demand, 0, 1, 4, 64 * MIB);
	job_group(demand, 0, 2, 2, MIB);
	plan = job_plan(demand, 2, TO_LINKS_DUPLEX, &err);
	f = figures(plan);
	/* one group after the other on both servers */
	if (plan->n_trees == 0)
		near(f.allreduce_latency.seconds, 6 * STEP + 2 * (STEP + RELAY));
	assert_true(f.allreduce_latency.seconds > 2 * (STEP + RELAY));
	to_plan_free(plan);
}

/* The best number of chunks of all that there are. */
static void chunks_take_least(void **state)
{
	static const double busy[] = { 0, 1e-6, 1e-4, 1e-2, 1 };
	unsigned int depth, b, c;

	(void)state;
	for (depth = 1; depth < 20; depth += 6) {
		for (b = 0; b < sizeof(busy) / sizeof(*busy); b++) {
			double least = INFINITY, is = to_allreduce_tree_latency(
				depth, depth * STEP, STEP, busy[b]);

			/* chunk c arrives one message after the one before */
			for (c = 1; c < 3000; c++)
				least = fmin(least, (2 * depth - 1 + c) * (STEP + busy[b] / c));
			assert_true(busy[b] + is <= least * 1.001);
			assert_true(busy[b] + is >= least * (1 - 1e-9));
		}
	}
	near(to_allreduce_tree_latency(3, 3e-6, 0, 1), 6e-6);
}

/* A tree of one row of servers: its depth is that of the end that is further from the root. */
static void a_tree_is_as_deep_as_its_deepest(void **state)
{
	struct to_demand *demand = job_new(5);
	struct to_error err = { "" };
	struct to_plan *plan;
	struct to_figures f;

	(void)state;
	job_group(demand, 0, 1, 5, 8 * MIB);
	plan = job_plan(demand, 2, TO_LINKS_DUPLEX, &err);
	assert_non_null(plan);
	for (unsigned int i = 0; i < plan->n_rings; i++)
		free(plan->rings[i].order);
	for (unsigned int i = 0; i < plan->n_trees; i++)
		free(plan->trees[i].parents);
	free(plan->trees);
	plan->n_rings = 0;
	plan->n_trees = 1;
	plan->trees = calloc(1, sizeof(*plan->trees));
	plan->trees[0] = (struct to_allreduce_tree){ 0, 5, 1, calloc(5, sizeof(uint32_t)) };
	for (unsigned int i = 0; i < plan->cluster->n_links; i++)
		plan->cluster->links[i].ring = plan->cluster->links[i].tree = -1;
	/* along the ring from server 0; its neighbours are in the links */
	for (uint32_t x = 0, before = TO_SERVER_NONE, at = 0; x < 5; x++) {
		uint32_t next = TO_SERVER_NONE;

		plan->trees[0].parents[at] = before;
		for (unsigned int i = 0; i < plan->cluster->n_links; i++) {
			const struct to_link *l = &plan->cluster->links[i];
			uint32_t other = l->a.server == at ? l->b.server :
					 l->b.server == at ? l->a.server : TO_SERVER_NONE;

			if (other != TO_SERVER_NONE && other != before &&
			    (next == TO_SERVER_NONE || other < next))
				next = other;
		}
		before = at;
		at = next;
	}
	f = figures(plan);
	near(f.allreduce_latency.seconds,
	     to_allreduce_tree_latency(4, 4 * STEP, STEP, f.allreduce_time));
	to_plan_free(plan);
}

static struct to_plan *plan_buffer(unsigned int servers, uint64_t bytes, double step)
{
	struct to_planner_knobs options = { .seed = 1, .latency = { step, RELAY } };
	struct to_demand *demand = job_new(servers);
	struct to_error err = { "" };

	job_group(demand, 0, 1, servers, bytes);
	return to_planner_make(to_cluster_synthetic(servers, 4, 100 * GBPS, TO_LINKS_DUPLEX, &err),
			       demand, &options, &err);
}

static double plan_time(const struct to_plan *plan)
{
	struct to_figures f;

	assert_int_equal(to_predict_plan(plan, &f), 0);
	job_verify(plan);
	return to_predict_time(&f);
}

/* Rings for what is large, trees of shortest paths for what is small. */
static void a_buffer_chooses(void **state)
{
	struct to_plan *small = plan_buffer(SERVERS, 64 << 10, STEP), *large = plan_buffer(SERVERS, 1 << 30, STEP);
	struct to_plan *many = plan_buffer(128, 64 << 10, STEP);
	struct to_plan *without = plan_buffer(SERVERS, 1 << 30, 0);

	(void)state;
	assert_true(small->n_trees && !small->n_rings);
	assert_true(plan_time(small) < SERVERS * STEP / 2);	/* a ring: 2(n - 1) steps */
	/* on links that keep paths short: those that suit bytes best have some of 8 hops */
	assert_true(plan_time(many) < 2 * 8 * STEP);
	assert_true(large->n_rings && !large->n_trees);
	assert_true(plan_time(large) < plan_time(without) * 1.01);
	to_plan_free(small);
	to_plan_free(many);
	to_plan_free(large);
	to_plan_free(without);
}

/* A ring of six and a spoke: the centre is the root, and two trees divide its two ways. */
static void shallow_trees_are_shortest(void **state)
{
	static const uint32_t all[] = { 0, 1, 2, 3, 4, 5, 6 }, some[] = { 2, 4, 6 };
	uint32_t parents[14];
	double shares[2];
	struct to_packing_edge edges[] = { { 0, 1, 1, 0, 0 }, { 1, 2, 1, 0, 0 }, { 2, 3, 1, 0, 0 },
		{ 3, 4, 1, 0, 0 }, { 4, 5, 1, 0, 0 }, { 5, 0, 1, 0, 0 }, { 0, 6, 1, 0, 0 } };
	struct to_packing_group group = { .n_members = 7, .n_trees = 2, .members = all, .bytes = 6,
					  .parents = parents, .shares = shares };
	struct to_packing packing = { .n = 7, .n_edges = 7, .n_groups = 1, .edges = edges,
				      .groups = &group };

	(void)state;
	assert_int_equal(to_shallow_trees(&packing), 0);
	for (unsigned int k = 0; k < 2; k++) {
		unsigned int deepest = 0, hops;

		for (uint32_t i = 0, at; i < 7; i++) {
			for (at = i, hops = 0; parents[7 * k + at] != at && hops < 7; hops++)
				at = parents[7 * k + at];
			deepest = hops > deepest ? hops : deepest;
		}
		assert_int_equal(deepest, 3);
		near(shares[k], 0.5);
	}
	near(packing.busiest, 6);	/* the spoke has both */

	group.n_members = 3;
	group.n_trees = 1;
	group.members = some;
	assert_int_equal(to_shallow_trees(&packing), 0);
	for (unsigned int i = 0; i < 3; i++)
		assert_true(parents[i] < 3);
	packing.n_edges = 6;	/* without the spoke */
	assert_int_equal(to_shallow_trees(&packing), -ENOTCONN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ring_takes_all_its_steps),
		cmocka_unit_test(a_relay_takes_its_own),
		cmocka_unit_test(chunks_take_least),
		cmocka_unit_test(a_tree_is_as_deep_as_its_deepest),
		cmocka_unit_test(a_buffer_chooses),
		cmocka_unit_test(shallow_trees_are_shortest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
