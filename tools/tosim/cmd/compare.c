// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/quantity.h"
#include "base/text.h"
#include "cli/command.h"
#include "cost/prices.h"
#include "cli/large.h"
#include "plan/parallelize.h"
#include "cli/progress.h"
#include "simulate/router_named.h"
#include "workload/job_mix.h"
#include "workload/strategy_search.h"

#define COMPARE_UNSAID (-1)
#define COMPARE_KINDS_MAX 64

enum compare_placement { COMPARE_PACKED, COMPARE_RANDOM };

static const char *const compare_placements[] = { "packed", "random", NULL };

struct compare_args {
	struct to_words models;
	const char *fabric, *jobs, *prices;
	uint64_t servers, job_servers, degree, bandwidth, latency, relay_latency, budget, iterations, seed;
	int placement, routing, allreduce;
	bool large;
};

/* A model that some of the jobs train. @found: on topoopt, else @strategy */
struct compare_model {
	double share, alone;
	struct to_dnn_model *model;
	struct to_parallelized found;
	struct to_strategy *strategy;
	struct to_taskgraph tasks;
};

/* So many jobs at once. @samples: of @n iterations */
struct compare_point {
	uint32_t jobs, n, counts[COMPARE_KINDS_MAX];
	struct to_mix_sample *samples;
};

struct compare {
	struct to_call *call;
	const struct compare_args *args;
	bool topoopt;
	struct to_delays delays;
	struct to_prices *prices;
	uint32_t n_models, n_points;
	struct compare_model *models;
	struct compare_point *points;
	struct to_progress progress;
	unsigned int step, steps;	/* of what is shown as progress */
};

static volatile sig_atomic_t compare_stop;

static void compare_signal(int signal)
{
	(void)signal;
	compare_stop = 1;
}

static int compare_search_watch(void *data, unsigned int done, unsigned int all)
{
	struct compare *c = data;

	to_progress(&c->progress, c->step * 1000 + done * 1000ull / all, c->steps * 1000);
	return compare_stop;
}

static void compare_plan_watch(void *data, unsigned int done, unsigned int all)
{
	compare_search_watch(data, done, all);
}

static int compare_run_watch(void *data, double done)
{
	return compare_search_watch(data, done * 1000, 1000);
}

/* ---- what is asked for ---- */

/* "FILE" or "FILE=SHARE" */
static int compare_read_model(struct compare *c, const char *word, struct compare_model *m)
{
	const char *equals = strrchr(word, '=');
	char *path = strndup(word, equals ? (size_t)(equals - word) : strlen(word)), *end = "";

	m->share = equals ? strtod(equals + 1, &end) : 1;
	if (!path)
		return to_error_set(&c->call->err, -ENOMEM, "out of memory");
	if (*end || !(m->share > 0 && m->share <= 1e9) || (equals && !equals[1])) {
		free(path);
		return to_usage(c->call, "--model: expected FILE or FILE=SHARE, a number above 0, not \"%.200s\"",
				word);
	}
	m->model = to_dnn_model_load(path, &c->call->err);
	free(path);
	return m->model ? 0 : -EINVAL;
}

/* "5,10,27" */
static int compare_read_points(struct compare *c)
{
	const uint32_t most = c->args->servers / c->args->job_servers;
	char *text = strdup(c->args->jobs), *rest;
	int ret = 0;

	c->points = calloc(strlen(c->args->jobs) + 1, sizeof(*c->points));
	if (!text || !c->points)
		ret = to_error_set(&c->call->err, -ENOMEM, "out of memory");
	for (char *word = ret ? NULL : strtok_r(text, ",", &rest); word && !ret;
	     word = strtok_r(NULL, ",", &rest)) {
		uint64_t jobs;

		if (!to_quantity_number(word, &jobs) || !jobs || jobs > most)
			ret = to_usage(c->call, "--jobs: expected numbers from 1 to %u, not \"%.80s\"", most, word);
		else
			c->points[c->n_points++].jobs = jobs;
	}
	free(text);
	if (!ret && !c->n_points)
		ret = to_usage(c->call, "--jobs: expected a number");
	return ret;
}

static int compare_read(struct compare *c)
{
	const struct compare_args *args = c->args;
	int ret;

	if (args->job_servers > args->servers)
		return to_usage(c->call, "--job-servers: a job takes no more servers than there are");
	if (args->servers > TO_SERVERS_USUAL && !args->large)
		return to_usage(c->call, "--servers: more than %u take --large", TO_SERVERS_USUAL);
	if (to_fabric_is_file(args->fabric) || to_fabric_changes(args->fabric))
		return to_usage(c->call, "--fabric: a name, and one whose links stay, not \"%.80s\"", args->fabric);
	if (c->topoopt && (args->routing != COMPARE_UNSAID || args->allreduce != COMPARE_UNSAID))
		return to_usage(c->call, "--routing and --allreduce are for other fabrics: plans say both");
	if (!args->models.n || args->models.n > COMPARE_KINDS_MAX)
		return to_usage(c->call, "give 1 to %d --model", COMPARE_KINDS_MAX);
	ret = compare_read_points(c);
	c->models = calloc(args->models.n, sizeof(*c->models));
	if (!ret && !c->models)
		return to_error_set(&c->call->err, -ENOMEM, "out of memory");
	for (; !ret && c->n_models < args->models.n; c->n_models++)
		ret = compare_read_model(c, args->models.list[c->n_models], &c->models[c->n_models]);
	if (ret)
		return ret;
	c->prices = args->prices ? to_prices_load(args->prices, &c->call->err) : to_prices_default();
	if (!c->prices)
		return args->prices ? -EINVAL : to_error_set(&c->call->err, -ENOMEM, "out of memory");
	c->steps = 2 * c->n_models + (c->topoopt ? 0 : c->n_points);
	return 0;
}

/* ---- one job ---- */

static struct to_shortest_options compare_shortest(const struct compare *c)
{
	const struct compare_args *args = c->args;

	return (struct to_shortest_options){
		.spread = args->routing != COMPARE_UNSAID ? (enum to_spread)args->routing :
							    to_fabric_spread(args->fabric),
		.algorithm = args->allreduce != COMPARE_UNSAID ? (enum to_algorithm)args->allreduce :
								  to_fabric_algorithm(args->fabric),
		.seed = args->seed, .delays = c->delays };
}

static struct to_router *compare_router(struct compare *c, const char *fabric, uint32_t servers,
					unsigned int degree, uint64_t bandwidth)
{
	const struct to_network_setting setting = {
		.servers = servers, .degree = degree, .bandwidth = bandwidth,
		.latency = c->delays.link, .prices = c->prices };
	const struct to_shortest_options options = compare_shortest(c);
	struct to_error why = { "" };
	struct to_router *router = to_router_named(fabric, &setting, &options, &why);

	if (!router)
		to_error_set(&c->call->err, -EINVAL, "--fabric: %.480s", why.text);
	return router;
}

/* The fabric for all servers. */
static struct to_router *compare_whole(struct compare *c)
{
	return compare_router(c, c->args->fabric, c->args->servers, c->args->degree, c->args->bandwidth);
}

/*
 * The same for the servers of one job. What is as fast as the price of all servers buys is
 * a full tree of that speed.
 */
static struct to_router *compare_part(struct compare *c, const struct to_network *whole)
{
	const struct compare_args *args = c->args;

	if (strcmp(args->fabric, "cost-equivalent"))
		return compare_router(c, args->fabric, args->job_servers, args->degree, args->bandwidth);
	return compare_router(c, "ideal", args->job_servers, 1, whole->links[0].capacity * 8);
}

static int compare_parallelize(struct compare *c, struct compare_model *m)
{
	const struct compare_args *args = c->args;
	const struct to_parallelize_options options = {
		.degree = args->degree, .budget = args->budget, .seed = args->seed,
		.progress = compare_plan_watch, .data = c };
	struct to_cluster *cluster = to_cluster_synthetic(args->job_servers, args->degree,
							  args->bandwidth, TO_LINKS_DUPLEX,
							  &c->call->err);
	int ret = cluster ? to_parallelize(m->model, cluster, args->job_servers, &options, &m->found,
					   &c->call->err) : -EINVAL;

	to_cluster_free(cluster);
	return ret;
}

/* Its strategy, and what an iteration takes when it is alone. */
static int compare_model(struct compare *c, struct compare_model *m, const struct to_network *whole)
{
	const struct to_strategy_search search = {
		.model = m->model, .n_servers = c->args->job_servers, .budget = c->args->budget,
		.seed = c->args->seed,
		.bounded = compare_shortest(c).algorithm <= TO_ALGORITHM_RING_BOTH_WAYS,
		.progress = compare_search_watch, .data = c };
	struct to_router *router = NULL;
	struct to_simulator *simulator;
	const struct to_simulation *run = NULL;
	int ret = c->topoopt ? compare_parallelize(c, m) : 0;

	if (ret)
		return ret;
	router = c->topoopt ? to_router_of_plan(m->found.by[TO_APPROACH_SEARCH].plan, &c->delays,
						&c->call->err) : compare_part(c, whole);
	simulator = router ? to_simulator_on(router, &c->call->err) : NULL;
	if (simulator && !c->topoopt)
		m->strategy = to_strategy_find(&search, simulator, &c->call->err);
	c->step++;
	if (simulator && (c->topoopt || m->strategy)) {
		to_taskgraph_init(&m->tasks, c->args->job_servers);
		if (!to_strategy_tasks(c->topoopt ? m->found.by[TO_APPROACH_SEARCH].strategy : m->strategy,
				       &m->tasks, &c->call->err))
			run = to_simulate(simulator, &m->tasks, TO_SIMULATE_TRANSFERS, &c->call->err);
	}
	m->alone = run ? run->time : 0;
	to_simulator_free(simulator);
	to_router_free(router);
	c->step++;
	return run ? 0 : -EINVAL;
}

/* ---- all of them ---- */

/* Shards have links of their own: an iteration takes as long as it does alone. */
static int compare_shards(struct compare *c, struct compare_point *point)
{
	point->samples = calloc(c->n_models, sizeof(*point->samples));
	if (!point->samples)
		return to_error_set(&c->call->err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < c->n_models; i++)
		if (point->counts[i])
			point->samples[point->n++] = (struct to_mix_sample){
				.kind = i, .seconds = c->models[i].alone, .weight = point->counts[i] };
	return 0;
}

static int compare_together(struct compare *c, struct compare_point *point)
{
	struct to_mix_kind kinds[COMPARE_KINDS_MAX];
	const struct to_mix mix = {
		.kinds = kinds, .n_kinds = c->n_models, .job_servers = c->args->job_servers,
		.iterations = c->args->iterations, .random = c->args->placement == COMPARE_RANDOM,
		.seed = c->args->seed };
	struct to_router *router = compare_whole(c);
	struct to_simulator *simulator = router ? to_simulator_on(router, &c->call->err) : NULL;
	int ret = -EINVAL;

	for (uint32_t i = 0; i < c->n_models; i++)
		kinds[i] = (struct to_mix_kind){ &c->models[i].tasks, c->models[i].alone, point->counts[i] };
	if (simulator) {
		to_simulator_watch(simulator, compare_run_watch, c);
		ret = to_mix_run(simulator, &mix, &point->samples, &point->n, &c->call->err);
	}
	to_simulator_free(simulator);
	to_router_free(router);
	c->step++;
	return ret;
}

static int compare_points(struct compare *c)
{
	double shares[COMPARE_KINDS_MAX];
	int ret = 0;

	for (uint32_t i = 0; i < c->n_models; i++)
		shares[i] = c->models[i].share;
	for (uint32_t i = 0; i < c->n_points && !ret; i++) {
		to_mix_counts(shares, c->n_models, c->points[i].jobs, c->points[i].counts);
		ret = c->topoopt ? compare_shards(c, &c->points[i]) : compare_together(c, &c->points[i]);
	}
	return ret;
}

/* ---- what came out ---- */

static void compare_print(const struct compare *c)
{
	const struct compare_args *args = c->args;
	char text[3][16];

	printf("%s: %llu servers of %llu x %.4g Gbit/s, jobs of %llu, %s\n", args->fabric,
	       (unsigned long long)args->servers, (unsigned long long)args->degree,
	       args->bandwidth / 1e9, (unsigned long long)args->job_servers,
	       c->topoopt ? "shards" : compare_placements[args->placement]);
	for (uint32_t i = 0; i < c->n_models; i++)
		printf("  %-10s %s alone\n", c->models[i].model->name,
		       to_seconds_text(c->models[i].alone, text[0]));
	for (uint32_t i = 0; i < c->n_points; i++) {
		const struct compare_point *p = &c->points[i];
		const struct to_mix_times t = to_mix_times(p->samples, p->n, UINT32_MAX);

		printf("  %u jobs, %.0f %% load: iteration mean %s, 99th percentile %s, longest %s\n",
		       p->jobs, 100.0 * p->jobs * args->job_servers / args->servers,
		       to_seconds_text(t.mean, text[0]), to_seconds_text(t.p99, text[1]),
		       to_seconds_text(t.max, text[2]));
	}
}

static json_t *compare_times_json(struct to_mix_times t)
{
	return json_pack("{s:f s:f s:f}", "mean", t.mean, "p99", t.p99, "max", t.max);
}

static json_t *compare_point_json(const struct compare *c, const struct compare_point *p)
{
	json_t *models = json_array();

	for (uint32_t i = 0; i < c->n_models; i++)
		json_array_append_new(models, json_pack(
			"{s:s s:i s:o}", "name", c->models[i].model->name, "jobs", p->counts[i],
			"iteration_time_s", p->counts[i] ?
			compare_times_json(to_mix_times(p->samples, p->n, i)) : json_null()));
	return json_pack("{s:i s:f s:i s:o s:o}", "jobs", p->jobs,
			 "load", (double)p->jobs * c->args->job_servers / c->args->servers,
			 "iterations", p->n, "iteration_time_s",
			 compare_times_json(to_mix_times(p->samples, p->n, UINT32_MAX)),
			 "models", models);
}

static int compare_json(const struct compare *c)
{
	const struct compare_args *args = c->args;
	const struct to_shortest_options shortest = compare_shortest(c);
	json_t *models = json_array(), *points = json_array(), *all;

	for (uint32_t i = 0; i < c->n_models; i++)
		json_array_append_new(models, json_pack("{s:s s:f s:f}", "name", c->models[i].model->name,
							"share", c->models[i].share, "alone_s", c->models[i].alone));
	for (uint32_t i = 0; i < c->n_points; i++)
		json_array_append_new(points, compare_point_json(c, &c->points[i]));
	all = json_pack("{s:s s:i s:i s:i s:I s:s s:s? s:s? s:f s:f s:i s:f s:o s:o}",
			"fabric", args->fabric, "servers", (int)args->servers,
			"job_servers", (int)args->job_servers, "degree", (int)args->degree,
			"bandwidth_bps", (json_int_t)args->bandwidth,
			"placement", c->topoopt ? "shards" : compare_placements[args->placement],
			"routing", c->topoopt ? NULL : to_spread_names[shortest.spread],
			"allreduce", c->topoopt ? NULL : to_algorithm_names[shortest.algorithm],
			"link_latency_s", c->delays.link, "relay_latency_s", c->delays.relay,
			"seed", (int)args->seed, "cpu_s", clock() / (double)CLOCKS_PER_SEC,
			"models", models, "points", points);
	if (!all)
		return to_error_set(&c->call->err, -ENOMEM, "out of memory");
	json_dumpf(all, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
	putchar('\n');
	json_decref(all);
	return 0;
}

static int compare_all(struct compare *c)
{
	struct to_router *whole = NULL;
	int ret = compare_read(c);

	if (!ret && !c->topoopt) {
		whole = compare_whole(c);
		ret = whole ? 0 : -EINVAL;
	}
	for (uint32_t i = 0; i < c->n_models && !ret; i++)
		ret = compare_model(c, &c->models[i], whole ? whole->network : NULL);
	to_router_free(whole);
	if (!ret)
		ret = compare_points(c);
	to_progress_end(&c->progress);
	if (ret)
		return ret;
	if (c->call->json)
		return compare_json(c);
	compare_print(c);
	return 0;
}

static int compare_run(struct to_call *call, const void *data)
{
	const struct sigaction action = { .sa_handler = compare_signal, .sa_flags = SA_RESETHAND };
	const struct compare_args *args = data;
	struct compare c = { .call = call, .args = args, .topoopt = !strcmp(args->fabric, "topoopt"),
			     .delays = { args->latency * 1e-9, args->relay_latency * 1e-9, 0 } };
	int ret;

	sigaction(SIGINT, &action, NULL);
	ret = compare_all(&c);
	for (uint32_t i = 0; c.models && i < args->models.n; i++) {
		to_taskgraph_free(&c.models[i].tasks);
		to_strategy_free(c.models[i].strategy);
		to_parallelized_free(&c.models[i].found);
		to_dnn_model_free(c.models[i].model);
	}
	for (uint32_t i = 0; i < c.n_points; i++)
		free(c.points[i].samples);
	free(c.models);
	free(c.points);
	to_prices_free(c.prices);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct compare_args, field)

static const struct to_option compare_options[] = {
	{ "model", 'm', TO_OPTION_WORDS, FIELD(models), .argument = "FILE[=SHARE]", .required = true,
	  .help = "what jobs train, and their share, 1 unless said; once for each model" },
	{ "jobs", 0, TO_OPTION_STRING, FIELD(jobs), .argument = "J[,J...]", .required = true,
	  .help = "how many train at once; each number is a point" },
	{ "servers", 'n', TO_OPTION_NUMBER, FIELD(servers), .argument = "N", .required = true,
	  .min = 2, .max = TO_SERVERS_MAX, .help = "of the cluster" },
	{ "job-servers", 'k', TO_OPTION_NUMBER, FIELD(job_servers), .argument = "K",
	  .min = 2, .max = TO_SERVERS_MAX, .help = "of each job; default: 16" },
	{ "degree", 'd', TO_OPTION_NUMBER, FIELD(degree), .argument = "D", .required = true,
	  .min = 1, .max = TO_PORTS_MAX, .help = "ports of a server" },
	{ "bandwidth", 'b', TO_OPTION_RATE, FIELD(bandwidth), .argument = "RATE",
	  .min = 1, .max = INT64_MAX, .help = "of a port; default: 100G" },
	{ "fabric", 'f', TO_OPTION_STRING, FIELD(fabric), .argument = "FABRIC",
	  .help = "topoopt: a shard for each job; another one of tosim simulate: all share it" },
	{ "placement", 0, TO_OPTION_CHOICE, FIELD(placement), .choices = compare_placements,
	  .help = "servers of a job on a shared fabric: next to each other, or any; default: packed" },
	{ "routing", 0, TO_OPTION_CHOICE, FIELD(routing), .choices = to_spread_names,
	  .help = "over shortest paths of equal length; default: as tosim simulate" },
	{ "allreduce", 0, TO_OPTION_CHOICE, FIELD(allreduce), .choices = to_algorithm_names,
	  .help = "algorithm on other fabrics than topoopt; default: as tosim simulate" },
	{ "latency", 0, TO_OPTION_DURATION, FIELD(latency), .argument = "TIME",
	  .max = 1000000000, .help = "of a link; default: 1us" },
	{ "relay-latency", 0, TO_OPTION_DURATION, FIELD(relay_latency), .argument = "TIME",
	  .max = 1000000000, .help = "of a server that relays; default: 1350ns" },
	{ "iterations", 'i', TO_OPTION_NUMBER, FIELD(iterations), .argument = "I",
	  .min = 1, .max = 10000,
	  .help = "of the slowest model's jobs; others go on for as long; default: 3" },
	{ "budget", 0, TO_OPTION_NUMBER, FIELD(budget), .argument = "STEPS",
	  .min = 4, .max = 100000000,
	  .help = "strategies that the search for each model's tries; default: 1000" },
	{ "seed", 's', TO_OPTION_NUMBER, FIELD(seed), .argument = "S", .max = INT32_MAX,
	  .help = "of strategies, hashes, servers and when jobs begin; default: 1" },
	{ "prices", 'p', TO_OPTION_STRING, FIELD(prices), .argument = "FILE",
	  .help = "prices.json of cost-equivalent; default: Table 3 of the TopoOpt paper" },
	TO_LARGE_OPTION(offsetof(struct compare_args, large)),
	{}
};

const struct to_command to_cmd_compare = {
	.name = "compare",
	.summary = "Compare fabrics that many jobs share",
	.options = compare_options,
	.args_size = sizeof(struct compare_args),
	.defaults = &(const struct compare_args){
		.fabric = "topoopt", .job_servers = 16, .bandwidth = TO_SYNTHETIC_BANDWIDTH,
		.latency = 1000, .relay_latency = 1350, .iterations = 3, .budget = TO_PARALLELIZE_BUDGET,
		.seed = 1, .routing = COMPARE_UNSAID, .allreduce = COMPARE_UNSAID },
	.run = compare_run,
};
