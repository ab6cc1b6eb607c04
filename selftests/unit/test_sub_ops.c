// SPDX-License-Identifier: GPL-2.0-or-later
/* SiP-ML's placement: sub-ops of a quantum, near those whose results they take. */

#include <errno.h>
#include <math.h>

#include "job.h"
#include "simulate/network_named.h"
#include "workload/sub_ops_search.h"

#define QUANTUM 10e-6

/* Operators that compute a microsecond for each sample and have 1000 bytes a result. */
static struct to_dnn_model *model_of(const char *operators)
{
	struct to_error err = { "" };
	char text[4096];
	struct to_dnn_model *model;

	snprintf(text, sizeof(text),
		 "{\"format\": \"topoopt-model\", \"version\": 1, \"name\": \"m\", \"batch_per_gpu\": 10, "
		 "\"device\": {\"gpus\": 1, \"flops\": 1e12, \"efficiency\": 1, "
		 "\"memory_bandwidth\": 1e18, \"memory_bytes\": 10000}, \"operators\": [%s]}", operators);
	model = to_dnn_model_parse(text, strlen(text), "m", &err);
	assert_string_equal(err.text, "");
	assert_non_null(model);
	return model;
}

#define OPERATOR(name, parameters, inputs) \
	"{\"name\": \"" name "\", \"type\": \"dense\", \"flops\": 1000000, " \
	"\"parameter_bytes\": " parameters ", \"output_bytes\": 1000" inputs "}"
#define TAKES(names) ", \"inputs\": [" names "]"

static struct to_demand *demand_of(const struct to_sub_ops *s)
{
	struct to_taskgraph tasks;
	struct to_error err = { "" };
	struct to_demand *demand;

	to_taskgraph_init(&tasks, s->setting.n_servers);
	assert_int_equal(to_sub_ops_tasks(s, &tasks, &err), 0);
	demand = to_taskgraph_demand(&tasks);
	assert_non_null(demand);
	to_taskgraph_free(&tasks);
	return demand;
}

static void place(struct to_sub_ops *s, const struct to_dnn_model *model, uint32_t n,
		  uint32_t blocks, bool sharded, unsigned int reach)
{
	const struct to_sub_ops_setting setting = {
		.n_servers = n, .blocks = blocks, .samples = 10 * n, .sharded = sharded,
		.quantum = QUANTUM, .reach = reach };

	assert_int_equal(to_sub_ops_place(s, model, &setting), 0);
}

/* On 8 servers 80 samples; in blocks of 4, 40 samples or 40 us: four sub-ops. */
static void divided_by_the_quantum(void **state)
{
	struct to_dnn_model *m = model_of(OPERATOR("a", "4000", "") ", "
					  OPERATOR("b", "800", TAKES("\"a\"")));
	struct to_sub_ops s;
	struct to_demand *d;

	(void)state;
	/* samples: each sub-op takes the results of its own, and all reduce together */
	place(&s, m, 8, 2, false, 8);
	assert_int_equal(s.first[1], 4);
	assert_int_equal(s.first[2], 8);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(s.server[i], i);
		assert_int_equal(s.server[4 + i], i);
		assert_true(s.memory[i] == 4800);
	}
	assert_true(fabs(s.forward - 20e-6) < 1e-12);
	d = demand_of(&s);
	assert_int_equal(d->n_groups, 1);
	assert_int_equal(d->groups[0].n_members, 8);
	assert_int_equal(d->groups[0].bytes, 4800);
	for (unsigned int i = 0; i < 64; i++)
		assert_int_equal(d->mp[i], 0);
	to_demand_free(d);
	to_sub_ops_free(&s);

	/* parameters: all need all results, forth and back, and reduce with the other block */
	place(&s, m, 8, 2, true, 8);
	assert_true(s.memory[2] == 1200);
	d = demand_of(&s);
	assert_int_equal(d->n_groups, 4);
	assert_int_equal(d->groups[0].n_members, 2);
	assert_int_equal(d->groups[0].bytes, 1200);
	assert_int_equal(d->mp[0 * 8 + 3], 2 * 40 * 1000 / 4);
	assert_int_equal(d->mp[7 * 8 + 4], 2 * 40 * 1000 / 4);
	assert_int_equal(d->mp[0 * 8 + 4], 0);
	to_demand_free(d);
	to_sub_ops_free(&s);

	/* data parallelism */
	place(&s, m, 8, 8, false, 8);
	assert_int_equal(s.first[2], 2);
	d = demand_of(&s);
	assert_int_equal(d->groups[0].n_members, 8);
	to_demand_free(d);
	to_sub_ops_free(&s);
	to_dnn_model_free(m);
}

/* Four on servers of their own are two too far apart for who takes all. */
static void parents_are_relocated(void **state)
{
	struct to_dnn_model *m = model_of(
		OPERATOR("a", "0", "") ", " OPERATOR("b", "0", "") ", " OPERATOR("c", "0", "") ", "
		OPERATOR("d", "0", "") ", " OPERATOR("e", "0", TAKES("\"a\", \"b\", \"c\", \"d\"")));
	const struct to_sub_ops_setting setting = { .n_servers = 4, .blocks = 1, .samples = 10,
						    .quantum = QUANTUM, .reach = 2 };
	struct to_sub_ops s;

	(void)state;
	assert_int_equal(to_sub_ops_place(&s, m, &setting), 0);
	assert_int_equal(s.relocated, 2);
	assert_int_equal(s.server[0], 1);
	assert_int_equal(s.server[1], 1);
	assert_int_equal(s.server[2], 2);
	assert_int_equal(s.server[3], 2);
	assert_int_equal(s.server[4], 1);
	to_sub_ops_free(&s);
	to_dnn_model_free(m);
}

/* A chain that grows from one sub-op stays near it, and near that again. */
static void within_reach_of_parents(void **state)
{
	struct to_dnn_model *m = model_of(
		"{\"name\": \"a\", \"type\": \"dense\", \"flops\": 1, \"parameter_bytes\": 0, \"output_bytes\": 1}, "
		OPERATOR("b", "0", TAKES("\"a\"")) ", " OPERATOR("c", "0", TAKES("\"b\"")));
	struct to_sub_ops s;

	(void)state;
	place(&s, m, 16, 1, false, 4);
	assert_int_equal(s.first[1], 1);
	assert_int_equal(s.first[2] - s.first[1], 16);
	for (uint32_t i = s.first[1]; i < s.first[2]; i++)
		assert_true(s.server[i] <= s.server[0] + 3);
	for (uint32_t i = 0; i < 16; i++)
		assert_true(abs((int)s.server[s.first[2] + i] - (int)s.server[s.first[1] + i]) <= 3);
	assert_int_equal(s.relocated, 0);
	to_sub_ops_free(&s);
	to_dnn_model_free(m);
}

/* 12000 bytes have no room on one server of 10000, but half of them on each of two. */
static void parameters_need_room(void **state)
{
	struct to_dnn_model *m = model_of(OPERATOR("a", "6000", "") ", "
					  OPERATOR("b", "6000", TAKES("\"a\"")));
	const struct to_network_setting ports = { .servers = 4, .degree = 1,
						  .bandwidth = 100 * GBPS, .latency = 1e-6 };
	const struct to_shortest_options options = { .spread = TO_SPREAD_SPRAY };
	struct to_sub_ops_search search = { .model = m, .n_servers = 4, .quantum = QUANTUM };
	struct to_sub_ops_setting setting = { .n_servers = 4, .blocks = 4, .samples = 40,
					      .quantum = QUANTUM, .reach = 4 };
	struct to_error err = { "" };
	struct to_router *router = to_router_shortest(to_network_named("switch", &ports, &err),
						      &options, &err);
	struct to_simulator *simulator = to_simulator_on(router, &err);
	struct to_sub_ops s;

	(void)state;
	assert_non_null(simulator);
	assert_int_equal(to_sub_ops_place(&s, m, &setting), -ENOSPC);
	to_sub_ops_free(&s);
	assert_int_equal(to_sub_ops_find(&search, simulator, &s, &err), 0);
	assert_true(s.setting.blocks < 4);
	for (uint32_t x = 0; x < s.block; x++)
		assert_true(s.memory[x] <= 10000);
	to_sub_ops_free(&s);
	to_simulator_free(simulator);
	to_router_free(router);
	to_dnn_model_free(m);
}

/* s0 is free first, but has no room for "c"; s1 has. */
static void the_first_with_room(void **state)
{
	struct to_dnn_model *m = model_of(
		OPERATOR("a", "6000", "") ", "
		"{\"name\": \"b\", \"type\": \"dense\", \"flops\": 1900000, \"parameter_bytes\": 0, \"output_bytes\": 1}, "
		OPERATOR("c", "6000", TAKES("\"a\", \"b\"")));
	const struct to_sub_ops_setting setting = { .n_servers = 2, .blocks = 1, .samples = 10,
						    .quantum = QUANTUM, .reach = 2 };
	struct to_sub_ops s;

	(void)state;
	assert_int_equal(to_sub_ops_place(&s, m, &setting), 0);
	assert_int_equal(s.server[0], 0);
	assert_int_equal(s.server[1], 1);
	assert_int_equal(s.server[2], 1);
	to_sub_ops_free(&s);
	to_dnn_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(divided_by_the_quantum),
		cmocka_unit_test(parents_are_relocated),
		cmocka_unit_test(within_reach_of_parents),
		cmocka_unit_test(parameters_need_room),
		cmocka_unit_test(the_first_with_room),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
