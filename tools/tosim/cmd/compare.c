// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "study_args.h"
#include "output.h"
#include "study/mix_study.h"
#include "watch.h"

enum compare_allocation { COMPARE_PACKED, COMPARE_RANDOM };

static const char *const compare_allocations[] = { "packed", "random", NULL };

struct compare_args {
	const char *jobs;
	uint64_t servers, job_servers, degree, bandwidth, iterations;
	int allocation;
	struct to_study_args fabric;
};

/* Read "FILE" or "FILE=SHARE" */
static int compare_read_model(struct to_call *call, const char *word, struct to_mix_study *study)
{
	const char *equals = strrchr(word, '=');
	char *path = strndup(word, equals ? (size_t)(equals - word) : strlen(word)), *end = "";
	const double share = equals ? strtod(equals + 1, &end) : 1;
	int ret;

	if (!path)
		return to_error_set(&call->err, -ENOMEM, "out of memory");
	if (*end || !(share > 0 && share <= 1e9) || (equals && !equals[1]))
		ret = to_usage(call, "expected MODEL or MODEL=SHARE, a number above 0, not \"%.200s\"",
			       word);
	else
		ret = to_mix_study_add(study, path, share, &call->err);
	free(path);
	return ret;
}

/* Read "5,10,27" */
static int compare_read_points(struct to_call *call, const struct compare_args *args,
			       struct to_mix_study *study)
{
	const uint32_t most = args->servers / args->job_servers;
	char *text = strdup(args->jobs), *rest;
	int ret = 0;

	study->points = calloc(strlen(args->jobs) + 1, sizeof(*study->points));
	if (!text || !study->points)
		ret = to_error_set(&call->err, -ENOMEM, "out of memory");
	for (char *word = ret ? NULL : strtok_r(text, ",", &rest); word && !ret;
	     word = strtok_r(NULL, ",", &rest)) {
		uint64_t jobs;

		if (!to_quantity_number(word, &jobs) || !jobs || jobs > most)
			ret = to_usage(call, "--jobs: expected numbers from 1 to %u, not \"%.80s\"", most, word);
		else
			study->points[study->n_points++].jobs = jobs;
	}
	free(text);
	if (!ret && !study->n_points)
		ret = to_usage(call, "--jobs: expected a number");
	return ret;
}

static int compare_read(struct to_call *call, const struct compare_args *args,
			struct to_mix_study *study)
{
	const struct to_study_args *f = &args->fabric;
	int ret;

	if (args->job_servers > args->servers)
		return to_usage(call, "--job-servers: a job takes no more servers than there are");
	if (args->servers > TO_SERVERS_USUAL && !f->large)
		return to_usage(call, "--servers: more than %u take --large", TO_SERVERS_USUAL);
	if (to_fabric_is_file(f->fabric) || to_fabric_changes(f->fabric))
		return to_usage(call, "--fabric: a name, and one whose links stay, not \"%.80s\"", f->fabric);
	if (!strcmp(f->fabric, "topoopt") &&
	    (f->routing != TO_STUDY_UNSAID || f->algorithm != TO_STUDY_UNSAID))
		return to_usage(call, "--routing and --algorithm are for other fabrics: plans say both");
	ret = compare_read_points(call, args, study);
	for (unsigned int i = 0; !ret && i < call->n_operands; i++)
		ret = compare_read_model(call, call->operands[i], study);
	return ret;
}

static int compare_run(struct to_call *call, const void *data)
{
	const struct compare_args *args = data;
	const struct to_study_args *f = &args->fabric;
	struct to_watch watch;
	struct to_mix_study study = { .setting = {
		.fabric = f->fabric, .servers = args->servers, .job_servers = args->job_servers,
		.degree = args->degree, .bandwidth = args->bandwidth, .routing = f->routing,
		.algorithm = f->algorithm, .delays = to_study_args_delays(f), .prices = f->prices,
		.random = args->allocation == COMPARE_RANDOM, .iterations = args->iterations,
		.budget = f->budget, .seed = f->seed, .watch = to_watch_step, .data = &watch } };
	int ret = compare_read(call, args, &study);

	if (!ret) {
		to_watch_begin(&watch, call);
		ret = to_mix_study_run(&study, &call->err);
		to_watch_end(&watch);
	}
	if (!ret && call->json)
		ret = to_output_json(to_mix_study_json(&study), JSON_INDENT(2) | JSON_PRESERVE_ORDER,
				     &call->err);
	else if (!ret)
		to_mix_study_print(&study);
	to_mix_study_free(&study);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct compare_args, field)

static const struct to_option compare_options[] = {
	{ "jobs", 0, TO_OPTION_STRING, FIELD(jobs), .argument = "N[,N...]", .required = true,
	  .help = "numbers of jobs that train at once; each is a point" },
	{ "servers", 'n', TO_OPTION_NUMBER, FIELD(servers), .argument = "N", .required = true,
	  .min = 2, .max = TO_SERVERS_MAX, .help = "servers of the cluster" },
	{ "job-servers", 0, TO_OPTION_NUMBER, FIELD(job_servers), .argument = "N",
	  .min = 2, .max = TO_SERVERS_MAX, .help = "servers of each job; default: 16" },
	{ "degree", 'd', TO_OPTION_NUMBER, FIELD(degree), .argument = "D", .required = true,
	  .min = 1, .max = TO_PORTS_MAX, .help = "ports of a server" },
	{ "bandwidth", 'b', TO_OPTION_RATE, FIELD(bandwidth), .argument = "RATE",
	  .min = 1, .max = INT64_MAX, .help = "bandwidth of a port; default: 100G" },
	{ "allocation", 0, TO_OPTION_CHOICE, FIELD(allocation), .choices = compare_allocations,
	  .help = "servers of a job on a shared fabric: neighbours, or any; default: packed" },
	{ "iterations", 0, TO_OPTION_NUMBER, FIELD(iterations), .argument = "N",
	  .min = 1, .max = 10000,
	  .help = "iterations of the slowest model; other jobs go on for as long; default: 3" },
	TO_STUDY_OPTIONS(struct compare_args, fabric),
	{}
};

const struct to_command to_cmd_compare = {
	.name = "compare",
	.summary = "Compare fabrics that many jobs share",
	.operands = "MODEL[=SHARE]...",
	.min_operands = 1,
	.max_operands = TO_MIX_MODELS_MAX,
	.options = compare_options,
	.args_size = sizeof(struct compare_args),
	.defaults = &(const struct compare_args){
		.job_servers = 16, .bandwidth = TO_SYNTHETIC_BANDWIDTH, .iterations = 3,
		.fabric = TO_STUDY_DEFAULTS },
	.run = compare_run,
};
