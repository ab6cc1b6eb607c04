// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/command.h"
#include "format/cluster_json.h"
#include "format/demand_json.h"
#include "format/plan_json.h"
#include "cli/large.h"
#include "plan/parallelize.h"
#include "plan/sub_op_plan.h"
#include "cli/progress.h"

struct parallelize_args {
	const char *model, *cluster, *job, *output;
	uint64_t servers, degree, bandwidth, batch, budget, seed;
	int links, placement;
	bool large;
};

enum parallelize_placement { PARALLELIZE_SEARCH, PARALLELIZE_SIP };

static const char *const parallelize_placements[] = { "search", "sip", NULL };

/* What was found; @sip has no plan unless it was asked for. */
struct parallelize_found {
	struct to_parallelized search;
	struct to_sub_op_plan sip;
};

#define PARALLELIZE_LINKS_UNSAID (-1)

/* In the order of enum to_link_mode. */
static const char *const parallelize_links[] = { "duplex", "simplex", NULL };

/* In the order of enum to_approach. */
static const struct {
	const char *key, *name;
} parallelize_approaches[] = {
	{ "data_parallel", "data parallelism" },
	{ "naive", "strategy first" },
	{ "tables_by_hand", "hand-placed tables" },
	{ "search", "co-optimised" },
};

static void parallelize_print_row(FILE *out, const char *name, const struct to_choice *choice,
				  double ours)
{
	char time[16], bound[16], memory[16];

	fprintf(out, "  %-20s %13s %13s ", name, to_seconds_text(choice->time, time),
		to_seconds_text(choice->bound, bound));
	/* the time is 0 when operators neither compute nor send */
	if (ours > 0)
		fprintf(out, "%8.3f", choice->time / ours);
	else
		fprintf(out, "%8s", "-");
	fprintf(out, " %11s%s\n", to_bytes_text(choice->memory, memory), choice->fits ? "" : ", too much");
}

/* SiP-ML's, as one of the others. */
static struct to_choice parallelize_sip(const struct to_sub_op_plan *sip)
{
	return (struct to_choice){ .time = sip->time, .bound = sip->bound, .memory = sip->memory,
				   .fits = true };
}

static void parallelize_print(FILE *out, const struct to_dnn_model *model,
			      const struct parallelize_found *all)
{
	const struct to_parallelized *found = &all->search;
	const struct to_choice *ours = &found->by[TO_APPROACH_SEARCH];
	const struct to_choice sip = parallelize_sip(&all->sip);

	fprintf(out, "%s: %u operators on %u servers, %llu samples per iteration\n", model->name,
		model->n_operators, ours->strategy->n_servers,
		(unsigned long long)ours->strategy->samples);
	fprintf(out, "  %-20s %13s %13s %8s %11s\n", "", "iteration", "lower bound", "relative",
		"per server");
	for (unsigned int i = 0; i < TO_APPROACHES; i++)
		parallelize_print_row(out, parallelize_approaches[i].name, &found->by[i], ours->time);
	if (!all->sip.plan) {
		to_strategy_print(out, ours->strategy);
		return;
	}
	parallelize_print_row(out, "SiP-ML's placement", &sip, ours->time);
	to_sub_ops_print(out, &all->sip.placed);
}

static json_t *parallelize_json_row(const struct to_choice *choice, double ours, json_t *strategy)
{
	return json_pack("{s:f, s:f, s:o, s:f, s:b, s:o?}", "time_s", choice->time,
			 "bound_s", choice->bound, "ratio",
			 ours > 0 ? json_real(choice->time / ours) : json_null(),
			 "parameter_bytes", choice->memory, "fits", choice->fits,
			 "strategy", strategy);
}

static int parallelize_json(const struct to_dnn_model *model, const struct parallelize_found *whole)
{
	const struct to_parallelized *found = &whole->search;
	const struct to_choice sip = parallelize_sip(&whole->sip);
	const struct to_plan *plan = whole->sip.plan ?: found->by[TO_APPROACH_SEARCH].plan;
	const struct to_choice *ours = &found->by[TO_APPROACH_SEARCH];
	json_t *approaches = json_object(), *all;
	int ret = 0;

	for (unsigned int i = 0; i < TO_APPROACHES; i++) {
		const struct to_choice *choice = &found->by[i];

		ret |= json_object_set_new(approaches, parallelize_approaches[i].key,
					   parallelize_json_row(choice, ours->time,
								to_strategy_json(choice->strategy)));
	}
	if (whole->sip.plan)
		ret |= json_object_set_new(approaches, "sip",
					   parallelize_json_row(&sip, ours->time,
								to_sub_ops_json(&whole->sip.placed)));
	all = json_pack("{s:s, s:i, s:I, s:o, s:O}", "model", model->name, "servers",
			(int)ours->strategy->n_servers, "samples",
			(json_int_t)ours->strategy->samples, "approaches", approaches,
			"predictions", plan->predictions);
	if (ret || !all || json_dumpf(all, stdout, JSON_INDENT(2) | JSON_SORT_KEYS))
		ret = -ENOMEM;
	putchar('\n');
	json_decref(all);
	return ret;
}

static struct to_cluster *parallelize_cluster(const struct parallelize_args *args,
					      struct to_error *err)
{
	bool said = args->links != PARALLELIZE_LINKS_UNSAID;
	struct to_cluster *cluster;

	if (!args->cluster)
		return to_cluster_synthetic(args->servers, args->degree, args->bandwidth,
					    said ? args->links : TO_LINKS_DUPLEX, err);
	cluster = to_cluster_load_shared(args->cluster, err);
	if (cluster && said)
		cluster->link_mode = args->links;
	if (!cluster || !cluster->n_packet_switches ||
	    (!args->degree && (!args->servers || args->servers == cluster->n_servers)))
		return cluster;
	to_error_set(err, -EINVAL, "%s: it has packet switches (\"%s\"), whose links are all kept: without --servers and --degree",
		     args->cluster, cluster->packet_switches[0].name);
	to_cluster_free(cluster);
	return NULL;
}

static void parallelize_progress(void *data, unsigned int done, unsigned int all)
{
	to_progress(data, done, all);
}

static bool parallelize_to_stdout(const char *path)
{
	return path && !strcmp(path, "-");
}

static int parallelize_report(struct to_call *call, const struct parallelize_args *args,
			      const struct to_dnn_model *model, const struct parallelize_found *found)
{
	const struct to_plan *plan = found->sip.plan ?: found->search.by[TO_APPROACH_SEARCH].plan;
	/* the job or the plan may go to standard output */
	bool taken = parallelize_to_stdout(args->job) || parallelize_to_stdout(args->output);
	int ret = 0;

	if (args->job)
		ret = to_demand_save(plan->demand, args->job, &call->err);
	if (!ret && args->output)
		ret = to_plan_save(plan, args->output, &call->err);
	if (!ret && call->json && !taken)
		ret = parallelize_json(model, found) ?
			      to_error_set(&call->err, -ENOMEM, "out of memory") : 0;
	else if (!ret)
		parallelize_print(taken ? stderr : stdout, model, found);
	return ret;
}

static int parallelize_run(struct to_call *call, const void *data)
{
	const struct parallelize_args *args = data;
	struct to_progress progress = { 0 };
	const struct to_parallelize_options options = {
		.degree = args->degree, .batch_per_gpu = args->batch, .budget = args->budget,
		.seed = args->seed, .progress = parallelize_progress, .data = &progress };
	struct parallelize_found found = { 0 };
	struct to_cluster *cluster;
	struct to_dnn_model *model;
	int ret = -EINVAL;

	if (!args->cluster && !(args->servers && args->degree))
		return to_usage(call, "give --cluster, or --servers and --degree");
	if (args->cluster && args->bandwidth)
		return to_usage(call, "--bandwidth is for synthetic clusters (--servers and --degree)");
	if (args->servers > TO_SERVERS_USUAL && !args->large)
		return to_usage(call, "--servers: more than %u take --large", TO_SERVERS_USUAL);
	if (parallelize_to_stdout(args->job) && parallelize_to_stdout(args->output))
		return to_usage(call, "--job and --output cannot both go to standard output");
	model = to_dnn_model_load(args->model, &call->err);
	if (!model)
		return ret;
	cluster = parallelize_cluster(args, &call->err);
	if (cluster) {
		const unsigned int n = args->servers ? args->servers : cluster->n_servers;

		ret = to_large_check(args->cluster, n, args->large, &call->err);
		ret = ret ? ret : to_parallelize(model, cluster, n, &options, &found.search, &call->err);
		if (!ret && args->placement == PARALLELIZE_SIP)
			ret = to_sub_op_plan(model, cluster, n, &options, &found.sip, &call->err);
	}
	to_progress_end(&progress);
	if (!ret)
		ret = parallelize_report(call, args, model, &found);
	to_parallelized_free(&found.search);
	to_sub_op_plan_free(&found.sip);
	to_cluster_free(cluster);
	to_dnn_model_free(model);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct parallelize_args, field)

static const struct to_option parallelize_options[] = {
	{ "model", 'm', TO_OPTION_STRING, FIELD(model), .required = true, .argument = "FILE",
	  .help = "the model's operators and the GPUs of a server" },
	{ "servers", 'n', TO_OPTION_NUMBER, FIELD(servers), .argument = "N",
	  .min = 2, .max = TO_SERVERS_MAX,
	  .help = "servers to train on; default: all of the cluster" },
	{ "degree", 'd', TO_OPTION_NUMBER, FIELD(degree), .argument = "D",
	  .min = 1, .max = TO_PORTS_MAX, .help = "ports to use per server" },
	{ "cluster", 'c', TO_OPTION_STRING, FIELD(cluster), .argument = "FILE",
	  .help = "servers, ports and switches; default: synthetic, from --servers and "
		  "--degree" },
	{ "job", 'j', TO_OPTION_OUTPUT, FIELD(job), .argument = "FILE",
	  .help = "where to write the traffic of an iteration; default: nowhere" },
	{ "output", 'o', TO_OPTION_OUTPUT, FIELD(output), .argument = "FILE",
	  .help = "where to write the plan; default: nowhere" },
	{ "links", 'l', TO_OPTION_CHOICE, FIELD(links), .argument = "MODE",
	  .choices = parallelize_links,
	  .help = "links carry both directions or one; default: as the cluster says, "
		  "else duplex" },
	{ "bandwidth", 'b', TO_OPTION_RATE, FIELD(bandwidth), .argument = "RATE",
	  .min = 1, .max = INT64_MAX, .help = "per port of a synthetic cluster; default: 100G" },
	{ "batch", 0, TO_OPTION_NUMBER, FIELD(batch), .argument = "B", .min = 1, .max = 1000000,
	  .help = "samples per GPU and iteration; default: as the model says" },
	{ "budget", 0, TO_OPTION_NUMBER, FIELD(budget), .argument = "STEPS",
	  .min = 4, .max = 100000000,
	  .help = "strategies that each Markov chain of the search tries; default: 1000" },
	{ "placement", 0, TO_OPTION_CHOICE, FIELD(placement), .choices = parallelize_placements,
	  .help = "whose --job and --output are written: that of the search, or sip, see above, "
		  "which is compared with it; default: search" },
	{ "seed", 's', TO_OPTION_NUMBER, FIELD(seed), .argument = "S", .max = INT64_MAX,
	  .help = "random seed; same seed, same result; default: 1" },
	TO_LARGE_OPTION(offsetof(struct parallelize_args, large)),
	{}
};

const struct to_command to_cmd_parallelize = {
	.name = "parallelize",
	.summary = "Find a parallelisation strategy and its topology",
	.options = parallelize_options,
	.args_size = sizeof(struct parallelize_args),
	.defaults = &(const struct parallelize_args){
		.budget = TO_PARALLELIZE_BUDGET, .seed = 1, .links = PARALLELIZE_LINKS_UNSAID },
	.run = parallelize_run,
};
