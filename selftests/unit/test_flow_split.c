// SPDX-License-Identifier: GPL-2.0-or-later
/* What few flows make of the loads of links. */

#include <math.h>

#include "job.h"

static void buckets_are_the_kernels(void **state)
{
	static const struct {
		unsigned int n;
		uint32_t weight[4];
		unsigned int buckets[4];
	} cases[] = {
		{ 1, { 7 }, { 256 } },
		{ 3, { 1, 1, 1 }, { 86, 85, 85 } },
		{ 2, { 3, 1 }, { 192, 64 } },
		{ 3, { 2, 2, 3 }, { 73, 73, 110 } },
		{ 2, { 255, 1 }, { 255, 1 } },
		{ 4, { 65535, 65535, 65535, 65535 }, { 64, 64, 64, 64 } },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		unsigned int buckets[4];

		to_flow_split_buckets(cases[i].weight, cases[i].n, buckets);
		assert_memory_equal(buckets, cases[i].buckets, cases[i].n * sizeof(*buckets));
	}
}

/* Two paths of two hops between opposite servers of a ring of four, half to each. */
static void flows_stay_on_their_path(void **state)
{
	/* of 4 flows the larger half has 2.75 on average, of 16 it has 9.57; at most all */
	static const double mean[] = { 1, 2.75 / 4, 9.571 / 16 }, most[] = { 1, 1, 14. / 16 };
	struct to_demand *demand = job_new(4);
	struct to_error err = { "" };
	struct to_figures f, again;
	struct to_plan *plan;

	(void)state;
	job_group(demand, 0, 1, 4, 1024 * MIB);
	demand->mp[0 * 4 + 2] = 32 * MIB;
	plan = job_plan(demand, 2, TO_LINKS_DUPLEX, &err);
	assert_non_null(plan);
	assert_int_equal(to_predict_plan_flows(plan, &f), 0);
	assert_true(fabs(f.max_mp_link_load - 16 * MIB) < 1);
	for (unsigned int k = 0; k < 3; k++) {
		const struct to_flow_split *split = &f.max_mp_link_load_flows[k];

		assert_true(fabs(split->mean / (32 * MIB) / mean[k] - 1) < 0.05);
		assert_true(split->p99 >= split->mean && split->p99 <= most[k] * 32 * MIB);
	}
	assert_int_equal(to_predict_plan_flows(plan, &again), 0);
	assert_memory_equal(again.max_mp_link_load_flows, f.max_mp_link_load_flows,
			    sizeof(f.max_mp_link_load_flows));
	to_plan_free(plan);
}

/* A route of its own for one source: its flows are on it, whatever the rest does. */
static void a_route_of_its_own(void **state)
{
	struct to_demand *demand = job_new(4);
	struct to_error err = { "" };
	struct to_table *table;
	struct to_figures f;
	struct to_plan *plan;
	struct to_nexthop one;

	(void)state;
	job_group(demand, 0, 1, 4, 1024 * MIB);
	demand->mp[0 * 4 + 2] = 32 * MIB;
	plan = job_plan(demand, 2, TO_LINKS_DUPLEX, &err);
	assert_non_null(plan);
	table = &plan->tables[0];
	one = table->groups[table->route[2 * plan->slots]].nexthops[0];
	one.weight = 1;
	table->pairs = calloc(1, sizeof(*table->pairs));
	assert_non_null(table->pairs);
	table->pairs[0] = (struct to_source_route){ 0, 2, 0, to_plan_add_group(table, &one, 1) };
	table->n_pairs = 1;
	assert_int_equal(to_predict_plan_flows(plan, &f), 0);
	for (unsigned int k = 0; k < 3; k++) {
		assert_true(fabs(f.max_mp_link_load_flows[k].mean - 32 * MIB) < 1);
		assert_true(fabs(f.max_mp_link_load_flows[k].p99 - 32 * MIB) < 1);
	}
	to_plan_free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_are_the_kernels),
		cmocka_unit_test(flows_stay_on_their_path),
		cmocka_unit_test(a_route_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
