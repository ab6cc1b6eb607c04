// SPDX-License-Identifier: GPL-2.0-or-later
/* An iteration on a network of dimensions: by hand. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "workload/rank_iteration.h"

#define G 1000000000ull

/* 1 s of computing forth and 2 s back for each GFLOP; memory takes no time. */
#define MODEL(operators) \
	"{\"format\": \"topoopt-model\", \"version\": 1, \"name\": \"m\", \"batch_per_gpu\": 1," \
	"\"device\": {\"gpus\": 1, \"flops\": 1e9, \"efficiency\": 1, \"memory_bandwidth\": 1e30," \
	" \"memory_bytes\": 10000000000}, \"operators\": [" operators "]}"

static struct to_dnn_model *model_of(const char *text)
{
	struct to_error err = { "" };
	struct to_dnn_model *model = to_dnn_model_parse(text, strlen(text), "model", &err);

	if (!model)
		fail_msg("%s", err.text);
	return model;
}

/* Two direct dimensions of 4 and 2 ranks, 8 and 4 Gbit/s, no latency: 1 and 0.5 GB/s. */
static struct to_rank_setting setting_of(const struct to_dnn_model *model, enum to_rank_policy policy)
{
	return (struct to_rank_setting){
		.model = model, .divided = 1, .policy = policy, .order = TO_CHUNK_SCF,
		.chunks = { .n_chunks = 1 },
		.network = { .n = 2, .ranks = 8, .list = {
			{ TO_DIMENSION_DIRECT, 4, 8 * G, 0 }, { TO_DIMENSION_DIRECT, 2, 4 * G, 0 } } } };
}

static struct to_rank_iteration run(const struct to_rank_setting *setting)
{
	struct to_rank_iteration iteration;
	struct to_error err = { "" };

	if (to_rank_iteration(setting, &iteration, &err))
		fail_msg("%s", err.text);
	return iteration;
}

static void assert_near(double got, double expected)
{
	if (!(got > expected * (1 - 1e-9) - 1e-12 && got < expected * (1 + 1e-9) + 1e-12))
		fail_msg("%.12g instead of %.12g", got, expected);
}

/* 4 GB of gradients in one chunk: 3/4 of it inside, 1/2 of a quarter outside, and back. */
static void test_data_parallel(void **state)
{
	struct to_dnn_model *model = model_of(MODEL(
		"{\"name\": \"a\", \"type\": \"other\", \"flops\": 1000000000, \"parameter_bytes\": 4000000000, \"output_bytes\": 8}"));
	struct to_rank_setting setting = setting_of(model, TO_RANK_BASELINE);
	struct to_rank_iteration i = run(&setting);

	(void)state;
	assert_near(i.computing, 3);
	assert_near(i.gradients, 2 * (3 + 1));
	assert_near(i.results, 0);
	assert_near(i.time, 11);
	assert_near(i.used, 7.0 * 8 / (12 * 8));
	setting.policy = TO_RANK_IDEAL;
	i = run(&setting);
	assert_near(i.gradients, 7 / 1.5);
	assert_near(i.used, 1);
	/* many chunks that begin in either dimension */
	setting.policy = TO_RANK_THEMIS;
	setting.chunks.n_chunks = 64;
	i = run(&setting);
	assert_true(i.gradients >= 7 / 1.5 && i.gradients < 1.1 * 7 / 1.5);
	setting.batch = 5;
	assert_near(run(&setting).computing, 15);
	to_dnn_model_free(model);
}

/* Of two dense operators, four ranks have a quarter each: results of 1 GB are reduced inside. */
static void test_model_parallel(void **state)
{
	struct to_dnn_model *model = model_of(MODEL(
		"{\"name\": \"a\", \"type\": \"dense\", \"flops\": 4000000000, \"parameter_bytes\": 4000000000, \"output_bytes\": 1000000000},"
		"{\"name\": \"b\", \"type\": \"attention\", \"flops\": 4000000000, \"parameter_bytes\": 4000000000, \"output_bytes\": 1000000000, \"inputs\": [\"a\"]}"));
	struct to_rank_setting setting = setting_of(model, TO_RANK_BASELINE);
	struct to_rank_iteration i;

	(void)state;
	setting.divided = 4;
	i = run(&setting);
	assert_near(i.computing, 2 * 3);
	/* 1.5 GB at 1 GB/s, for two results and the gradient of one's inputs */
	assert_near(i.results, 3 * 1.5);
	/* 2 GB of gradients outside, 1 GB there and back at 0.5 GB/s */
	assert_near(i.gradient_bytes, 2e9);
	assert_near(i.gradients, 4);
	setting.recompute = true;
	i = run(&setting);
	assert_near(i.computing, 2 * 4);
	assert_near(i.results, 5 * 1.5);
	/* half of a direct dimension: ranks in twos, at its bandwidth */
	setting.recompute = false;
	setting.divided = 2;
	i = run(&setting);
	assert_near(i.results, 3 * 1.0);
	setting.divided = 8;
	i = run(&setting);
	assert_near(i.gradients, 0);
	to_dnn_model_free(model);
}

/* A table's rows of 4 GB a rank go all to all while an operator computes that takes none. */
static void test_tables(void **state)
{
	struct to_dnn_model *model = model_of(MODEL(
		"{\"name\": \"t\", \"type\": \"embedding\", \"flops\": 0, \"parameter_bytes\": 80000000000, \"output_bytes\": 4000000000},"
		"{\"name\": \"bottom\", \"type\": \"dense\", \"flops\": 1000000000, \"parameter_bytes\": 0, \"output_bytes\": 8},"
		"{\"name\": \"top\", \"type\": \"dense\", \"flops\": 1000000000, \"parameter_bytes\": 0, \"output_bytes\": 8, \"inputs\": [\"bottom\", \"t\"]}"));
	struct to_rank_setting setting = setting_of(model, TO_RANK_BASELINE);
	struct to_rank_iteration i;
	struct to_error err = { "" };

	(void)state;
	/* 80 GB of it have no room on one rank */
	assert_int_equal(to_rank_iteration(&setting, &i, &err), -ENOSPC);
	assert_non_null(strstr(err.text, "no room"));
	setting.tables = true;
	i = run(&setting);
	assert_near(i.computing, 6);
	/* 4 s through the outer one; bottom computes 1 s of that forth and 2 s back */
	assert_near(i.results, 3 + 2);
	assert_near(i.gradients, 0);
	/* a ring of 4 passes each byte over one link in the mean */
	setting.network.list[0] = (struct to_dimension){ TO_DIMENSION_RING, 4, G, 0 };
	assert_near(run(&setting).results, 31 + 30);
	to_dnn_model_free(model);
}

static void test_divide(void **state)
{
	const struct to_dimensions dims = { .n = 3, .ranks = 128, .list = {
		{ TO_DIMENSION_RING, 4, 8, 1 }, { TO_DIMENSION_SWITCH, 16, 4, 2 },
		{ TO_DIMENSION_DIRECT, 2, 2, 3 } } };
	static const struct { unsigned int ranks; const char *refused; } cases[] = {
		{ 2, "no whole dimensions" }, { 12, "no whole dimensions" }, { 24, "no whole dimensions" },
		{ 256, "there are only 128 ranks" }, { 1, NULL }, { 4, NULL }, { 8, NULL }, { 64, NULL },
		{ 128, NULL } };
	struct to_dimensions inner, outer;
	struct to_error err;

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const int ret = to_dimensions_divide(&dims, cases[i].ranks, &inner, &outer, &err);

		assert_int_equal(ret, cases[i].refused ? -EINVAL : 0);
		if (ret)
			assert_non_null(strstr(err.text, cases[i].refused));
		else
			assert_int_equal(inner.ranks, cases[i].ranks);
		if (!ret)
			assert_int_equal(inner.ranks * outer.ranks, 128);
	}
	assert_int_equal(to_dimensions_divide(&dims, 8, &inner, &outer, &err), 0);
	assert_int_equal(inner.n, 2);
	assert_int_equal(inner.list[1].size, 2);
	assert_int_equal(outer.list[0].size, 8);
	assert_int_equal(outer.list[0].bandwidth, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_data_parallel),
		cmocka_unit_test(test_model_parallel),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_divide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
