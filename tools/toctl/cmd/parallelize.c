// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "cli/command.h"
#include "cli/large.h"
#include "cli/progress.h"
#include "format/cluster_json.h"
#include "format/demand_json.h"
#include "format/plan_json.h"
#include "plan/parallelize_report.h"

struct parallelize_args {
	const char *model, *cluster, *output;
	uint64_t servers, degree, bandwidth, batch, budget, seed;
	int placement;
	bool large;
};

enum parallelize_placement { PARALLELIZE_SEARCH, PARALLELIZE_SIP };

static const char *const parallelize_placements[] = { "search", "sip", NULL };

/* Files of the directory that --output names. */
struct parallelize_files {
	char job[PATH_MAX], plan[PATH_MAX];
};

static struct to_cluster *parallelize_cluster(const struct parallelize_args *args,
					      struct to_error *err)
{
	struct to_cluster *cluster;

	if (!args->cluster)
		return to_cluster_synthetic(args->servers, args->degree, args->bandwidth,
					    TO_LINKS_DUPLEX, err);
	cluster = to_cluster_load_shared(args->cluster, err);
	if (!cluster || !to_cluster_keeps_links(cluster) ||
	    (!args->degree && (!args->servers || args->servers == cluster->n_servers)))
		return cluster;
	if (cluster->n_packet_switches)
		to_error_set(err, -EINVAL, "%s: it has packet switches (\"%s\"), whose links are all kept: without --servers and --degree",
			     args->cluster, cluster->packet_switches[0].name);
	else
		to_error_set(err, -EINVAL, "%s: ports share cables, whose links are all kept: without --servers and --degree",
			     args->cluster);
	to_cluster_free(cluster);
	return NULL;
}

static void parallelize_progress(void *data, unsigned int done, unsigned int all)
{
	to_progress(data, done, all);
}

static int parallelize_write(struct to_call *call, const struct parallelize_args *args,
			     const struct parallelize_files *files,
			     const struct to_parallelize_report *report)
{
	const struct to_plan *plan = to_parallelize_report_plan(report);
	int ret = 0;

	if (args->output && mkdir(args->output, 0777) && errno != EEXIST)
		ret = to_error_set(&call->err, -errno, "%s: %s", args->output, strerror(errno));
	if (!ret && args->output)
		ret = to_demand_save(plan->demand, files->job, &call->err);
	if (!ret && args->output)
		ret = to_plan_save(plan, files->plan, &call->err);
	if (ret)
		return ret;
	if (call->json) {
		json_t *json = to_parallelize_report_json(report);

		if (!json)
			return to_error_set(&call->err, -ENOMEM, "out of memory");
		to_json_write(json, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
		putchar('\n');
		json_decref(json);
	} else {
		to_parallelize_report_print(stdout, report);
	}
	return 0;
}

static int parallelize_check(struct to_call *call, const struct parallelize_args *args,
			     struct parallelize_files *files)
{
	int ret = 0;

	if (!args->cluster && !(args->servers && args->degree))
		return to_usage(call, "give --cluster, or --servers and --degree");
	if (args->cluster && args->bandwidth)
		return to_usage(call, "--bandwidth is for synthetic clusters (--servers and --degree)");
	if (args->servers > TO_SERVERS_USUAL && !args->large)
		return to_usage(call, "--servers: more than %u take --large", TO_SERVERS_USUAL);
	if (!args->output)
		return 0;
	if (strlen(args->output) + sizeof("/plan.json") > PATH_MAX)
		return to_usage(call, "--output: this path is too long");
	snprintf(files->job, PATH_MAX, "%.4000s/job.json", args->output);
	snprintf(files->plan, PATH_MAX, "%.4000s/plan.json", args->output);
	ret = to_command_check_output(call, args, "output", files->job);
	return ret ? ret : to_command_check_output(call, args, "output", files->plan);
}

static int parallelize_run(struct to_call *call, const void *data)
{
	const struct parallelize_args *args = data;
	struct to_progress progress = { 0 };
	const struct to_parallelize_options options = {
		.degree = args->degree, .batch_per_gpu = args->batch, .budget = args->budget,
		.seed = args->seed, .progress = call->quiet ? NULL : parallelize_progress,
		.data = &progress };
	struct to_parallelize_report report = { 0 };
	struct parallelize_files files;
	struct to_cluster *cluster;
	struct to_dnn_model *model;
	int ret = parallelize_check(call, args, &files);

	if (ret)
		return ret;
	model = to_dnn_model_load(args->model, &call->err);
	if (!model)
		return -EINVAL;
	report.model = model;
	cluster = parallelize_cluster(args, &call->err);
	ret = cluster ? 0 : -EINVAL;
	if (cluster) {
		const unsigned int n = args->servers ? args->servers : cluster->n_servers;

		ret = to_large_check(args->cluster, n, args->large, &call->err);
		ret = ret ? ret : to_parallelize(model, cluster, n, &options, &report.search, &call->err);
		if (!ret && args->placement == PARALLELIZE_SIP)
			ret = to_sub_op_plan(model, cluster, n, &options, &report.sip, &call->err);
	}
	to_progress_end(&progress);
	if (!ret)
		ret = parallelize_write(call, args, &files, &report);
	to_parallelized_free(&report.search);
	to_sub_op_plan_free(&report.sip);
	to_cluster_free(cluster);
	to_dnn_model_free(model);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct parallelize_args, field)

static const struct to_option parallelize_options[] = {
	{ "model", 0, TO_OPTION_STRING, FIELD(model), .required = true, .argument = "FILE",
	  .help = "operators of the model, and the GPUs of a server" },
	{ "servers", 'n', TO_OPTION_NUMBER, FIELD(servers), .argument = "N",
	  .min = 2, .max = TO_SERVERS_MAX,
	  .help = "servers to train on; default: all of the cluster" },
	{ "degree", 'd', TO_OPTION_NUMBER, FIELD(degree), .argument = "D",
	  .min = 1, .max = TO_PORTS_MAX, .help = "ports to use per server" },
	{ "cluster", 'c', TO_OPTION_STRING, FIELD(cluster), .argument = "FILE",
	  .help = "servers, ports and switches; default: synthetic, from --servers and --degree" },
	{ "output", 'o', TO_OPTION_OUTPUT, FIELD(output), .argument = "DIR",
	  .help = "directory to write job.json and plan.json to, made if absent" },
	{ "bandwidth", 'b', TO_OPTION_RATE, FIELD(bandwidth), .argument = "RATE",
	  .min = 1, .max = INT64_MAX, .help = "per port of a synthetic cluster; default: 100G" },
	{ "batch", 0, TO_OPTION_NUMBER, FIELD(batch), .argument = "B", .min = 1, .max = 1000000,
	  .help = "samples per GPU and iteration; default: as in the model" },
	{ "budget", 0, TO_OPTION_NUMBER, FIELD(budget), .argument = "STEPS",
	  .min = 4, .max = 100000000,
	  .help = "strategies that each Markov chain tries; default: 1000" },
	{ "placement", 0, TO_OPTION_CHOICE, FIELD(placement), .choices = parallelize_placements,
	  .help = "placement to write: of the search, or of SiP-ML beside it; default: search" },
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
		.budget = TO_PARALLELIZE_BUDGET, .seed = 1 },
	.run = parallelize_run,
};
