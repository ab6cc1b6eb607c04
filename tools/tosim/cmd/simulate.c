// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/random.h"
#include "cli/command.h"
#include "cost/prices.h"
#include "format/cluster_json.h"
#include "format/demand_json.h"
#include "format/plan_json.h"
#include "given_strategy.h"
#include "cli/large.h"
#include "packet_level.h"
#include "plan/parallelize.h"
#include "plan/planner.h"
#include "cli/progress.h"
#include "rank_simulation.h"
#include "simulate/network_json.h"
#include "simulate/router_named.h"
#include "simulate/stragglers.h"
#include "simulation.h"
#include "workload/chakra.h"
#include "topology/sip.h"
#include "workload/strategy_search.h"
#include "workload/sub_ops_search.h"

#define SIMULATE_UNSAID (-1)
#define SIMULATE_ITERATIONS 20	/* at flow level, where they are random */
#define SIMULATE_STEPS 1000	/* of the progress of an iteration */
#define SIMULATE_SAVE_SECONDS 10 /* between two writes of what is done */

struct simulate_args {
	const char *model, *job, *fabric, *output, *report;
	const char *prices, *stragglers, *placement;
	uint64_t servers, degree, bandwidth, iterations, latency, relay_latency, step_latency;
	uint64_t batch, budget, seed;
	int routing, allreduce, level;
	bool large, chakra;
	struct to_packet_level_options packets;
	struct to_rank_options rank;
};

enum simulate_level { SIMULATE_FLOW, SIMULATE_PACKET };

static const char *const simulate_levels[] = { "flow", "packet", NULL };

/*
 * One run of the command.
 * @plan: of the operand, or made for the fabric topoopt
 * @degree, @bandwidth: ports of each server, 0: neither said nor in a plan
 * @tasks: of an iteration
 */
struct simulate {
	struct to_call *call;
	const struct simulate_args *args;
	bool topoopt, file, changes;	/* what the fabric is */
	struct to_plan *plan;
	struct to_demand *job;
	const char *plan_path;		/* the operand that is a plan, or NULL */
	char **traces;			/* the others */
	uint32_t n_traces;
	struct to_replay replay;
	struct to_dnn_model *model;
	struct to_prices *prices;
	struct to_parallelized found;
	struct to_strategy *strategy;	/* one that is not in @found */
	struct to_sub_ops sub_ops;	/* of --placement sip */
	uint32_t n_servers;
	unsigned int degree;
	uint64_t bandwidth;
	struct to_delays delays;
	struct to_stragglers stragglers;
	double *slow;			/* per server */
	struct to_taskgraph tasks;
	struct to_router *router;
	struct to_simulator *simulator;
	struct to_packet_level packets;
	struct to_progress progress;
	unsigned int iteration;
	struct to_utilisation links[2];	/* of even and odd iterations */
	time_t saved;			/* when what is done was */
	struct to_simulated result;
};

static volatile sig_atomic_t simulate_stop;

static void simulate_signal(int signal)
{
	(void)signal;
	simulate_stop = 1;
}

static int simulate_watch(void *data, double done)
{
	struct simulate *s = data;

	to_progress(&s->progress, (s->iteration + done) * SIMULATE_STEPS,
		    s->result.asked * SIMULATE_STEPS);
	return simulate_stop;
}

static int simulate_search_watch(void *data, unsigned int done, unsigned int all)
{
	struct simulate *s = data;

	to_progress(&s->progress, done, all);
	return simulate_stop;
}

static void simulate_parallelize_progress(void *data, unsigned int done, unsigned int all)
{
	struct simulate *s = data;

	to_progress(&s->progress, done, all);
}

/* The ports of a plan's servers, unless options say others. */
static int simulate_plan_ports(struct simulate *s)
{
	const struct to_cluster *c = s->plan->cluster;
	const struct to_server *first = &c->servers[0];

	for (uint32_t x = 0; x < c->n_servers; x++)
		for (unsigned int q = 0; q < c->servers[x].n_ports; q++)
			if (c->servers[x].n_ports != first->n_ports ||
			    c->servers[x].ports[q].bandwidth != first->ports[0].bandwidth)
				return to_usage(s->call,
						"%s has servers with different ports: give --degree and --bandwidth",
						s->plan_path);
	s->degree = first->n_ports;
	s->bandwidth = first->ports[0].bandwidth;
	return 0;
}

/* How many servers a fabric of a file has: as many as the workload, if that says. */
static int simulate_load_file(struct simulate *s)
{
	struct to_network *network = to_network_load(s->args->fabric, 0, &s->call->err);
	const uint32_t n = network ? network->n_servers : 0;

	to_network_free(network);
	if (!n)
		return -EINVAL;
	if (s->n_servers && n != s->n_servers)
		return to_error_set(&s->call->err, -EINVAL, "%s has %u servers, the workload %u",
				    s->args->fabric, n, s->n_servers);
	s->n_servers = n;
	return to_large_check(s->args->fabric, n, s->args->large, &s->call->err);
}

/* Traces, and the plan before or behind them. */
static int simulate_find_operands(struct simulate *s)
{
	struct to_call *call = s->call;

	s->traces = calloc(call->n_operands + 1, sizeof(*s->traces));
	if (!s->traces)
		return to_error_set(&call->err, -ENOMEM, "out of memory");
	for (unsigned int i = 0; i < call->n_operands; i++) {
		const size_t len = strlen(call->operands[i]);

		if (s->args->chakra && len > 3 && !strcmp(call->operands[i] + len - 3, ".et"))
			s->traces[s->n_traces++] = call->operands[i];
		else if (s->plan_path)
			return to_usage(call, "%s and %s are two plans: give one", s->plan_path,
					call->operands[i]);
		else
			s->plan_path = call->operands[i];
	}
	if (s->args->chakra && !s->n_traces)
		return to_usage(call, "--chakra: give the traces, one NAME.RANK.et a rank");
	return 0;
}

static int simulate_load_traces(struct simulate *s)
{
	const struct to_chakra_options options = { .ranks_per_server = 1 };
	struct to_chakra_totals totals;

	if (to_replay_init(&s->replay, s->n_traces))
		return to_error_set(&s->call->err, -ENOMEM, "out of memory");
	s->job = to_chakra_load(s->traces, s->n_traces, &options, &totals, &s->replay,
				&s->call->err);
	if (!s->job)
		return -EINVAL;
	if (s->plan && s->n_traces != s->n_servers)
		return to_error_set(&s->call->err, -EINVAL, "%u traces, one a server, and %s for %u",
				    s->n_traces, s->plan_path, s->n_servers);
	s->n_servers = s->n_traces;
	return to_large_check("--chakra", s->n_servers, s->args->large, &s->call->err);
}

static int simulate_load(struct simulate *s)
{
	const struct simulate_args *args = s->args;
	struct to_error *err = &s->call->err;

	if (s->plan_path) {
		s->plan = to_plan_load_shared(s->plan_path, err);
		if (!s->plan)
			return -EINVAL;
		s->n_servers = s->plan->cluster->n_servers;
	}
	if (args->job) {
		s->job = to_demand_load(args->job, to_large_most(args->large), err);
		if (!s->job)
			return -EINVAL;
		if (s->plan && s->job->n != s->n_servers)
			return to_error_set(err, -EINVAL, "%s is for %u servers, %s for %u",
					    args->job, s->job->n, s->plan_path, s->n_servers);
		s->n_servers = s->job->n;
	}
	if (s->n_traces && simulate_load_traces(s))
		return -EINVAL;
	if (args->model) {
		s->model = to_dnn_model_load(args->model, err);
		if (!s->model)
			return -EINVAL;
	}
	s->n_servers = s->n_servers ? s->n_servers : args->servers;
	s->degree = args->degree;
	s->bandwidth = args->bandwidth ? args->bandwidth : TO_SYNTHETIC_BANDWIDTH;
	if (s->file)
		return simulate_load_file(s);
	if (s->plan && !s->topoopt && !(args->degree && args->bandwidth))
		return simulate_plan_ports(s);
	return 0;
}

static int simulate_check(struct simulate *s)
{
	const struct simulate_args *args = s->args;
	struct to_call *call = s->call;

	if (!!args->model + !!args->job + args->chakra > 1)
		return to_usage(call, "--model, --job and --chakra are workloads: give one");
	if (!call->n_operands && !args->model && !args->job)
		return to_usage(call, "give a plan, --model, --job or --chakra");
	if (args->servers && (call->n_operands || args->job))
		return to_usage(call, "--servers is for --model: a plan, a job or traces have their own");
	if (s->file && (args->degree || args->bandwidth || args->prices))
		return to_usage(call, "--degree, --bandwidth and --prices are for fabrics that have a name");
	if (!s->plan_path && !args->degree && !s->file)
		return to_usage(call, "give --degree, or a plan whose servers have ports");
	if (!s->plan_path && args->model && !args->servers && !s->file)
		return to_usage(call, "give --servers, or a plan");
	if (args->servers > TO_SERVERS_USUAL && !args->large)
		return to_usage(call, "--servers: more than %u take --large", TO_SERVERS_USUAL);
	if (s->topoopt && (args->routing != SIMULATE_UNSAID || args->allreduce != SIMULATE_UNSAID))
		return to_usage(call, "--routing and --allreduce are for other fabrics: a plan says both");
	if (args->output && args->report && !strcmp(args->output, "-") && !strcmp(args->report, "-"))
		return to_usage(call, "simulation and page cannot both go to standard output");
	if (args->stragglers && !args->model && !args->chakra)
		return to_usage(call, "--stragglers is for --model and --chakra: a job does not compute");
	if (strcmp(args->placement, "search") && !args->model)
		return to_usage(call, "--placement is for --model");
	if (!strcmp(args->placement, "sip") && s->topoopt)
		return to_usage(call, "--placement sip is for other fabrics: toctl parallelize makes plans");
	if (s->changes && args->level == SIMULATE_PACKET)
		return to_usage(call, "--level packet: the links of %s change", args->fabric);
	if (s->topoopt && s->plan_path && (args->degree || args->bandwidth))
		return to_usage(call, "--degree and --bandwidth are for other fabrics, or without a plan");
	return 0;
}

/* A plan for the job, or one for the model with its strategy. */
static int simulate_make_plan(struct simulate *s)
{
	const struct to_planner_options options = { .degree = s->degree, .effort = TO_EFFORT_DEFAULT,
						    .seed = s->args->seed };
	const struct to_parallelize_options search = {
		.degree = s->degree, .batch_per_gpu = s->args->batch, .budget = s->args->budget,
		.seed = s->args->seed, .progress = simulate_parallelize_progress, .data = s };
	struct to_error *err = &s->call->err;
	struct to_cluster *cluster = to_cluster_synthetic(s->n_servers, s->degree, s->bandwidth,
							  TO_LINKS_DUPLEX, err);
	struct to_demand *demand;
	int ret;

	if (!cluster)
		return -EINVAL;
	if (!s->model || s->strategy) {
		demand = s->model ? to_strategy_demand(s->strategy, err) : to_demand_copy(s->job);
		if (!demand) {
			to_cluster_free(cluster);
			return -ENOMEM;
		}
		s->plan = to_planner_make(cluster, demand, &options, err);
		return s->plan ? 0 : -EINVAL;
	}
	ret = to_parallelize(s->model, cluster, s->n_servers, &search, &s->found, err);
	to_cluster_free(cluster);
	if (ret)
		return ret;
	s->plan = to_plan_hold(s->found.by[TO_APPROACH_SEARCH].plan);
	return 0;
}

static enum to_spread simulate_spread(const struct simulate_args *args)
{
	return args->routing != SIMULATE_UNSAID ? (enum to_spread)args->routing :
						  to_fabric_spread(args->fabric);
}

static enum to_algorithm simulate_algorithm(const struct simulate_args *args)
{
	return args->allreduce != SIMULATE_UNSAID ? (enum to_algorithm)args->allreduce :
						    to_fabric_algorithm(args->fabric);
}

static struct to_shortest_options simulate_shortest(const struct simulate *s, unsigned int index)
{
	return (struct to_shortest_options){
		.spread = simulate_spread(s->args),
		.algorithm = simulate_algorithm(s->args),
		.seed = s->args->seed + index, .delays = s->delays };
}

/* That of @fabric, for iteration @index. */
static struct to_router *simulate_router(struct simulate *s, const char *fabric,
					 unsigned int index)
{
	const struct to_network_setting setting = {
		.servers = s->n_servers, .degree = s->degree, .bandwidth = s->bandwidth,
		.latency = s->delays.link, .prices = s->prices };
	const struct to_shortest_options options = simulate_shortest(s, index);
	struct to_error why = { "" };
	struct to_router *router;

	if (s->topoopt)
		return to_router_of_plan(s->plan, &s->delays, &s->call->err);
	router = to_router_named(fabric, &setting, &options, &why);
	if (!router)
		to_error_set(&s->call->err, -EINVAL, "%s%.480s", s->file ? "" : "--fabric: ",
			     why.text);
	return router;
}

/* Is it to be told what links carry when? */
static bool simulate_records(const struct simulate *s)
{
	return (s->args->output || s->args->report) && s->args->level == SIMULATE_FLOW;
}

/* Where iteration @index runs; the caller keeps or frees what was there. */
static int simulate_make_router(struct simulate *s, unsigned int index)
{
	s->router = simulate_router(s, s->args->fabric, index);
	s->simulator = s->router ? to_simulator_on(s->router, &s->call->err) : NULL;
	if (!s->simulator)
		return -EINVAL;
	to_simulator_watch(s->simulator, simulate_watch, s);
	if (simulate_records(s) && to_simulator_record(s->simulator, &s->links[index % 2]))
		return to_error_set(&s->call->err, -ENOMEM, "out of memory");
	return 0;
}

/* What a job sends, all at once. */
static int simulate_demand_tasks(struct simulate *s, const struct to_demand *d)
{
	to_taskgraph_matrix(&s->tasks, d->mp);
	for (unsigned int g = 0; g < d->n_groups; g++)
		to_taskgraph_allreduce(&s->tasks, d->groups[g].members, d->groups[g].n_members,
				       d->groups[g].bytes);
	return to_taskgraph_finish(&s->tasks, &s->call->err);
}

/*
 * What strategies are chosen on: where links change while it runs, a switch of all, as if they
 * were there.
 */
static struct to_simulator *simulate_searched(struct simulate *s, struct to_router **router)
{
	const bool during = s->changes && strncmp(s->args->fabric, "sip-ocs", 7);

	*router = simulate_router(s, during ? "switch" : s->args->fabric, 0);
	return *router ? to_simulator_on(*router, &s->call->err) : NULL;
}

/* SiP-ML's placement, within reach of the fabric's servers. */
static int simulate_place(struct simulate *s)
{
	struct to_sub_ops_search search = {
		.model = s->model, .n_servers = s->n_servers, .batch_per_gpu = s->args->batch,
		.quantum = TO_SUB_OP_QUANTUM, .progress = simulate_search_watch, .data = s };
	struct to_error ignored = { "" };
	struct to_router *router;
	struct to_simulator *simulator = simulate_searched(s, &router);
	struct to_sip sip;
	int ret = -EINVAL;

	if (to_sip_read(s->args->fabric, &sip, &ignored) > 0)
		search.reach = sip.ring ? sip.reach + 1 : sip.ports;
	if (simulator)
		ret = to_sub_ops_find(&search, simulator, &s->sub_ops, &s->call->err);
	to_simulator_free(simulator);
	to_router_free(router);
	if (ret)
		return ret;
	s->result.strategy = to_sub_ops_json(&s->sub_ops);
	if (!s->result.strategy)
		return to_error_set(&s->call->err, -ENOMEM, "out of memory");
	return to_sub_ops_tasks(&s->sub_ops, &s->tasks, &s->call->err);
}

/* The strategy that is fastest on the fabric, before anyone is slow. */
static struct to_strategy *simulate_find_strategy(struct simulate *s)
{
	const struct to_strategy_search search = {
		.model = s->model, .n_servers = s->n_servers, .batch_per_gpu = s->args->batch,
		.budget = s->args->budget, .seed = s->args->seed,
		.bounded = simulate_algorithm(s->args) <= TO_ALGORITHM_RING_BOTH_WAYS,
		.progress = simulate_search_watch, .data = s };
	struct to_router *router;
	struct to_simulator *simulator = simulate_searched(s, &router);
	struct to_strategy *strategy = NULL;

	if (simulator)
		strategy = to_strategy_find(&search, simulator, &s->call->err);
	to_simulator_free(simulator);
	to_router_free(router);
	return strategy;
}

static int simulate_model_tasks(struct simulate *s)
{
	const struct to_strategy *strategy = s->strategy ? s->strategy :
					     s->found.by[TO_APPROACH_SEARCH].strategy;

	if (!strcmp(s->args->placement, "sip"))
		return simulate_place(s);
	if (!strategy)
		strategy = s->strategy = simulate_find_strategy(s);
	if (!strategy)
		return -EINVAL;
	s->result.strategy = to_strategy_json(strategy);
	if (!s->result.strategy)
		return to_error_set(&s->call->err, -ENOMEM, "out of memory");
	return to_strategy_tasks(strategy, &s->tasks, &s->call->err);
}

static int simulate_tasks(struct simulate *s)
{
	to_taskgraph_init(&s->tasks, s->n_servers);
	if (s->n_traces)
		return 0;
	if (s->model)
		return simulate_model_tasks(s);
	return simulate_demand_tasks(s, s->job ? s->job : s->plan->demand);
}

/* Only hashes, marks and stragglers differ from one iteration to the next. */
static bool simulate_random(const struct simulate *s)
{
	return s->slow || s->args->level == SIMULATE_PACKET ||
	       (!s->topoopt && simulate_spread(s->args) == TO_SPREAD_HASH);
}

static void simulate_draw_stragglers(struct simulate *s, unsigned int index)
{
	/* their numbers are not those of hashes, nor of the next seed's iterations */
	uint64_t random = s->args->seed, own = to_random_next(&random) ^ index;

	if (!s->slow)
		return;
	to_stragglers_draw(&s->stragglers, s->n_servers, s->slow, &own);
	to_simulator_slow(s->simulator, s->slow);
}

static const struct to_taskgraph *simulate_taskgraph(const struct simulate *s)
{
	return s->n_traces ? &s->replay.tasks : &s->tasks;
}

static const struct to_simulation *simulate_iteration(struct simulate *s, unsigned int index)
{
	const struct to_shortest_options options = simulate_shortest(s, index);

	simulate_draw_stragglers(s, index);
	if (s->args->level == SIMULATE_FLOW)
		return to_simulate(s->simulator, simulate_taskgraph(s), TO_SIMULATE_TRANSFERS, &s->call->err);
	return to_packet_level_run(&s->packets, s->router, s->topoopt ? s->plan : NULL, &options,
				   simulate_taskgraph(s), s->slow, simulate_watch, s, &s->call->err);
}

static int simulate_one(struct simulate *s, unsigned int index)
{
	struct to_simulated *r = &s->result;
	struct to_simulator *simulator = s->simulator;
	struct to_router *router = s->router;
	const struct to_simulation *run = NULL;

	s->iteration = index;
	if (!index || !simulate_make_router(s, index))
		run = simulate_iteration(s, index);
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
	r->utilisation = simulate_records(s) ? &s->links[index % 2] : NULL;
	r->alike = s->router->alike;
	return 0;
}

/* What stays the same in all iterations. */
static void simulate_describe(struct simulate *s)
{
	const struct simulate_args *args = s->args;
	struct to_simulated *r = &s->result;

	r->workload = s->model ? s->model->name : s->job ? s->job->name : s->plan->demand->name;
	r->fabric = args->fabric;
	r->plan = s->topoopt ? s->plan_path : NULL;
	r->routing = s->topoopt ? "tables of the plan" : to_spread_names[simulate_spread(args)];
	r->allreduce = s->topoopt ? "rings and trees of the plan" :
		       to_algorithm_names[simulate_algorithm(args)];
	r->stragglers = args->stragglers;
	r->changes = s->changes;
	r->delays = s->delays;
	r->tasks = simulate_taskgraph(s);
	r->packets = args->level == SIMULATE_PACKET ? &s->packets : NULL;
}

/* While others are still to come: whoever is killed leaves what was done. */
static int simulate_save_early(struct simulate *s)
{
	if (!s->args->output || !strcmp(s->args->output, "-") ||
	    time(NULL) < s->saved + SIMULATE_SAVE_SECONDS)
		return 0;
	s->saved = time(NULL);
	s->result.cpu = clock() / (double)CLOCKS_PER_SEC;
	return to_simulated_save(&s->result, s->args->output, &s->call->err);
}

/* What is done counts, also after a SIGINT. */
static int simulate_iterations(struct simulate *s)
{
	struct to_simulated *r = &s->result;
	const size_t n_links = s->router->network->n_links;
	int ret = 0;

	r->asked = !simulate_random(s) ? 1 : s->args->iterations ? s->args->iterations :
		   s->args->level == SIMULATE_FLOW ? SIMULATE_ITERATIONS : 1;
	r->times = calloc(r->asked, sizeof(*r->times));
	r->link_bytes = calloc(2 * n_links + 1, sizeof(*r->link_bytes));
	if (!r->times || !r->link_bytes)
		return to_error_set(&s->call->err, -ENOMEM, "out of memory");
	r->link_busy = r->link_bytes + n_links;
	simulate_describe(s);
	s->saved = time(NULL);
	for (unsigned int i = 0; !ret && i < r->asked && !simulate_stop; i++) {
		ret = simulate_one(s, i);
		if (!ret && i + 1 < r->asked)
			ret = simulate_save_early(s);
	}
	if (simulate_stop && !r->n)
		return to_error_set(&s->call->err, -EINTR, "interrupted in the first iteration");
	return simulate_stop ? 0 : ret;
}

static int simulate_output(struct simulate *s)
{
	const struct simulate_args *args = s->args;
	/* simulation.json, or the page, may go to standard output */
	const bool taken = (args->output && !strcmp(args->output, "-")) ||
			   (args->report && !strcmp(args->report, "-"));
	struct to_simulated *r = &s->result;
	json_t *json;
	int ret = 0;

	r->cpu = clock() / (double)CLOCKS_PER_SEC;
	if (args->output)
		ret = to_simulated_save(r, args->output, &s->call->err);
	if (!ret && args->report)
		ret = to_simulated_report(r, TO_VERSION, args->report, &s->call->err);
	if (ret || !s->call->json || taken) {
		if (!ret)
			to_simulated_print(taken ? stderr : stdout, r);
		return ret;
	}
	json = to_simulated_json(r);
	if (!json)
		return to_error_set(&s->call->err, -ENOMEM, "out of memory");
	json_dumpf(json, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
	putchar('\n');
	json_decref(json);
	return 0;
}

static int simulate_load_stragglers(struct simulate *s)
{
	struct to_error why = { "" };

	if (to_stragglers_parse(s->args->stragglers, &s->stragglers, &why))
		return to_error_set(&s->call->err, -EINVAL, "--stragglers: %.480s", why.text);
	s->slow = calloc(s->n_servers, sizeof(*s->slow));
	return s->slow ? 0 : to_error_set(&s->call->err, -ENOMEM, "out of memory");
}

static int simulate_all(struct simulate *s)
{
	const struct simulate_args *args = s->args;
	int ret = simulate_find_operands(s);

	if (!ret)
		ret = simulate_check(s);
	if (!ret)
		ret = simulate_load(s);
	if (!ret && args->prices)
		s->prices = to_prices_load(args->prices, &s->call->err);
	else if (!ret)
		s->prices = to_prices_default();
	if (!ret && !s->prices)
		return args->prices ? -EINVAL : to_error_set(&s->call->err, -ENOMEM, "out of memory");
	if (!ret && args->stragglers)
		ret = simulate_load_stragglers(s);
	if (!ret && s->model && strcmp(args->placement, "search") && strcmp(args->placement, "sip")) {
		s->strategy = to_given_strategy(args->placement, s->model, s->n_servers, args->batch,
						&s->call->err);
		ret = s->strategy ? 0 : -EINVAL;
	}
	if (!ret && s->topoopt && !s->plan)
		ret = simulate_make_plan(s);
	if (!ret)
		ret = simulate_make_router(s, 0);
	if (!ret)
		ret = simulate_tasks(s);
	if (!ret)
		ret = simulate_iterations(s);
	to_progress_end(&s->progress);
	return ret ? ret : simulate_output(s);
}

static int simulate_run(struct to_call *call, const void *data)
{
	const struct simulate_args *args = data;
	const struct sigaction action = { .sa_handler = simulate_signal, .sa_flags = SA_RESETHAND };
	struct simulate s = {
		.call = call, .args = args, .topoopt = !strcmp(args->fabric, "topoopt"),
		.file = to_fabric_is_file(args->fabric), .changes = to_fabric_changes(args->fabric),
		.packets = { .asked = &args->packets },
		.delays = { args->latency * 1e-9, args->relay_latency * 1e-9,
			    args->step_latency * 1e-9 } };
	int ret = to_packet_level_check(call, args, &args->packets);

	if (ret)
		return ret;
	if (args->rank.network)
		return to_rank_simulate(call, &args->rank, args->model, args->placement, args->batch);
	sigaction(SIGINT, &action, NULL);
	ret = simulate_all(&s);
	json_decref(s.result.strategy);
	to_utilisation_free(&s.links[0]);
	to_utilisation_free(&s.links[1]);
	free(s.slow);
	free(s.result.times);
	free(s.result.link_bytes);
	to_packet_level_free(&s.packets);
	to_simulator_free(s.simulator);
	to_router_free(s.router);
	to_taskgraph_free(&s.tasks);
	to_replay_free(&s.replay);
	free(s.traces);
	to_strategy_free(s.strategy);
	to_sub_ops_free(&s.sub_ops);
	to_parallelized_free(&s.found);
	to_prices_free(s.prices);
	to_dnn_model_free(s.model);
	to_demand_free(s.job);
	to_plan_free(s.plan);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct simulate_args, field)

static const struct to_option simulate_options[] = {
	{ "model", 'm', TO_OPTION_STRING, FIELD(model), .argument = "FILE",
	  .help = "workload: a model's operators and the GPUs of a server" },
	{ "job", 'j', TO_OPTION_STRING, FIELD(job), .argument = "FILE",
	  .help = "workload: what a job sends, all at once; default: the plan's job" },
	{ "chakra", 0, TO_OPTION_FLAG, FIELD(chakra),
	  .help = "workload: the TRACEs, with their dependencies" },
	{ "fabric", 'f', TO_OPTION_STRING, FIELD(fabric), .argument = "FABRIC|FILE",
	  .help = "what the servers are joined by, see above; default: topoopt" },
	{ "servers", 'n', TO_OPTION_NUMBER, FIELD(servers), .argument = "N",
	  .min = 2, .max = TO_SERVERS_MAX, .help = "servers that train the model" },
	{ "degree", 'd', TO_OPTION_NUMBER, FIELD(degree), .argument = "D",
	  .min = 1, .max = TO_PORTS_MAX, .help = "ports of a server; default: as in the plan" },
	{ "bandwidth", 'b', TO_OPTION_RATE, FIELD(bandwidth), .argument = "RATE",
	  .min = 1, .max = INT64_MAX, .help = "of a port; default: as in the plan, else 100G" },
	{ "routing", 0, TO_OPTION_CHOICE, FIELD(routing), .choices = to_spread_names,
	  .help = "over shortest paths of equal length; default: as above" },
	{ "allreduce", 0, TO_OPTION_CHOICE, FIELD(allreduce), .choices = to_algorithm_names,
	  .help = "algorithm on other fabrics than topoopt; default: ring-both-ways on direct links, else ring" },
	{ "latency", 0, TO_OPTION_DURATION, FIELD(latency), .argument = "TIME",
	  .max = 1000000000, .help = "of a link; default: 1us" },
	{ "relay-latency", 0, TO_OPTION_DURATION, FIELD(relay_latency), .argument = "TIME",
	  .max = 1000000000, .help = "of a server that relays; default: 1350ns" },
	{ "step-latency", 0, TO_OPTION_DURATION, FIELD(step_latency), .argument = "TIME",
	  .max = 1000000000, .help = "to begin a step of an AllReduce, or an MP transfer; default: 0" },
	{ "iterations", 'i', TO_OPTION_NUMBER, FIELD(iterations), .argument = "I",
	  .min = 1, .max = 1000000,
	  .help = "how many, where they are random; default: 20, at packet level 1" },
	{ "stragglers", 0, TO_OPTION_STRING, FIELD(stragglers), .argument = "DIST",
	  .help = "servers that compute slower in an iteration, see above; default: none" },
	{ "batch", 0, TO_OPTION_NUMBER, FIELD(batch), .argument = "B", .min = 1, .max = 1000000,
	  .help = "samples per GPU and iteration; default: as the model says" },
	{ "budget", 0, TO_OPTION_NUMBER, FIELD(budget), .argument = "STEPS",
	  .min = 4, .max = 100000000,
	  .help = "strategies that the search for the model's tries; default: 1000" },
	{ "placement", 0, TO_OPTION_STRING, FIELD(placement), .argument = "PLACEMENT|FILE",
	  .help = "of the model's operators: by search, as SiP-ML does (sip, see toctl parallelize), data (data parallelism), tables (and each embedding table on one server), or that of a FILE that --json was kept in; default: search, with --network data" },
	{ "seed", 's', TO_OPTION_NUMBER, FIELD(seed), .argument = "S", .max = INT64_MAX,
	  .help = "random seed; same seed, same result; default: 1" },
	{ "prices", 'p', TO_OPTION_STRING, FIELD(prices), .argument = "FILE",
	  .help = "prices.json of cost-equivalent; default: Table 3 of the TopoOpt paper" },
	{ "output", 'o', TO_OPTION_OUTPUT, FIELD(output), .argument = "FILE",
	  .help = "where to write all of it, with the last iteration's tasks and transfers; default: nowhere" },
	{ "report", 'r', TO_OPTION_OUTPUT, FIELD(report), .argument = "FILE",
	  .help = "also draw that as an HTML page, see toctl report" },
	TO_LARGE_OPTION(offsetof(struct simulate_args, large)),
	{ "level", 'l', TO_OPTION_CHOICE, FIELD(level), .choices = simulate_levels,
	  .help = "flow: fair rates; packet: each packet, in queues; default: flow" },
	TO_PACKET_LEVEL_OPTIONS(struct simulate_args, packets),
	TO_RANK_OPTIONS(struct simulate_args, rank),
	{}
};

const struct to_command to_cmd_simulate = {
	.name = "simulate",
	.summary = "Simulate iterations of a job on a fabric",
	.operands = "[PLAN] [TRACE...]",
	.max_operands = TO_SERVERS_MAX + 1,
	.options = simulate_options,
	.args_size = sizeof(struct simulate_args),
	.defaults = &(const struct simulate_args){
		.fabric = "topoopt", .latency = 1000, .relay_latency = 1350, 
		.budget = TO_PARALLELIZE_BUDGET, .seed = 1, .placement = "search", .routing = SIMULATE_UNSAID,
		.allreduce = SIMULATE_UNSAID, .rank = { TO_RANK_DEFAULTS } },
	.run = simulate_run,
};
