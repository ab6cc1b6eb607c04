// SPDX-License-Identifier: GPL-2.0-or-later
#include "study/mix_study.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "study/job_setting.h"
#include "workload/strategy_search.h"

static bool mix_in_shards(const struct to_mix_study *s)
{
	return !strcmp(s->setting.fabric, "topoopt");
}

static const char *mix_allocation(const struct to_mix_study *s)
{
	return s->setting.random ? "random" : "packed";
}

/* Tell the caller what is done of the step that runs; not 0 when the caller wants to end. */
static int mix_search_watch(void *data, unsigned int done, unsigned int all)
{
	const struct to_mix_study *s = data;

	return s->setting.watch ? s->setting.watch(s->setting.data,
						   s->step * 1000 + done * 1000ull / all,
						   s->steps * 1000) : 0;
}

static void mix_plan_watch(void *data, unsigned int done, unsigned int all)
{
	mix_search_watch(data, done, all);
}

static int mix_run_watch(void *data, double done)
{
	return mix_search_watch(data, done * 1000, 1000);
}

int to_mix_study_add(struct to_mix_study *s, const char *path, double share, struct to_error *err)
{
	struct to_mix_model *m = &s->models[s->n_models];

	m->model = to_dnn_model_load(path, err);
	if (!m->model)
		return -EINVAL;
	m->share = share;
	s->n_models++;
	return 0;
}

/* ---- one job ---- */

static struct to_shortest_options mix_shortest(const struct to_mix_study *s)
{
	const struct to_mix_setting *setting = &s->setting;

	return (struct to_shortest_options){
		.spread = setting->routing != TO_STUDY_UNSAID ? (enum to_spread)setting->routing :
							    to_fabric_spread(setting->fabric),
		.algorithm = setting->algorithm != TO_STUDY_UNSAID ? (enum to_algorithm)setting->algorithm :
								  to_fabric_algorithm(setting->fabric),
		.seed = setting->seed, .delays = s->setting.delays };
}

static struct to_router *mix_router(struct to_mix_study *s, const char *fabric, uint32_t servers,
					unsigned int degree, uint64_t bandwidth, struct to_error *err)
{
	const struct to_network_setting setting = {
		.servers = servers, .degree = degree, .bandwidth = bandwidth,
		.latency = s->setting.delays.link, .prices = s->prices };
	const struct to_shortest_options options = mix_shortest(s);
	struct to_error why = { "" };
	struct to_router *router = to_router_named(fabric, &setting, &options, &why);

	if (!router)
		to_error_set(err, -EINVAL, "--fabric: %.480s", why.text);
	return router;
}

/* Make the fabric of all servers. */
static struct to_router *mix_whole(struct to_mix_study *s, struct to_error *err)
{
	return mix_router(s, s->setting.fabric, s->setting.servers, s->setting.degree,
			  s->setting.bandwidth, err);
}

/*
 * Make the fabric of one job's servers. In the place of cost-equivalent, a full tree has the
 * speed that the price of all servers buys.
 */
static struct to_router *mix_part(struct to_mix_study *s, const struct to_network *whole,
				  struct to_error *err)
{
	const struct to_mix_setting *setting = &s->setting;

	if (strcmp(setting->fabric, "cost-equivalent"))
		return mix_router(s, setting->fabric, setting->job_servers, setting->degree,
				  setting->bandwidth, err);
	return mix_router(s, "ideal", setting->job_servers, 1, whole->links[0].capacity * 8, err);
}

static int mix_parallelize(struct to_mix_study *s, struct to_mix_model *m, struct to_error *err)
{
	const struct to_mix_setting *setting = &s->setting;
	const struct to_parallelize_options options = {
		.degree = setting->degree, .budget = setting->budget, .seed = setting->seed,
		.progress = mix_plan_watch, .data = s };
	struct to_cluster *cluster = to_cluster_synthetic(setting->job_servers, setting->degree,
							  setting->bandwidth, TO_LINKS_DUPLEX,
							  err);
	int ret = cluster ? to_parallelize(m->model, cluster, setting->job_servers, &options, &m->found,
					   err) : -EINVAL;

	to_cluster_free(cluster);
	return ret;
}

/* Find the model's strategy, and what an iteration takes without other jobs. */
static int mix_model(struct to_mix_study *s, struct to_mix_model *m,
		     const struct to_network *whole, struct to_error *err)
{
	const struct to_strategy_search search = {
		.model = m->model, .n_servers = s->setting.job_servers, .budget = s->setting.budget,
		.seed = s->setting.seed,
		.bounded = mix_shortest(s).algorithm <= TO_ALGORITHM_RING_BOTH_WAYS,
		.progress = mix_search_watch, .data = s };
	struct to_router *router = NULL;
	struct to_simulator *simulator;
	const struct to_simulation *run = NULL;
	int ret = mix_in_shards(s) ? mix_parallelize(s, m, err) : 0;

	if (ret)
		return ret;
	router = mix_in_shards(s) ? to_router_of_plan(m->found.by[TO_APPROACH_SEARCH].plan, &s->setting.delays,
						err) : mix_part(s, whole, err);
	simulator = router ? to_simulator_on(router, err) : NULL;
	if (simulator && !mix_in_shards(s))
		m->strategy = to_strategy_find(&search, simulator, err);
	s->step++;
	if (simulator && (mix_in_shards(s) || m->strategy)) {
		to_taskgraph_init(&m->tasks, s->setting.job_servers);
		if (!to_strategy_tasks(mix_in_shards(s) ? m->found.by[TO_APPROACH_SEARCH].strategy : m->strategy,
				       &m->tasks, err))
			run = to_simulate(simulator, &m->tasks, TO_SIMULATE_TRANSFERS, err);
	}
	m->alone = run ? run->time : 0;
	to_simulator_free(simulator);
	to_router_free(router);
	s->step++;
	return run ? 0 : -EINVAL;
}

/* ---- all of them ---- */

/* Fill in a point of shards: no job meets another's packets. */
static int mix_shards(struct to_mix_study *s, struct to_mix_point *point, struct to_error *err)
{
	point->samples = calloc(s->n_models, sizeof(*point->samples));
	if (!point->samples)
		return to_error_set(err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < s->n_models; i++)
		if (point->counts[i])
			point->samples[point->n++] = (struct to_mix_sample){
				.kind = i, .seconds = s->models[i].alone, .weight = point->counts[i] };
	return 0;
}

static int mix_together(struct to_mix_study *s, struct to_mix_point *point, struct to_error *err)
{
	struct to_mix_kind kinds[TO_MIX_MODELS_MAX];
	const struct to_mix mix = {
		.kinds = kinds, .n_kinds = s->n_models, .job_servers = s->setting.job_servers,
		.iterations = s->setting.iterations, .random = s->setting.random,
		.seed = s->setting.seed };
	struct to_router *router = mix_whole(s, err);
	struct to_simulator *simulator = router ? to_simulator_on(router, err) : NULL;
	int ret = -EINVAL;

	for (uint32_t i = 0; i < s->n_models; i++)
		kinds[i] = (struct to_mix_kind){ &s->models[i].tasks, s->models[i].alone, point->counts[i] };
	if (simulator) {
		to_simulator_watch(simulator, mix_run_watch, s);
		ret = to_mix_run(simulator, &mix, &point->samples, &point->n, err);
	}
	to_simulator_free(simulator);
	to_router_free(router);
	s->step++;
	return ret;
}

static int mix_points(struct to_mix_study *s, struct to_error *err)
{
	double shares[TO_MIX_MODELS_MAX];
	int ret = 0;

	for (uint32_t i = 0; i < s->n_models; i++)
		shares[i] = s->models[i].share;
	for (uint32_t i = 0; i < s->n_points && !ret; i++) {
		to_mix_counts(shares, s->n_models, s->points[i].jobs, s->points[i].counts);
		ret = mix_in_shards(s) ? mix_shards(s, &s->points[i], err) :
					 mix_together(s, &s->points[i], err);
	}
	return ret;
}

int to_mix_study_run(struct to_mix_study *s, struct to_error *err)
{
	const char *prices = s->setting.prices;
	struct to_router *whole = NULL;
	int ret = 0;

	s->prices = prices ? to_prices_load(prices, err) : to_prices_default();
	if (!s->prices)
		return prices ? -EINVAL : to_error_set(err, -ENOMEM, "out of memory");
	s->steps = 2 * s->n_models + (mix_in_shards(s) ? 0 : s->n_points);
	if (!mix_in_shards(s)) {
		whole = mix_whole(s, err);
		ret = whole ? 0 : -EINVAL;
	}
	for (uint32_t i = 0; i < s->n_models && !ret; i++)
		ret = mix_model(s, &s->models[i], whole ? whole->network : NULL, err);
	to_router_free(whole);
	return ret ? ret : mix_points(s, err);
}

void to_mix_study_free(struct to_mix_study *s)
{
	for (uint32_t i = 0; i < s->n_models; i++) {
		to_taskgraph_free(&s->models[i].tasks);
		to_strategy_free(s->models[i].strategy);
		to_parallelized_free(&s->models[i].found);
		to_dnn_model_free(s->models[i].model);
	}
	for (uint32_t i = 0; i < s->n_points; i++)
		free(s->points[i].samples);
	free(s->points);
	to_prices_free(s->prices);
}

/* ---- results ---- */

void to_mix_study_print(const struct to_mix_study *s)
{
	const struct to_mix_setting *setting = &s->setting;
	char text[3][16];

	printf("%s: %llu servers of %llu x %.4g Gbit/s, jobs of %llu, %s\n", setting->fabric,
	       (unsigned long long)setting->servers, (unsigned long long)setting->degree,
	       setting->bandwidth / 1e9, (unsigned long long)setting->job_servers,
	       mix_in_shards(s) ? "shards" : mix_allocation(s));
	for (uint32_t i = 0; i < s->n_models; i++)
		printf("  %-10s %s alone\n", s->models[i].model->name,
		       to_seconds_text(s->models[i].alone, text[0]));
	for (uint32_t i = 0; i < s->n_points; i++) {
		const struct to_mix_point *p = &s->points[i];
		const struct to_mix_times t = to_mix_times(p->samples, p->n, UINT32_MAX);

		printf("  %u jobs, %.0f %% load: iteration mean %s, 99th percentile %s, longest %s\n",
		       p->jobs, 100.0 * p->jobs * setting->job_servers / setting->servers,
		       to_seconds_text(t.mean, text[0]), to_seconds_text(t.p99, text[1]),
		       to_seconds_text(t.max, text[2]));
	}
}

static json_t *mix_times_json(struct to_mix_times t)
{
	return json_pack("{s:f s:f s:f}", "mean", t.mean, "p99", t.p99, "max", t.max);
}

static json_t *mix_point_json(const struct to_mix_study *s, const struct to_mix_point *p)
{
	json_t *models = json_array();

	for (uint32_t i = 0; i < s->n_models; i++)
		json_array_append_new(models, json_pack(
			"{s:s s:i s:o}", "name", s->models[i].model->name, "jobs", p->counts[i],
			"iteration_time_s", p->counts[i] ?
			mix_times_json(to_mix_times(p->samples, p->n, i)) : json_null()));
	return json_pack("{s:i s:f s:i s:o s:o}", "jobs", p->jobs,
			 "load", (double)p->jobs * s->setting.job_servers / s->setting.servers,
			 "iterations", p->n, "iteration_time_s",
			 mix_times_json(to_mix_times(p->samples, p->n, UINT32_MAX)),
			 "models", models);
}

json_t *to_mix_study_json(const struct to_mix_study *s)
{
	const struct to_mix_setting *setting = &s->setting;
	const struct to_shortest_options shortest = mix_shortest(s);
	json_t *models = json_array(), *points = json_array();

	for (uint32_t i = 0; i < s->n_models; i++)
		json_array_append_new(models, json_pack("{s:s s:f s:f}", "name", s->models[i].model->name,
							"share", s->models[i].share, "alone_s", s->models[i].alone));
	for (uint32_t i = 0; i < s->n_points; i++)
		json_array_append_new(points, mix_point_json(s, &s->points[i]));
	return json_pack("{s:s s:i s:i s:i s:I s:s s:s? s:s? s:f s:f s:f s:I s:f s:o s:o}",
			"fabric", setting->fabric, "servers", (int)setting->servers,
			"job_servers", (int)setting->job_servers, "degree", (int)setting->degree,
			"bandwidth_bps", (json_int_t)setting->bandwidth,
			"placement", mix_in_shards(s) ? "shards" : mix_allocation(s),
			"routing", mix_in_shards(s) ? NULL : to_spread_names[shortest.spread],
			"allreduce", mix_in_shards(s) ? NULL : to_algorithm_names[shortest.algorithm],
			"link_latency_s", setting->delays.link, "relay_latency_s", setting->delays.relay,
			"step_latency_s", setting->delays.step,
			"seed", (json_int_t)setting->seed, "cpu_s", clock() / (double)CLOCKS_PER_SEC,
			"models", models, "points", points);
}
