// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/command.h"
#include "tm_samples.h"
#include "cli/large.h"
#include "data/tm.h"
#include "format/names.h"
#include "format/tm_json.h"

struct demand_args {
	const char *output, *name;
	uint64_t iterations;
	bool large;
};

struct demand_job {
	const struct to_tm *tm;
	const char *name;
	const uint64_t *bytes;
	uint64_t iterations;
};

static int demand_print(FILE *out, const void *data, struct to_error *err)
{
	const struct demand_job *job = data;
	const unsigned int n = job->tm->n_servers;

	(void)err;
	fprintf(out, "{\n\"format\": \"topoopt-job\", \"version\": 1,\n\"name\": ");
	to_json_print_string(out, job->name);
	fprintf(out, ",\n\"servers\": [");
	for (unsigned int i = 0; i < n; i++)
		fprintf(out, "%s\"%s\"", i ? ", " : "", job->tm->servers[i]);
	fprintf(out, "],\n\"mp\": [");
	for (size_t i = 0; i < n; i++) {
		fprintf(out, "%s\n  [", i ? "," : "");
		for (size_t j = 0; j < n; j++) {
			uint64_t bytes = i == j ? 0 : job->bytes[i * n + j];

			/* Rounded up: a demand does not vanish. */
			fprintf(out, "%s%" PRIu64, j ? ", " : "",
				bytes / job->iterations + !!(bytes % job->iterations));
		}
		fprintf(out, "]");
	}
	fprintf(out, "\n]\n}\n");
	return 0;
}

static int demand_run(struct to_call *call, const void *data)
{
	const struct demand_args *args = data;
	struct demand_job job = { .iterations = args->iterations };
	struct to_tm *tm;
	uint64_t *bytes;
	int ret = -ENOMEM;

	if (args->name && !to_names_is_label(args->name))
		return to_usage(call, "--name: expected " TO_NAMES_LABEL_EXPECTED);
	tm = to_tm_load(call->operands[0], &call->err);
	if (!tm)
		return -EINVAL;
	if (to_large_check(call->operands[0], tm->n_servers, args->large, &call->err)) {
		to_tm_free(tm);
		return -ERANGE;
	}
	bytes = calloc((size_t)tm->n_servers * tm->n_servers, sizeof(*bytes));
	if (tm->server != TO_TM_FABRIC) {
		ret = to_error_set(&call->err, -EINVAL,
				   "%s is the recording of %s alone: merge first",
				   call->operands[0], tm->servers[tm->server]);
	} else if (tm->missing) {
		ret = to_error_set(&call->err, -EINVAL,
				   "%s was merged without all servers", call->operands[0]);
	} else if (bytes) {
		ret = to_tm_samples_complete(call, tm, call->operands[0]);
		to_tm_matrix(tm, -1, -1, TO_TM_ALL, bytes);
		job.tm = tm;
		job.name = args->name ? args->name : tm->job;
		job.bytes = bytes;
		ret = ret ? ret : to_file_write(args->output, demand_print, &job, &call->err);
	} else {
		to_error_set(&call->err, ret, "out of memory");
	}
	free(bytes);
	to_tm_free(tm);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct demand_args, field)

static const struct to_option demand_options[] = {
	{ "output", 'o', TO_OPTION_OUTPUT, FIELD(output), .argument = "FILE",
	  .help = "job to write; default: standard output" },
	{ "iterations", 0, TO_OPTION_NUMBER, FIELD(iterations), .argument = "N",
	  .min = 1, .max = 1000000000,
	  .help = "training iterations that the matrix covers; default: 1" },
	{ "name", 0, TO_OPTION_STRING, FIELD(name), .argument = "NAME",
	  .help = "name of the job; default: as in the matrix" },
	TO_LARGE_OPTION(offsetof(struct demand_args, large)),
	{}
};

const struct to_command to_cmd_tm_demand = {
	.name = "tm demand",
	.summary = "Turn a traffic matrix into the demand of a job",
	.operands = "TM",
	.min_operands = 1,
	.max_operands = 1,
	.options = demand_options,
	.args_size = sizeof(struct demand_args),
	.defaults = &(const struct demand_args){ .output = "-", .iterations = 1 },
	.run = demand_run,
};
