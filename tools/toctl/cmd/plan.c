// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>

#include "assessment_print.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/large.h"
#include "cli/progress.h"
#include "data/addresses.h"
#include "format/cluster_json.h"
#include "format/demand_json.h"
#include "format/plan_json.h"
#include "plan/plan_completion.h"
#include "plan/planner.h"
#include "report/report.h"
#include "topology/named_topology.h"

/* Over 200 lines: the planner has many knobs, each an option. */

#define PLAN_MADE 60		/* percent of the time until the plan is made; then it is verified */

struct plan_args {
	const char *cluster, *job, *output, *report, *family, *topology;
	uint64_t degree, bandwidth, effort, seed, step_latency, relay_latency;
	double max_stretch;
	int links, algorithm;
	bool fixed, large, rings, no_buffer_cycles;
};

#define PLAN_LINKS_UNSAID (-1)

/* In the order of enum to_link_mode. */
static const char *const plan_links[] = { "duplex", "simplex", NULL };

static struct to_cluster *plan_cluster(const struct plan_args *args,
				       const struct to_demand *demand, struct to_error *err)
{
	bool said = args->links != PLAN_LINKS_UNSAID;
	struct to_cluster *cluster;

	if (args->topology)
		return to_named_topology(args->topology, demand, args->bandwidth, err);
	if (!args->cluster)
		return to_named_topology_none(demand, args->degree, args->bandwidth,
					      said ? args->links : TO_LINKS_DUPLEX, err);
	cluster = to_cluster_load_shared(args->cluster, err);
	if (cluster && said)
		cluster->link_mode = args->links;
	if (!cluster || args->fixed)
		return cluster;
	if (cluster->n_packet_switches)
		to_error_set(err, -EINVAL, "%s: packet switches (\"%s\") make all links between their ports: --fixed keeps them",
			     args->cluster, cluster->packet_switches[0].name);
	else if (to_cluster_shares_cables(cluster))
		to_error_set(err, -EINVAL, "%s: ports share cables, which no plan can move apart: --fixed keeps the links",
			     args->cluster);
	else
		return cluster;
	to_cluster_free(cluster);
	return NULL;
}

static void plan_progress(void *data, unsigned int percent)
{
	to_progress(data, percent * PLAN_MADE / 100, 100);
}

static void plan_verify_progress(void *data, unsigned int percent)
{
	to_progress(data, PLAN_MADE + percent * (100 - PLAN_MADE) / 100, 100);
}

static int plan_print(struct to_call *call, FILE *out, const struct to_plan *plan,
		      const struct to_planner_price *price, struct to_progress *progress)
{
	struct to_assessment assessment;
	int ret = to_assessment_make(plan, NULL, call->quiet ? NULL : plan_verify_progress, progress,
				     &assessment);

	to_progress_end(progress);
	if (ret)
		return to_error_set(&call->err, ret, "out of memory");
	to_assessment_print(out, plan, &assessment, call->verbose);
	to_planner_price_print(out, price, &assessment.report.figures);
	to_assessment_free(&assessment);
	return 0;
}

/* Write @plan and its page, and print its figures. */
static int plan_write(struct to_call *call, const struct plan_args *args, const struct to_plan *plan,
		      const struct to_planner_price *price, struct to_progress *progress)
{
	bool taken = !strcmp(args->output, "-") || (args->report && !strcmp(args->report, "-"));
	int ret = to_plan_save(plan, args->output, &call->err);

	if (!ret && args->report)
		ret = to_report_save(plan, TO_VERSION, args->report, &call->err);
	if (!ret && call->json && !taken) {
		to_planner_price_json(price, plan->predictions);
		to_json_write(plan->predictions, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
		putchar('\n');
	} else if (!ret && !(taken && call->quiet)) {
		ret = plan_print(call, taken ? stderr : stdout, plan, price, progress);
	}
	return ret;
}

static int plan_check(struct to_call *call, const struct plan_args *args)
{
	const bool links = args->links != PLAN_LINKS_UNSAID;

	if (!args->cluster && args->fixed)
		return to_usage(call, "--fixed keeps the links of a cluster: give it with --cluster");
	if (!strcmp(args->output, "-") && args->report && !strcmp(args->report, "-"))
		return to_usage(call, "plan and report cannot both go to standard output: give -o");
	if (args->topology && (args->cluster || args->degree || args->family || links))
		return to_usage(call, "--topology says servers and links: it excludes --cluster, --degree, --family and --links");
	if (!args->cluster && !args->degree && !args->topology)
		return to_usage(call, "give --cluster, --degree or --topology");
	if (args->cluster && args->bandwidth)
		return to_usage(call, "--bandwidth is for synthetic clusters (--degree)");
	if (args->fixed && (links || args->degree))
		return to_usage(call, "--fixed keeps the links: it excludes --links and --degree");
	if (args->fixed && args->family)
		return to_usage(call, "--family chooses links, --fixed keeps them");
	if (args->max_stretch < 1)
		return to_usage(call, "--max-stretch: a route cannot be shorter than a shortest path: 1 or more");
	return 0;
}

/* Say it when clients that compare subnets cannot find the cables of @cluster. */
static void plan_note_subnets(const struct to_call *call, const struct to_cluster *cluster)
{
	if (!cluster->n_switches && !to_addresses_subnet(cluster, cluster->links, cluster->n_links))
		to_call_note(call, TO_ADDRESSES_MIXED "; " TO_ADDRESSES_RENUMBER);
}

static int plan_run(struct to_call *call, const void *data)
{
	const struct plan_args *args = data;
	struct to_progress progress = { 0 };
	struct to_planner_knobs knobs = {
		.degree = args->degree, .effort = args->effort, .seed = args->seed,
		.fixed = args->fixed || args->topology, .rings = args->rings,
		.no_buffer_cycles = args->no_buffer_cycles, .max_stretch = args->max_stretch,
		.latency = { args->step_latency * 1e-9, args->relay_latency * 1e-9 },
		.algorithm = args->algorithm,
		.progress = call->quiet ? NULL : plan_progress, .data = &progress };
	struct to_planner_price price;
	struct to_demand *demand;
	struct to_cluster *cluster;
	struct to_figures figures;
	struct to_plan *plan;
	int ret = plan_check(call, args);

	if (ret)
		return ret;
	if (args->family) {
		knobs.family = to_family_find(args->family, &call->err);
		if (!knobs.family)
			return -EINVAL;
	}
	demand = to_demand_load(args->job, to_large_most(args->large), &call->err);
	if (!demand)
		return -EINVAL;
	cluster = plan_cluster(args, demand, &call->err);
	if (!cluster) {
		to_demand_free(demand);
		return -EINVAL;
	}
	if (args->cluster && args->fixed)
		plan_note_subnets(call, cluster);
	/* the planner may take seconds until it says how far it is */
	if (!call->quiet)
		to_progress(&progress, 0, 100);
	plan = to_planner_make_priced(cluster, demand, &knobs, &price, &call->err);
	if (!plan)
		ret = -EINVAL;
	else if (to_plan_completion_all_predictions(plan, args->effort, &figures))
		ret = to_error_set(&call->err, -ENOMEM, "out of memory");
	if (!ret)
		ret = plan_write(call, args, plan, &price, &progress);
	to_progress_end(&progress);
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
	  .help = "plan to write; default: standard output" },
	{ "report", 'r', TO_OPTION_OUTPUT, FIELD(report), .argument = "FILE",
	  .help = "HTML page to write, see toctl report" },
	{ "fixed", 0, TO_OPTION_FLAG, FIELD(fixed),
	  .help = "keep the links of the cluster; plan rings, trees and routes only" },
	{ "degree", 'd', TO_OPTION_NUMBER, FIELD(degree), .argument = "D",
	  .min = 1, .max = TO_PORTS_MAX, .help = "ports to use per server" },
	{ "links", 0, TO_OPTION_CHOICE, FIELD(links), .choices = plan_links,
	  .help = "directions of a link; default: as in the cluster, else duplex" },
	{ "bandwidth", 'b', TO_OPTION_RATE, FIELD(bandwidth), .argument = "RATE",
	  .min = 1, .max = INT64_MAX, .help = "per port of a synthetic cluster; default: 100G" },
	{ "topology", 0, TO_OPTION_STRING, FIELD(topology), .argument = "WORD",
	  .help = "links of a synthetic cluster: " TO_NAMED_TOPOLOGIES },
	{ "family", 0, TO_OPTION_STRING, FIELD(family), .argument = "NAME",
	  .help = "only topologies of this family: totient is the paper's, one-order suits NCCL; "
		  "an unknown name lists all" },
	{ "algorithm", 0, TO_OPTION_CHOICE, FIELD(algorithm), .choices = to_collective_algorithms,
	  .help = "AllReduce of toctl collective: on the plan's rings or trees, one ring, "
		  "parameter servers, BML; default: plan" },
	{ "rings", 0, TO_OPTION_FLAG, FIELD(rings),
	  .help = "AllReduce on rings alone, for clients that know no trees (MPI, NCCL)" },
	{ "no-buffer-cycles", 0, TO_OPTION_FLAG, FIELD(no_buffer_cycles),
	  .help = "routes on which PFC cannot deadlock, where hardware forwards" },
	{ "effort", 'e', TO_OPTION_NUMBER, FIELD(effort), .argument = "E",
	  .min = TO_EFFORT_MIN, .max = TO_EFFORT_MAX,
	  .help = "1 to 9; each step doubles the time; default: 5" },
	{ "seed", 's', TO_OPTION_NUMBER, FIELD(seed), .argument = "S", .max = INT64_MAX,
	  .help = "random seed; same seed, same plan; default: 1" },
	{ "max-stretch", 0, TO_OPTION_REAL, FIELD(max_stretch), .argument = "X", .advanced = true,
	  .help = "most hops of a route over the hops of a shortest path; default: 3" },
	{ "step-latency", 0, TO_OPTION_DURATION, FIELD(step_latency), .argument = "TIME",
	  .max = 1000000000, .advanced = true,
	  .help = "time to begin a step of a collective; default: 8us" },
	{ "relay-latency", 0, TO_OPTION_DURATION, FIELD(relay_latency), .argument = "TIME",
	  .max = 1000000000, .advanced = true,
	  .help = "latency of a server that relays; default: 1350ns" },
	TO_LARGE_OPTION(offsetof(struct plan_args, large)),
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
