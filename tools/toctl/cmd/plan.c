// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "collectives/collective_plan.h"
#include "cli/command.h"
#include "figures.h"
#include "format/cluster_json.h"
#include "format/demand_json.h"
#include "format/plan_json.h"
#include "cli/large.h"
#include "plan/plan_completion.h"
#include "plan/planner.h"
#include "cli/progress.h"
#include "report/report.h"
#include "routing/routing.h"
#include "routing/up_down.h"
#include "topology/mesh.h"
#include "topology/sip.h"
#include "topology/switched.h"

struct plan_args {
	const char *cluster, *job, *output, *report, *family, *topology;
	uint64_t degree, servers, bandwidth, effort, seed, step_latency, relay_latency;
	double max_stretch;
	int links, collective;
	bool fixed, large, rings, one_order, no_buffer_cycles;
};

#define PLAN_LINKS_UNSAID (-1)

/* In the order of enum to_link_mode. */
static const char *const plan_links[] = { "duplex", "simplex", NULL };

/* A synthetic cluster, its servers named as in the job where that has names. */
static struct to_cluster *plan_synthetic(const struct plan_args *args,
				       const struct to_demand *demand, enum to_link_mode mode,
				       struct to_error *err)
{
	struct to_cluster *cluster;
	unsigned int i;

	cluster = to_cluster_synthetic(args->servers ? args->servers : demand->n, args->degree,
				       args->bandwidth, mode, err);
	if (!cluster || !demand->names || args->servers)
		return cluster;
	for (i = 0; i < demand->n; i++)
		memcpy(cluster->servers[i].name, demand->names[i], TO_NAME_MAX);
	if (!to_cluster_sort(cluster))
		return cluster;
	to_error_set(err, -ENOMEM, "out of memory");
	to_cluster_free(cluster);
	return NULL;
}

/* One of the fabrics of SiP-ML, with links as suit the job. */
static struct to_cluster *plan_sip(const struct plan_args *args, const struct to_sip *sip,
				   const struct to_demand *demand, struct to_error *err)
{
	struct plan_args fabric = *args;
	struct to_cluster *cluster;

	fabric.degree = sip->ports;
	if (sip->ring && !fabric.bandwidth)
		fabric.bandwidth = TO_SIP_WAVELENGTH;
	cluster = plan_synthetic(&fabric, demand, TO_LINKS_SIMPLEX, err);
	if (!cluster || !to_sip_cable(sip, demand, cluster, err))
		return cluster;
	to_cluster_free(cluster);
	return NULL;
}

/* What --topology can say. */
enum plan_shape { PLAN_MESH, PLAN_BCUBE, PLAN_RAIL };

/* Which shape @word is, and its numbers. Return: a plan_shape or -EINVAL. */
static int plan_read_shape(const char *word, unsigned int *n, unsigned int *k)
{
	int end = 0;

	if (strpbrk(word, "+- "))
		return -EINVAL;
	if (sscanf(word, "mesh:%5u,%5u%n", n, k, &end) == 2 && !word[end])
		return PLAN_MESH;
	if (sscanf(word, "bcube:%5u,%5u%n", n, k, &end) == 2 && !word[end])
		return PLAN_BCUBE;
	if (sscanf(word, "rail:%5u%n", n, &end) == 1 && !word[end])
		return PLAN_RAIL;
	return -EINVAL;
}

/* A synthetic cluster with the links that --topology says. */
static struct to_cluster *plan_topology(const struct plan_args *args,
					const struct to_demand *demand, struct to_error *err)
{
	struct plan_args ports = *args;
	struct to_cluster *cluster;
	struct to_bcube bcube;
	struct to_sip sip;
	unsigned int n = 0, k = 0;
	int shape, ret = to_sip_read(args->topology, &sip, err);

	if (ret)
		return ret > 0 ? plan_sip(args, &sip, demand, err) : NULL;
	shape = plan_read_shape(args->topology, &n, &k);
	if (shape < 0) {
		to_error_set(err, -EINVAL, "--topology %s: expected mesh:n,k, bcube:n,k, rail:g, sip-ring:W,REACH or sip-ocs:Q",
			     args->topology);
		return NULL;
	}
	if (shape != PLAN_RAIL && to_bcube_init(&bcube, n, k, err))
		return NULL;
	if (shape != PLAN_RAIL && bcube.servers != demand->n) {
		to_error_set(err, -EINVAL, "%s has %u servers, the job %u", args->topology, bcube.servers,
			     demand->n);
		return NULL;
	}
	ports.degree = shape == PLAN_MESH ? to_mesh_ports(&bcube) : shape == PLAN_RAIL ? n : k;
	cluster = plan_synthetic(&ports, demand, TO_LINKS_DUPLEX, err);
	if (!cluster)
		return NULL;
	if (shape == PLAN_MESH)
		ret = to_mesh_cable(cluster, &bcube) ? to_error_set(err, -ENOMEM, "out of memory") : 0;
	else
		ret = shape == PLAN_BCUBE ? to_switched_bcube(cluster, &bcube, err) :
					    to_switched_rails(cluster, err);
	if (!ret)
		return cluster;
	to_cluster_free(cluster);
	return NULL;
}

static struct to_cluster *plan_cluster(const struct plan_args *args,
				       const struct to_demand *demand, struct to_error *err)
{
	bool said = args->links != PLAN_LINKS_UNSAID;
	struct to_cluster *cluster;

	if (args->topology)
		return plan_topology(args, demand, err);
	if (!args->cluster)
		return plan_synthetic(args, demand, said ? args->links : TO_LINKS_DUPLEX, err);
	cluster = to_cluster_load_shared(args->cluster, err);
	if (cluster && said)
		cluster->link_mode = args->links;
	if (!cluster || args->fixed || !cluster->n_packet_switches)
		return cluster;
	to_error_set(err, -EINVAL, "%s: packet switches (\"%s\") make all links between their ports: --fixed keeps them",
		     args->cluster, cluster->packet_switches[0].name);
	to_cluster_free(cluster);
	return NULL;
}

/* Communication time of the plan with rings of any order, in seconds. */
static int plan_free_time(const struct to_cluster *cluster, const struct to_demand *demand,
			  const struct to_planner_knobs *options, double *time,
			  struct to_error *err)
{
	struct to_planner_knobs others = *options;
	struct to_cluster *servers = to_cluster_copy(cluster);
	struct to_demand *traffic = to_demand_copy(demand);
	struct to_figures figures;
	struct to_plan *plan;
	int ret;

	if (!servers || !traffic) {
		to_cluster_free(servers);
		to_demand_free(traffic);
		return to_error_set(err, -ENOMEM, "out of memory");
	}
	others.family = NULL;
	others.rings = true;
	others.progress = NULL;
	plan = to_planner_make(servers, traffic, &others, err);
	if (!plan)
		return -EINVAL;
	ret = to_predict_plan(plan, &figures);
	*time = figures.comm_time;
	to_plan_free(plan);
	return ret ? to_error_set(err, ret, "out of memory") : 0;
}

/*
 * Other routes for @plan, without buffer cycles.
 * @with: gets the figures of those that it had
 */
static int plan_break_cycles(struct to_plan *plan, struct to_figures *with, struct to_error *err)
{
	int ret = to_predict_plan_routes(plan, with);

	if (ret)
		return to_error_set(err, ret, "out of memory");
	ret = to_up_down_fill(plan, err);
	return ret ? ret : to_routing_backups(plan, err);
}

/* What that costs. */
static void plan_print_cycles(FILE *out, const struct to_figures *now, const struct to_figures *with)
{
	fprintf(out, "  no buffer cycles   busiest link %.4g MB, %.4g with them (%+.3g %%); mean hops %.3f, %.3f with them; communication %.4g ms, %.4g with them\n",
		now->max_link_load / 1e6, with->max_link_load / 1e6,
		with->max_link_load > 0 ? 100 * (now->max_link_load / with->max_link_load - 1) : 0,
		now->hops.all.mean, with->hops.all.mean, now->comm_time * 1e3, with->comm_time * 1e3);
}

/* Have the plan's job do AllReduce as --collective says. */
static int plan_set_collective(struct to_plan *plan, enum to_collective_algorithm algorithm,
			       struct to_error *err)
{
	const struct to_demand *demand = plan->demand;
	struct to_collective_plan c;
	int ret;

	plan->collective = algorithm;
	if (algorithm == TO_COLLECTIVE_PLAN)
		return 0;
	if (!demand->n_groups)
		return to_error_set(err, -EINVAL, "--collective %s: the job has no AllReduce",
				    to_collective_algorithms[algorithm]);
	ret = to_collective_plan_init(&c, plan, algorithm, 0, false,
				      demand->groups[0].bytes / sizeof(float), err);
	if (!ret)
		to_collective_plan_free(&c);
	return ret;
}

/* Threads and steps of a server, and what the busiest port sends. */
static int plan_print_collective(FILE *out, const struct to_plan *plan, struct to_error *err)
{
	const uint64_t size = plan->demand->groups[0].bytes / sizeof(float);
	struct to_collective_plan c;
	struct to_steps steps;
	int ret = to_collective_plan_init(&c, plan, plan->collective, 0, false, size, err);

	if (ret)
		return ret;
	ret = to_collective_plan_steps(&c, 0, &steps);
	if (!ret) {
		fprintf(out, "  collective         %s: %u thread%s of %u steps",
			to_collective_algorithms[plan->collective], steps.n_threads,
			steps.n_threads == 1 ? "" : "s", steps.threads[0].n);
		if (c.bcube.servers)
			fprintf(out, " on BCube(%u,%u)", c.bcube.n, c.bcube.k);
		fprintf(out, ", see tosim steps\n");
		to_steps_free(&steps);
	} else {
		to_error_set(err, ret, "out of memory");
	}
	to_collective_plan_free(&c);
	return ret;
}

#define PLAN_MADE 75		/* percent of the time, at 1024 servers; then figures */

static void plan_progress(void *data, unsigned int percent)
{
	to_progress(data, percent * PLAN_MADE / 100, 100);
}

static int plan_run(struct to_call *call, const void *data)
{
	const struct plan_args *args = data;
	struct to_planner_knobs options = {
		.fixed = args->fixed || args->topology, .rings = args->rings, .degree = args->degree,
		.effort = args->effort, .max_stretch = args->max_stretch, .seed = args->seed,
		.latency = { args->step_latency * 1e-9, args->relay_latency * 1e-9 },
		.progress = plan_progress };
	/* the plan or its report may go to standard output */
	bool plan_out = !strcmp(args->output, "-");
	bool report_out = args->report && !strcmp(args->report, "-");
	FILE *out = plan_out || report_out ? stderr : stdout;
	struct to_progress progress = { 0 };
	struct to_demand *demand;
	struct to_cluster *cluster;
	struct to_plan *plan;
	struct to_figures figures, with;
	char time[16], without[16];
	double free_time = 0;
	int ret;

	if (!args->cluster && args->fixed)
		return to_usage(call, "--fixed keeps the links of a cluster: give it with --cluster");
	if (plan_out && report_out)
		return to_usage(call, "plan and report cannot both go to standard output: give -o");
	if (args->topology && (args->cluster || args->degree || args->servers || args->family ||
			       args->one_order || args->links != PLAN_LINKS_UNSAID))
		return to_usage(call, "--topology says servers and links: with it go only --bandwidth, --collective, --rings, --max-stretch, --step-latency, --relay-latency, --effort and --seed");
	if (!args->cluster && !args->degree && !args->topology)
		return to_usage(call, "give --cluster, --degree or --topology");
	if (args->cluster && args->servers)
		return to_usage(call, "--servers is for synthetic clusters (--degree)");
	if (args->cluster && args->bandwidth)
		return to_usage(call, "--bandwidth is for synthetic clusters (--degree)");
	if (args->fixed && (args->links != PLAN_LINKS_UNSAID || args->degree))
		return to_usage(call, "--fixed keeps the links: it excludes --links and --degree");
	if (args->fixed && (args->family || args->one_order))
		return to_usage(call, "--%s chooses links, --fixed keeps them",
				args->family ? "family" : "one-order");
	if (args->family && args->one_order)
		return to_usage(call, "--one-order is a family: it excludes --family");
	if (args->one_order)
		options.family = &to_family_one_order;
	if (args->max_stretch < 1)
		return to_usage(call, "--max-stretch: a route cannot be shorter than a shortest path: 1 or more");
	if (args->family) {
		options.family = to_family_find(args->family, &call->err);
		if (!options.family)
			return -EINVAL;
	}
	if (args->servers > TO_SERVERS_USUAL && !args->large)
		return to_usage(call, "--servers: more than %u take --large", TO_SERVERS_USUAL);
	demand = to_demand_load(args->job, to_large_most(args->large), &call->err);
	if (!demand)
		return -EINVAL;
	cluster = plan_cluster(args, demand, &call->err);
	if (!cluster) {
		to_demand_free(demand);
		return -EINVAL;
	}
	/* the first word of the planner may take seconds */
	to_progress(&progress, 0, 100);
	if (args->one_order && plan_free_time(cluster, demand, &options, &free_time, &call->err)) {
		to_progress_end(&progress);
		to_cluster_free(cluster);
		to_demand_free(demand);
		return -EINVAL;
	}
	options.data = &progress;
	plan = to_planner_make(cluster, demand, &options, &call->err);
	if (!plan) {
		to_progress_end(&progress);
		return -EINVAL;
	}
	ret = args->no_buffer_cycles ? plan_break_cycles(plan, &with, &call->err) : 0;
	if (!ret && to_plan_completion_all_predictions(plan, args->effort, &figures))
		ret = to_error_set(&call->err, -ENOMEM, "out of memory");
	to_progress_end(&progress);
	if (!ret)
		ret = plan_set_collective(plan, args->collective, &call->err);
	if (!ret)
		ret = to_plan_save(plan, args->output, &call->err);
	if (!ret && args->report)
		ret = to_report_save(plan, TO_VERSION, args->report, &call->err);
	if (!ret && call->json && out == stdout) {
		if (args->one_order)
			json_object_set_new(plan->predictions, "free_comm_time",
					    json_real(free_time));
		if (args->no_buffer_cycles)
			json_object_set_new(plan->predictions, "with_buffer_cycles", json_pack(
				"{s:f, s:f, s:f}", "max_link_load_bytes", with.max_link_load,
				"mean_hops", with.hops.all.mean, "comm_time_s", with.comm_time));
		json_dumpf(plan->predictions, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
		putchar('\n');
	} else if (!ret) {
		to_figures_print(out, plan, &figures);
		if (plan->collective != TO_COLLECTIVE_PLAN)
			ret = plan_print_collective(out, plan, &call->err);
		if (args->no_buffer_cycles)
			plan_print_cycles(out, &figures, &with);
		if (args->one_order)
			fprintf(out, "  one order of ranks: communication time %s, %+.3g %% of the %s that a free plan takes\n",
				to_seconds_text(figures.comm_time, time),
				free_time > 0 ? 100 * (figures.comm_time / free_time - 1) : 0,
				to_seconds_text(free_time, without));
	}
	to_plan_free(plan);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct plan_args, field)

static const struct to_option plan_options[] = {
	{ "job", 'j', TO_OPTION_STRING, FIELD(job), .required = true, .argument = "FILE",
	  .help = "traffic of one training iteration" },
	{ "cluster", 'c', TO_OPTION_STRING, FIELD(cluster), .argument = "FILE",
	  .help = "servers, ports and optical switches; default: synthetic, from --degree" },
	{ "output", 'o', TO_OPTION_OUTPUT, FIELD(output), .argument = "FILE",
	  .help = "where to write the plan; default: standard output" },
	{ "report", 'r', TO_OPTION_OUTPUT, FIELD(report), .argument = "FILE",
	  .help = "also write an HTML page, see toctl report" },
	{ "fixed", 'f', TO_OPTION_FLAG, FIELD(fixed),
	  .help = "keep the cluster's links; plan rings or trees, and routes only" },
	{ "links", 'l', TO_OPTION_CHOICE, FIELD(links), .argument = "MODE",
	  .choices = plan_links,
	  .help = "links carry both directions or one; default: as the cluster says, "
		  "else duplex" },
	{ "degree", 'd', TO_OPTION_NUMBER, FIELD(degree), .argument = "D",
	  .min = 1, .max = TO_PORTS_MAX, .help = "ports to use per server" },
	{ "servers", 'n', TO_OPTION_NUMBER, FIELD(servers), .argument = "N",
	  .min = 2, .max = TO_SERVERS_MAX,
	  .help = "servers of a synthetic cluster; default: as many as the job has" },
	TO_LARGE_OPTION(offsetof(struct plan_args, large)),
	{ "bandwidth", 'b', TO_OPTION_RATE, FIELD(bandwidth), .argument = "RATE",
	  .min = 1, .max = INT64_MAX, .help = "per port of a synthetic cluster; default: 100G" },
	{ "topology", 't', TO_OPTION_STRING, FIELD(topology), .argument = "WORD",
	  .help = "links of a synthetic cluster: bcube:n,k, packet switches of n ports that join "
		  "servers which differ in one of the k digits, to base n, of their number; mesh:n,k, "
		  "the same with cables for its switches; rail:g, g ports, each on a packet switch with "
		  "those of all others; sip-ring:W,REACH or sip-ocs:Q, see above" },
	{ "family", 'F', TO_OPTION_STRING, FIELD(family), .argument = "NAME",
	  .help = "only topologies of this family (totient is the paper's); an unknown "
		  "name lists all; default: the best of all families" },
	{ "collective", 0, TO_OPTION_CHOICE, FIELD(collective), .argument = "NAME",
	  .choices = to_collective_algorithms,
	  .help = "how the job does AllReduce, for toctl collective: on the plan's rings or trees, one "
		  "ring, ps (parameter servers) or bml (on BCube); default: plan" },
	{ "rings", 0, TO_OPTION_FLAG, FIELD(rings),
	  .help = "AllReduce on rings alone, for clients that know no trees (MPI, NCCL)" },
	{ "one-order", 0, TO_OPTION_FLAG, FIELD(one_order),
	  .help = "all AllReduce rings in one order, on parallel links, for clients that know "
		  "one (NCCL); prints what that costs" },
	{ "no-buffer-cycles", 0, TO_OPTION_FLAG, FIELD(no_buffer_cycles),
	  .help = "routes on which no lossless class can deadlock, for links that hardware joins; prints "
		  "what that costs" },
	{ "max-stretch", 'S', TO_OPTION_REAL, FIELD(max_stretch), .argument = "X",
	  .help = "most hops of a route over those of a shortest path: longer ones balance "
		  "loads, but take time; default: 3" },
	{ "step-latency", 0, TO_OPTION_DURATION, FIELD(step_latency), .argument = "TIME",
	  .max = 1000000000, .help = "of a message of AllReduce to a neighbour, see above; default: 8us" },
	{ "relay-latency", 0, TO_OPTION_DURATION, FIELD(relay_latency), .argument = "TIME",
	  .max = 1000000000, .help = "of each server that passes it on; default: 1350ns" },
	{ "effort", 'e', TO_OPTION_NUMBER, FIELD(effort), .argument = "E",
	  .min = TO_EFFORT_MIN, .max = TO_EFFORT_MAX,
	  .help = "1 to 9: better plans for more time, which each step doubles; default: 5" },
	{ "seed", 's', TO_OPTION_NUMBER, FIELD(seed), .argument = "S", .max = INT64_MAX,
	  .help = "random seed; same seed, same plan; default: 1" },
	{}
};

const struct to_command to_cmd_plan = {
	.name = "plan",
	.summary = "Plan links, rings and routes for a job",
	.options = plan_options,
	.args_size = sizeof(struct plan_args),
	.defaults = &(const struct plan_args){
		.output = "-", .effort = TO_EFFORT_DEFAULT, .seed = 1,
		.max_stretch = TO_STRETCH_DEFAULT, .step_latency = TO_STEP_LATENCY_DEFAULT,
		.relay_latency = TO_RELAY_LATENCY_DEFAULT,
		.links = PLAN_LINKS_UNSAID },
	.run = plan_run,
};
