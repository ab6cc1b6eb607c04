// SPDX-License-Identifier: GPL-2.0-or-later
/* A strategy for a network: what need not be simulated makes no difference. */

#include "job.h"
#include "simulate/bound.h"
#include "simulate/router_named.h"
#include "workload/proposal.h"
#include "workload/strategy_search.h"

static char *find(const struct to_dnn_model *model, const char *fabric, bool bounded, uint64_t seed,
		  uint64_t *events)
{
	const struct to_network_setting setting = { .servers = 16, .degree = 4,
						    .bandwidth = 25 * GBPS, .latency = 1e-6 };
	const struct to_shortest_options options = { .spread = to_fabric_spread(fabric),
						     .algorithm = to_fabric_algorithm(fabric),
						     .seed = 1, .delays = { .link = 1e-6 } };
	const struct to_strategy_search search = { .model = model, .n_servers = 16, .budget = 60,
						   .seed = seed, .bounded = bounded };
	struct to_error err = { "" };
	struct to_router *router = to_router_named(fabric, &setting, &options, &err);
	struct to_simulator *s = router ? to_simulator_on(router, &err) : NULL;
	struct to_strategy *found = s ? to_strategy_find(&search, s, &err) : NULL;
	struct to_taskgraph g;
	json_t *json;
	char *text;

	assert_string_equal(err.text, "");
	assert_non_null(found);
	json = to_strategy_json(found);
	text = json_dumps(json, 0);
	assert_non_null(text);
	json_decref(json);
	to_taskgraph_init(&g, 16);
	assert_int_equal(to_strategy_tasks(found, &g, &err), 0);
	*events = to_simulate(s, &g, TO_SIMULATE_TASKS, &err)->events;
	to_taskgraph_free(&g);
	to_strategy_free(found);
	to_simulator_free(s);
	to_router_free(router);
	return text;
}

static void bounds_change_nothing(void **state)
{
	static const char *const models[] = { "dlrm", "bert", "candle" };
	static const char *const fabrics[] = { "switch", "expander", "rail:4", "fat-tree:4",
					       "fat-tree:4,oversub=2" };

	(void)state;
	for (unsigned int m = 0; m < sizeof(models) / sizeof(*models); m++) {
		struct to_error err = { "" };
		char path[64];
		struct to_dnn_model *model;

		snprintf(path, sizeof(path), "examples/models/%s.json", models[m]);
		model = to_dnn_model_load(path, &err);
		assert_string_equal(err.text, "");
		for (unsigned int f = 0; f < sizeof(fabrics) / sizeof(*fabrics); f++) {
			uint64_t events[2];
			char *all = find(model, fabrics[f], false, m + f, &events[0]);
			char *bounded = find(model, fabrics[f], true, m + f, &events[1]);

			assert_string_equal(all, bounded);
			assert_int_equal(events[0], events[1]);
			free(all);
			free(bounded);
		}
		to_dnn_model_free(model);
	}
}

/*
 * The first operators on one server, the others on the next: each waits for the other, there
 * and back, and what crosses takes a NIC each way.
 */
static void bert_in_two_stages(void **state)
{
	struct to_error err = { "" };
	struct to_dnn_model *model = to_dnn_model_load("examples/models/bert.json", &err);
	const struct to_network_setting setting = { .servers = 2, .degree = 1, .latency = 3e-6,
						    .bandwidth = 40 * GBPS };
	const struct to_shortest_options options = { .spread = TO_SPREAD_SPRAY,
						     .delays = { .step = 7e-6 } };
	struct to_router *router = to_router_named("switch", &setting, &options, &err);
	struct to_simulator *s = router ? to_simulator_on(router, &err) : NULL;
	struct to_strategy *strategy = to_strategy_new(model, 2, 0);
	const double samples = 2. * 4 * 16;
	const struct to_simulation *r;
	struct to_taskgraph g;
	double time = 0, crossing = 0;

	(void)state;
	assert_string_equal(err.text, "");
	assert_non_null(strategy);
	assert_true(strategy->samples == samples);
	for (uint32_t k = 0; k < model->n_operators; k++) {
		const struct to_operator *o = &model->operators[k];

		assert_int_equal(o->n_inputs, k ? 1 : 0);
		strategy->at[k] = (struct to_placement){ .first = k >= 14, .step = 1, .n = 1 };
		time += (1 + model->backward) * to_dnn_model_seconds(model, k, samples, 1);
		if (k == 14)
			crossing = samples * model->operators[o->inputs[0]].output_bytes;
	}
	/* 128 sequences of 64 tokens of 1024 numbers of 4 bytes */
	assert_true(crossing == 128. * 64 * 1024 * 4);
	time += 2 * (crossing * 8 / 40e9 + 2 * 3e-6 + 7e-6);
	to_taskgraph_init(&g, 2);
	assert_int_equal(to_strategy_tasks(strategy, &g, &err), 0);
	r = to_simulate(s, &g, TO_SIMULATE_TRANSFERS, &err);
	assert_non_null(r);
	if (r->time / time > 1 + 1e-9 || r->time / time < 1 - 1e-9)
		fail_msg("%.12g instead of %.12g", r->time, time);
	to_taskgraph_free(&g);
	to_strategy_free(strategy);
	to_simulator_free(s);
	to_router_free(router);
	to_dnn_model_free(model);
}

/* No strategy is faster than its bound. */
static void nothing_is_faster(void **state)
{
	struct to_error err = { "" };
	struct to_dnn_model *model = to_dnn_model_load("examples/models/dlrm.json", &err);
	const struct to_network_setting setting = { .servers = 8, .degree = 2,
						    .bandwidth = 10 * GBPS };
	const struct to_shortest_options options = { .spread = TO_SPREAD_SPRAY };
	struct to_router *router = to_router_named("switch", &setting, &options, &err);
	struct to_simulator *s = router ? to_simulator_on(router, &err) : NULL;
	struct to_strategy *strategy = to_strategy_new(model, 8, 0);
	struct to_proposals proposals;
	struct to_taskgraph g;
	struct to_bound bound;
	uint64_t random = 3;

	(void)state;
	assert_string_equal(err.text, "");
	assert_non_null(strategy);
	assert_int_equal(to_proposals_init(&proposals, model, 8), 0);
	assert_int_equal(to_bound_init_network(&bound, router->network), 0);
	assert_true(bound.sends_at[3] == 2.5e9);
	to_taskgraph_init(&g, 8);
	for (unsigned int i = 0; i < 100; i++) {
		to_propose(&proposals, strategy, &random);
		to_taskgraph_clear(&g);
		assert_int_equal(to_strategy_tasks(strategy, &g, &err), 0);
		for (int detail = TO_SIMULATE_TASKS; detail <= TO_SIMULATE_TRANSFERS; detail++)
			assert_true(to_simulate(s, &g, detail, &err)->time >=
				    to_bound_time(&bound, &g) * (1 - 1e-9));
	}
	to_bound_free(&bound);
	to_taskgraph_free(&g);
	to_proposals_free(&proposals);
	to_strategy_free(strategy);
	to_simulator_free(s);
	to_router_free(router);
	to_dnn_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounds_change_nothing),
		cmocka_unit_test(bert_in_two_stages),
		cmocka_unit_test(nothing_is_faster),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
