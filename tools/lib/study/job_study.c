// SPDX-License-Identifier: GPL-2.0-or-later
#include "study/job_study.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/effort.h"
#include "base/random.h"
#include "plan/parallelize.h"
#include "plan/planner.h"
#include "simulate/router_named.h"
#include "simulate/stragglers.h"
#include "study/job_inputs.h"
#include "topology/sip.h"
#include "workload/given_strategy.h"
#include "workload/strategy_search.h"
#include "workload/sub_ops_search.h"

#define STUDY_ITERATIONS 20	/* by default, where flows are random */
#define STUDY_STEPS 1000	/* of the progress of an iteration */

/** struct to_job_study - a setting, its inputs, and what was made of them */
struct to_job_study {
	const struct to_job_setting *setting;
	bool topoopt;			/* the fabric is a plan */
	bool changes;			/* links of the fabric change */
	bool stopped;			/* the watch has ended the study */
	struct to_job_inputs in;
	struct to_parallelized found;	/* plan and strategy of a model on topoopt */
	struct to_strategy *strategy;	/* found or given otherwise, or NULL */
	struct to_sub_ops sub_ops;	/* of the placement "sip" */
	struct to_plan *plan;		/* that the fabric topoopt has, held */
	struct to_stragglers stragglers;
	double *slow;			/* times as long each server computes, or NULL */
	struct to_taskgraph tasks;	/* of an iteration, without traces */
	struct to_router *router;	/* of the last iteration */
	struct to_simulator *simulator;	/* of the last iteration */
	struct to_packet_level packets;
	struct to_utilisation links[2];	/* of even and odd iterations */
	unsigned int iteration;		/* that runs */
	struct to_simulated result;
};

/* Tell the caller what is done of @all; not 0 when the caller wants to end. */
static int study_watch(struct to_job_study *s, unsigned int done, unsigned int all)
{
	if (s->setting->watch && s->setting->watch(s->setting->data, done, all))
		s->stopped = true;
	return s->stopped;
}

static int study_iteration_watch(void *data, double done)
{
	struct to_job_study *s = data;

	return study_watch(s, (s->iteration + done) * STUDY_STEPS, s->result.asked * STUDY_STEPS);
}

static int study_search_watch(void *data, unsigned int done, unsigned int all)
{
	return study_watch(data, done, all);
}

static void study_parallelize_watch(void *data, unsigned int done, unsigned int all)
{
	study_watch(data, done, all);
}

/* ---- the fabric ---- */

static enum to_spread study_spread(const struct to_job_study *s)
{
	return s->setting->routing != TO_STUDY_UNSAID ? (enum to_spread)s->setting->routing :
							to_fabric_spread(s->setting->fabric);
}

static enum to_algorithm study_algorithm(const struct to_job_study *s)
{
	return s->setting->algorithm != TO_STUDY_UNSAID ?
	       (enum to_algorithm)s->setting->algorithm : to_fabric_algorithm(s->setting->fabric);
}

static struct to_shortest_options study_shortest(const struct to_job_study *s, unsigned int index)
{
	return (struct to_shortest_options){
		.spread = study_spread(s), .algorithm = study_algorithm(s),
		.seed = s->setting->seed + index, .delays = s->setting->delays };
}

/* Make the router of @fabric for iteration @index. */
static struct to_router *study_router(struct to_job_study *s, const char *fabric,
				      unsigned int index, struct to_error *err)
{
	const struct to_network_setting network = {
		.servers = s->in.n_servers, .degree = s->in.degree, .bandwidth = s->in.bandwidth,
		.latency = s->setting->delays.link, .prices = s->in.prices };
	const struct to_shortest_options options = study_shortest(s, index);
	struct to_error why = { "" };
	struct to_router *router;

	if (s->topoopt)
		return to_router_of_plan(s->plan, &s->setting->delays, err);
	router = to_router_named(fabric, &network, &options, &why);
	if (!router)
		to_error_set(err, -EINVAL, "%s%.480s", to_fabric_is_file(fabric) ? "" : "--fabric: ",
			     why.text);
	return router;
}

static bool study_records(const struct to_job_study *s)
{
	return s->setting->record && !s->setting->packet_level;
}

/* Prepare for iteration @index; the caller keeps or frees what was there. */
static int study_make_router(struct to_job_study *s, unsigned int index, struct to_error *err)
{
	s->router = study_router(s, s->setting->fabric, index, err);
	s->simulator = s->router ? to_simulator_on(s->router, err) : NULL;
	if (!s->simulator)
		return -EINVAL;
	to_simulator_watch(s->simulator, study_iteration_watch, s);
	if (study_records(s) && to_simulator_record(s->simulator, &s->links[index % 2]))
		return to_error_set(err, -ENOMEM, "out of memory");
	return 0;
}

/* ---- strategies and plans ---- */

static int study_given_strategy(struct to_job_study *s, struct to_error *err)
{
	const char *placement = s->setting->placement;

	if (!s->in.model || !strcmp(placement, "search") || !strcmp(placement, "sip"))
		return 0;
	s->strategy = to_given_strategy(placement, s->in.model, s->in.n_servers, s->setting->batch,
					err);
	return s->strategy ? 0 : -EINVAL;
}

/* Find plan and strategy of the model at once. */
static int study_parallelize(struct to_job_study *s, struct to_cluster *cluster,
			     struct to_error *err)
{
	const struct to_parallelize_options options = {
		.degree = s->in.degree, .batch_per_gpu = s->setting->batch,
		.budget = s->setting->budget, .seed = s->setting->seed,
		.progress = study_parallelize_watch, .data = s };
	const int ret = to_parallelize(s->in.model, cluster, s->in.n_servers, &options, &s->found, err);

	to_cluster_free(cluster);
	if (!ret)
		s->plan = to_plan_hold(s->found.by[TO_APPROACH_SEARCH].plan);
	return ret;
}

static int study_make_plan(struct to_job_study *s, struct to_error *err)
{
	const struct to_planner_knobs options = { .degree = s->in.degree,
						    .effort = TO_EFFORT_DEFAULT,
						    .seed = s->setting->seed };
	struct to_cluster *cluster = to_cluster_synthetic(s->in.n_servers, s->in.degree,
							  s->in.bandwidth, TO_LINKS_DUPLEX, err);
	struct to_demand *demand;

	if (!cluster)
		return -EINVAL;
	if (s->in.model && !s->strategy)
		return study_parallelize(s, cluster, err);
	demand = s->in.model ? to_strategy_demand(s->strategy, err) : to_demand_copy(s->in.job);
	if (!demand) {
		to_cluster_free(cluster);
		return -ENOMEM;
	}
	s->plan = to_planner_make(cluster, demand, &options, err);
	return s->plan ? 0 : -EINVAL;
}

/*
 * Prepare what strategies are chosen on: the fabric, or a switch of all servers where links
 * change while an iteration runs.
 */
static struct to_simulator *study_searched(struct to_job_study *s, struct to_router **router,
					   struct to_error *err)
{
	const bool during = s->changes && strncmp(s->setting->fabric, "sip-ocs", 7);

	*router = study_router(s, during ? "switch" : s->setting->fabric, 0, err);
	return *router ? to_simulator_on(*router, err) : NULL;
}

/* Place the model as SiP-ML does, within reach of the fabric's servers. */
static int study_place_sip(struct to_job_study *s, struct to_error *err)
{
	struct to_sub_ops_search search = {
		.model = s->in.model, .n_servers = s->in.n_servers,
		.batch_per_gpu = s->setting->batch, .quantum = TO_SUB_OP_QUANTUM,
		.progress = study_search_watch, .data = s };
	struct to_error ignored = { "" };
	struct to_router *router;
	struct to_simulator *simulator = study_searched(s, &router, err);
	struct to_sip sip;
	int ret = -EINVAL;

	if (to_sip_read(s->setting->fabric, &sip, &ignored) > 0)
		search.reach = sip.ring ? sip.reach + 1 : sip.ports;
	if (simulator)
		ret = to_sub_ops_find(&search, simulator, &s->sub_ops, err);
	to_simulator_free(simulator);
	to_router_free(router);
	if (ret)
		return ret;
	s->result.strategy = to_sub_ops_json(&s->sub_ops);
	if (!s->result.strategy)
		return to_error_set(err, -ENOMEM, "out of memory");
	return to_sub_ops_tasks(&s->sub_ops, &s->tasks, err);
}

/* Find the strategy that is fastest on the fabric, without stragglers. */
static struct to_strategy *study_find_strategy(struct to_job_study *s, struct to_error *err)
{
	const struct to_strategy_search search = {
		.model = s->in.model, .n_servers = s->in.n_servers,
		.batch_per_gpu = s->setting->batch, .budget = s->setting->budget,
		.seed = s->setting->seed,
		.bounded = study_algorithm(s) <= TO_ALGORITHM_RING_BOTH_WAYS,
		.progress = study_search_watch, .data = s };
	struct to_router *router;
	struct to_simulator *simulator = study_searched(s, &router, err);
	struct to_strategy *strategy = NULL;

	if (simulator)
		strategy = to_strategy_find(&search, simulator, err);
	to_simulator_free(simulator);
	to_router_free(router);
	return strategy;
}

static int study_model_tasks(struct to_job_study *s, struct to_error *err)
{
	const struct to_strategy *strategy = s->strategy ? s->strategy :
					     s->found.by[TO_APPROACH_SEARCH].strategy;

	if (!strcmp(s->setting->placement, "sip"))
		return study_place_sip(s, err);
	if (!strategy)
		strategy = s->strategy = study_find_strategy(s, err);
	if (!strategy)
		return -EINVAL;
	s->result.strategy = to_strategy_json(strategy);
	if (!s->result.strategy)
		return to_error_set(err, -ENOMEM, "out of memory");
	return to_strategy_tasks(strategy, &s->tasks, err);
}

/* Make tasks of what a job sends, all at once. */
static int study_demand_tasks(struct to_job_study *s, const struct to_demand *d,
			      struct to_error *err)
{
	to_taskgraph_matrix(&s->tasks, d->mp);
	for (unsigned int g = 0; g < d->n_groups; g++)
		to_taskgraph_allreduce(&s->tasks, d->groups[g].members, d->groups[g].n_members,
				       d->groups[g].bytes);
	return to_taskgraph_finish(&s->tasks, err);
}

static int study_tasks(struct to_job_study *s, struct to_error *err)
{
	to_taskgraph_init(&s->tasks, s->in.n_servers);
	if (s->setting->n_traces)
		return 0;
	if (s->in.model)
		return study_model_tasks(s, err);
	return study_demand_tasks(s, s->in.job ? s->in.job : s->plan->demand, err);
}

static const struct to_taskgraph *study_taskgraph(const struct to_job_study *s)
{
	return s->setting->n_traces ? &s->in.replay.tasks : &s->tasks;
}

/* ---- iterations ---- */

static int study_load_stragglers(struct to_job_study *s, struct to_error *err)
{
	struct to_error why = { "" };

	if (!s->setting->stragglers)
		return 0;
	if (to_stragglers_parse(s->setting->stragglers, &s->stragglers, &why))
		return to_error_set(err, -EINVAL, "--stragglers: %.480s", why.text);
	s->slow = calloc(s->in.n_servers, sizeof(*s->slow));
	return s->slow ? 0 : to_error_set(err, -ENOMEM, "out of memory");
}

/* Tell whether one iteration differs from the next: by hashes, marks or stragglers. */
static bool study_random(const struct to_job_study *s)
{
	return s->slow || s->setting->packet_level ||
	       (!s->topoopt && study_spread(s) == TO_SPREAD_HASH);
}

static void study_draw_stragglers(struct to_job_study *s, unsigned int index)
{
	/* numbers of their own: neither those of hashes nor those of the next seed's iterations */
	uint64_t random = s->setting->seed, own = to_random_next(&random) ^ index;

	if (!s->slow)
		return;
	to_stragglers_draw(&s->stragglers, s->in.n_servers, s->slow, &own);
	to_simulator_slow(s->simulator, s->slow);
}

static const struct to_simulation *study_iteration(struct to_job_study *s, unsigned int index,
						   struct to_error *err)
{
	const struct to_shortest_options options = study_shortest(s, index);

	study_draw_stragglers(s, index);
	if (!s->setting->packet_level)
		return to_simulate(s->simulator, study_taskgraph(s), TO_SIMULATE_TRANSFERS, err);
	return to_packet_level_run(&s->packets, s->router, s->topoopt ? s->plan : NULL, &options,
				   study_taskgraph(s), s->slow, study_iteration_watch, s, err);
}

static int study_one(struct to_job_study *s, unsigned int index, struct to_error *err)
{
	struct to_simulated *r = &s->result;
	struct to_simulator *simulator = s->simulator;
	struct to_router *router = s->router;
	const struct to_simulation *run = NULL;

	if (!index || !study_make_router(s, index, err))
		run = study_iteration(s, index, err);
	if (!run && index) {
		/* the iteration before stays the last one */
		to_simulator_free(s->simulator);
		to_router_free(s->router);
		s->simulator = simulator;
		s->router = router;
	} else if (index) {
		to_simulator_free(simulator);
		to_router_free(router);
	}
	if (!run)
		return -EINVAL;
	to_simulated_add(r, run, to_simulator_network(s->simulator));
	r->utilisation = study_records(s) ? &s->links[index % 2] : NULL;
	r->alike = s->router->alike;
	r->cpu = clock() / (double)CLOCKS_PER_SEC;
	return 0;
}

/* Describe what is alike in all iterations. */
static void study_describe(struct to_job_study *s)
{
	const struct to_job_setting *setting = s->setting;
	struct to_simulated *r = &s->result;

	r->workload = s->in.model ? s->in.model->name : s->in.job ? s->in.job->name :
		      s->plan->demand->name;
	r->fabric = setting->fabric;
	r->plan = s->topoopt ? setting->plan : NULL;
	r->routing = s->topoopt ? "tables of the plan" : to_spread_names[study_spread(s)];
	r->allreduce = s->topoopt ? "rings and trees of the plan" :
		       to_algorithm_names[study_algorithm(s)];
	r->stragglers = setting->stragglers;
	r->changes = s->changes;
	r->delays = setting->delays;
	r->tasks = study_taskgraph(s);
	r->packets = setting->packet_level ? &s->packets : NULL;
}

static int study_prepare(struct to_job_study *s, struct to_error *err)
{
	int ret = to_job_inputs_load(&s->in, s->setting, err);

	if (ret)
		return ret;
	if (s->in.plan)
		s->plan = to_plan_hold(s->in.plan);
	ret = study_load_stragglers(s, err);
	if (!ret)
		ret = study_given_strategy(s, err);
	if (!ret && s->topoopt && !s->plan)
		ret = study_make_plan(s, err);
	if (!ret)
		ret = study_make_router(s, 0, err);
	return ret ? ret : study_tasks(s, err);
}

struct to_job_study *to_job_study_new(const struct to_job_setting *setting, struct to_error *err)
{
	struct to_job_study *s = calloc(1, sizeof(*s));

	if (!s) {
		to_error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	s->setting = setting;
	s->topoopt = !strcmp(setting->fabric, "topoopt");
	s->changes = to_fabric_changes(setting->fabric);
	s->packets.asked = &setting->packets;
	if (!study_prepare(s, err))
		return s;
	to_job_study_free(s);
	return NULL;
}

const struct to_simulated *to_job_study_run(struct to_job_study *s, struct to_error *err)
{
	const struct to_job_setting *setting = s->setting;
	const size_t n_links = s->router->network->n_links;
	struct to_simulated *r = &s->result;
	int ret = 0;

	r->asked = !study_random(s) ? 1 : setting->iterations ? setting->iterations :
		   setting->packet_level ? 1 : STUDY_ITERATIONS;
	r->times = calloc(r->asked, sizeof(*r->times));
	r->link_bytes = calloc(2 * n_links + 1, sizeof(*r->link_bytes));
	if (!r->times || !r->link_bytes) {
		to_error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	r->link_busy = r->link_bytes + n_links;
	study_describe(s);
	for (unsigned int i = 0; !ret && i < r->asked; i++) {
		s->iteration = i;
		if (study_iteration_watch(s, 0))
			break;
		ret = study_one(s, i, err);
		if (!ret && i + 1 < r->asked && setting->iterated)
			ret = setting->iterated(setting->data, r, err);
	}
	if (s->stopped && !r->n) {
		to_error_set(err, -EINTR, "interrupted in the first iteration");
		return NULL;
	}
	return ret && !s->stopped ? NULL : r;
}

void to_job_study_free(struct to_job_study *s)
{
	if (!s)
		return;
	json_decref(s->result.strategy);
	to_utilisation_free(&s->links[0]);
	to_utilisation_free(&s->links[1]);
	free(s->slow);
	free(s->result.times);
	free(s->result.link_bytes);
	to_packet_level_free(&s->packets);
	to_simulator_free(s->simulator);
	to_router_free(s->router);
	to_taskgraph_free(&s->tasks);
	to_strategy_free(s->strategy);
	to_sub_ops_free(&s->sub_ops);
	to_parallelized_free(&s->found);
	to_plan_free(s->plan);
	to_job_inputs_free(&s->in);
	free(s);
}
