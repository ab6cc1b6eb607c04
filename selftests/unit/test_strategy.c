// SPDX-License-Identifier: GPL-2.0-or-later
/* Models and strategies: what they send, by hand, and the search over them. */

#include <math.h>

#include "job.h"
#include "plan/parallelize.h"
#include "simulate/simulate.h"
#include "workload/proposal.h"

#define SERVERS 4

/*
 * formats/model.json: "top" (400 bytes of parameters) takes "left" (a table,
 * 40 bytes per sample) and "right" (200 bytes; 20 per sample), which takes
 * "below" (10 per sample). With 2 GPUs, 8 samples each, 4 servers: 64 samples.
 */
enum { TOP, LEFT, RIGHT, BELOW };

static struct to_dnn_model *load(const char *path)
{
	struct to_error err = { "" };
	struct to_dnn_model *model = to_dnn_model_load(path, &err);

	assert_string_equal(err.text, "");
	return model;
}

static void at(struct to_strategy *s, unsigned int op, uint32_t first, uint32_t step, uint32_t n,
	       bool sharded)
{
	s->at[op] = (struct to_placement){ first, step, n, sharded };
	assert_true(to_strategy_valid(s, op, &s->at[op]));
}

static struct to_demand *demand_of(const struct to_strategy *s)
{
	struct to_taskgraph tasks;
	struct to_error err = { "" };
	struct to_demand *demand;

	to_taskgraph_init(&tasks, s->n_servers);
	to_strategy_tasks(s, &tasks, &err);
	assert_string_equal(err.text, "");
	demand = to_taskgraph_demand(&tasks);
	assert_non_null(demand);
	to_taskgraph_free(&tasks);
	return demand;
}

/* The transfers of @s are @mp, n x n; its groups reduce @groups, ends with 0. */
static void sends(const struct to_strategy *s, const uint64_t *mp, const uint64_t *groups)
{
	struct to_demand *d = demand_of(s);
	unsigned int i;

	for (i = 0; i < SERVERS * SERVERS; i++)
		if (d->mp[i] != mp[i])
			fail_msg("%u to %u: %llu bytes instead of %llu", i / SERVERS, i % SERVERS,
				 (unsigned long long)d->mp[i], (unsigned long long)mp[i]);
	for (i = 0; groups[i]; i++) {
		assert_true(i < d->n_groups);
		assert_int_equal(d->groups[i].bytes, groups[i]);
	}
	assert_int_equal(d->n_groups, i);
	to_demand_free(d);
}

static void sends_what_was_computed_by_hand(void **state)
{
	struct to_dnn_model *m = load("selftests/unit/formats/model.json");
	struct to_strategy *s = to_strategy_new(m, SERVERS, 0);

	(void)state;
	assert_int_equal(s->samples, 64);

	/* one group for all; nothing else leaves a server */
	sends(s, (uint64_t[16]){ 0 }, (uint64_t[]){ 400 + 4000 + 200, 0 });

	/* the table on server 1: 16 samples of 40 bytes to each, and back */
	to_strategy_place_tables(s);
	assert_int_equal(s->at[LEFT].first, 0);
	at(s, LEFT, 1, 1, 1, false);
	sends(s, (uint64_t[]){ 0, 640, 0, 0,
			       640, 0, 640, 640,
			       0, 640, 0, 0,
			       0, 640, 0, 0 }, (uint64_t[]){ 600, 0 });

	/* half a row each on 0 and 1 */
	at(s, LEFT, 0, 1, 2, true);
	sends(s, (uint64_t[]){ 0, 640, 320, 320,
			       640, 0, 320, 320,
			       320, 320, 0, 0,
			       320, 320, 0, 0 }, (uint64_t[]){ 600, 0 });

	/* 0 and 2 compute half of the samples each: 1 and 3 get theirs from them */
	at(s, LEFT, 0, 2, 2, false);
	sends(s, (uint64_t[]){ 0, 640, 0, 0,
			       640, 0, 0, 0,
			       0, 0, 0, 640,
			       0, 0, 640, 0 }, (uint64_t[]){ 600, 4000, 0 });

	/* top divided on 0 and 1, which need all of the rows and of right */
	at(s, LEFT, 0, 1, 2, true);
	at(s, RIGHT, 3, 1, 1, false);
	at(s, BELOW, 3, 1, 1, false);
	at(s, TOP, 0, 1, 2, true);
	sends(s, (uint64_t[]){ 0, 2 * 64 * 20, 0, 64 * 20,
			       2 * 64 * 20, 0, 0, 64 * 20,
			       0, 0, 0, 0,
			       64 * 20, 64 * 20, 0, 0 }, (uint64_t[]){ 0 });

	/* two inputs from one server, each once */
	m->operators[RIGHT].n_inputs = 0;
	at(s, LEFT, 3, 1, 1, false);
	at(s, TOP, 0, 1, 4, false);
	sends(s, (uint64_t[]){ 0, 0, 0, 960,
			       0, 0, 0, 960,
			       0, 0, 0, 960,
			       960, 960, 960, 0 }, (uint64_t[]){ 400, 0 });

	to_strategy_free(s);
	to_dnn_model_free(m);
}

static void computes_by_a_roofline(void **state)
{
	struct to_dnn_model *m = load("selftests/unit/formats/model.json");

	(void)state;
	/* arithmetic: 6400 operations at half of 10^12/s on two GPUs */
	assert_true(fabs(to_dnn_model_seconds(m, RIGHT, 64, 1) - 6.4e-9) < 1e-15);
	/* memory: each row is read and written */
	assert_true(fabs(to_dnn_model_seconds(m, LEFT, 64, 1) - 2.56e-9) < 1e-15);
	assert_true(fabs(to_dnn_model_seconds(m, LEFT, 64, .5) - 1.28e-9) < 1e-15);
	/* without arithmetic: result, parameters once per GPU, input */
	m->operators[RIGHT].flops = 0;
	assert_true(fabs(to_dnn_model_seconds(m, RIGHT, 64, 1) - 1.16e-9) < 1e-15);
	to_dnn_model_free(m);
}

static void memory_is_counted(void **state)
{
	struct to_dnn_model *m = load("selftests/unit/formats/model.json");
	struct to_strategy *s = to_strategy_new(m, SERVERS, 0);
	double bytes[SERVERS];

	(void)state;
	assert_true(to_strategy_memory(s, bytes) == 4600);
	at(s, LEFT, 1, 2, 2, true);
	assert_true(to_strategy_memory(s, bytes) == 2600);
	assert_true(bytes[0] == 600 && bytes[1] == 2600);
	m->device.memory_bytes = 1300;
	assert_true(to_strategy_fits(s, bytes));
	m->device.memory_bytes = 1299;
	assert_false(to_strategy_fits(s, bytes));
	to_strategy_free(s);
	to_dnn_model_free(m);
}

static void refuses_placements(void **state)
{
	static const struct to_placement wrong[] = {
		{ 0, 1, 0, false },	/* nowhere */
		{ 0, 1, 5, false },	/* on more servers than there are */
		{ 4, 1, 1, false },
		{ 2, 2, 2, false },
		{ 0, 0, 2, false },	/* twice on one */
		{ 0, 1, 1, true },	/* in one part */
	};
	struct to_dnn_model *m = load("selftests/unit/formats/model.json");
	struct to_strategy *s = to_strategy_new(m, SERVERS, 0);
	struct to_placement p = { 0, 1, 4, true };

	(void)state;
	for (unsigned int i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_false(to_strategy_valid(s, TOP, &wrong[i]));
	assert_true(to_strategy_valid(s, TOP, &p));
	assert_false(to_strategy_valid(s, BELOW, &p));	/* nothing to divide */
	to_strategy_free(s);
	to_dnn_model_free(m);
}

static void prints_which_servers(void **state)
{
	struct to_dnn_model *m = load("selftests/unit/formats/model.json");
	struct to_strategy *s = to_strategy_new(m, 12, 0);
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	assert_non_null(out);
	at(s, TOP, 1, 2, 4, false);
	at(s, LEFT, 3, 1, 1, false);
	at(s, RIGHT, 0, 2, 5, false);
	at(s, BELOW, 2, 4, 3, false);
	to_strategy_print(out, s);
	fclose(out);
	assert_string_equal(text,
			    "  top: replicated on servers 1 to 7 (odd)\n"
			    "  left: placed on server 3\n"
			    "  right: replicated on servers 0 to 8 (even)\n"
			    "  below: replicated on servers 2 to 10 in steps of 4\n");
	free(text);
	to_strategy_free(s);
	to_dnn_model_free(m);
}

static const char *const models[] = {
	"examples/models/dlrm.json", "examples/models/candle.json", "examples/models/bert.json",
	"examples/models/vgg16.json", "examples/models/resnet50.json",
};

#define MODELS (sizeof(models) / sizeof(*models))

static void moves_keep_strategies_valid(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (unsigned int i = 0; i < MODELS; i++) {
		for (uint32_t n = 2; n < 40; n += 1 + n / 3) {
			struct to_dnn_model *m = load(models[i]);
			struct to_strategy *s = to_strategy_new(m, n, 0);
			struct to_proposals moves;
			unsigned int kinds = 0;

			assert_int_equal(to_proposals_init(&moves, m, n), 0);
			for (unsigned int k = 0; k < 500; k++) {
				to_propose(&moves, s, &random);
				for (uint32_t op = 0; op < m->n_operators; op++) {
					assert_true(to_strategy_valid(s, op, &s->at[op]));
					kinds |= s->at[op].n == 1 ? 1 : s->at[op].sharded ? 2 : 4;
				}
			}
			assert_int_equal(kinds, 7);
			to_proposals_free(&moves);
			to_strategy_free(s);
			to_dnn_model_free(m);
		}
	}
}

/* The gradients of the last layers are reduced while the first are computed. */
static void allreduce_overlaps_with_the_backward_pass(void **state)
{
	struct to_dnn_model *m = load("examples/models/vgg16.json");
	struct to_strategy *s = to_strategy_new(m, 8, 0);
	const struct to_simulation *run;
	struct to_simulator *simulator;
	struct to_taskgraph tasks;
	struct to_error err = { "" };
	struct to_plan *plan;
	double first = 1e9, last = 0;

	(void)state;
	plan = job_plan(demand_of(s), 4, TO_LINKS_DUPLEX, &err);
	to_taskgraph_init(&tasks, 8);
	assert_int_equal(to_strategy_tasks(s, &tasks, &err), 0);
	simulator = to_simulator_new(plan, &err);
	run = to_simulate(simulator, &tasks, TO_SIMULATE_TASKS, &err);
	assert_string_equal(err.text, "");
	for (uint32_t t = 0; t < tasks.n_tasks; t++) {
		if (tasks.tasks[t].kind == TO_TASK_ALLREDUCE)
			first = fmin(first, run->finish[t]);
		else
			last = fmax(last, run->finish[t]);
	}
	assert_true(first < last);
	to_simulator_free(simulator);
	to_taskgraph_free(&tasks);
	to_plan_free(plan);
	to_strategy_free(s);
	to_dnn_model_free(m);
}

static void compare(const char *path, unsigned int budget, uint64_t seed)
{
	const struct to_parallelize_options options = { .degree = 4, .budget = budget,
							.seed = seed };
	struct to_dnn_model *m = load(path);
	struct to_error err = { "" };
	struct to_cluster *c = to_cluster_synthetic(8, 4, 100 * GBPS, TO_LINKS_DUPLEX, &err);
	struct to_parallelized found;
	const struct to_choice *ours = &found.by[TO_APPROACH_SEARCH];

	to_parallelize(m, c, 8, &options, &found, &err);
	assert_string_equal(err.text, "");
	assert_true(ours->fits);
	for (unsigned int k = 0; k < TO_APPROACHES; k++) {
		assert_true(found.by[k].bound <= found.by[k].time * (1 + 1e-9));
		assert_true(!found.by[k].fits || ours->time <= found.by[k].time);
	}
	job_verify(ours->plan);
	to_parallelized_free(&found);
	to_cluster_free(c);
	to_dnn_model_free(m);
}

static void is_never_behind_what_others_do(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < MODELS; i++)
		compare(models[i], 40, 1);
	/* also when it has no time to find what they find */
	for (uint64_t seed = 1; seed <= 5; seed++)
		compare(models[1], 16, seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sends_what_was_computed_by_hand),
		cmocka_unit_test(computes_by_a_roofline),
		cmocka_unit_test(memory_is_counted),
		cmocka_unit_test(refuses_placements),
		cmocka_unit_test(prints_which_servers),
		cmocka_unit_test(moves_keep_strategies_valid),
		cmocka_unit_test(allreduce_overlaps_with_the_backward_pass),
		cmocka_unit_test(is_never_behind_what_others_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
