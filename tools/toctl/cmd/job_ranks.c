// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/file.h"
#include "cli/command.h"
#include "format/plan_json.h"
#include "format/tm_names.h"
#include "job/ranks.h"
#include "job_options.h"

struct ranks_args {
	struct to_job_options job;
	uint64_t slots;
	const char *output;
	int format;	/* enum to_ranks_format, or -1 */
};

struct ranks_file {
	const struct to_ranks *ranks;
	enum to_ranks_format format;
	unsigned int slots;
	char fingerprint[17];
};

static int ranks_write(FILE *out, const void *data, struct to_error *err)
{
	const struct ranks_file *file = data;

	(void)err;
	if (file->format == TO_RANKS_JSON)
		to_ranks_print_json(out, file->ranks, file->slots, file->fingerprint);
	else
		to_ranks_print(out, file->ranks, file->format, file->slots);
	return 0;
}

static int ranks_run(struct to_call *call, const void *data)
{
	const struct ranks_args *args = data;
	struct ranks_file file = { .format = args->format, .slots = args->slots };
	struct to_ranks ranks;
	struct to_plan *plan;
	int ret;

	if (args->format < 0)
		file.format = call->json ? TO_RANKS_JSON : TO_RANKS_OPENMPI;
	else if (call->json && args->format != TO_RANKS_JSON)
		return to_usage(call, "--json goes with no other --format");
	ret = to_job_open(call, &args->job, &plan, &ranks);
	if (ret)
		return ret;
	file.ranks = &ranks;
	ret = to_tm_fingerprint(call->operands[0], file.fingerprint, &call->err);
	if (!ret)
		ret = to_file_write(args->output, ranks_write, &file, &call->err);
	to_plan_free(plan);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct ranks_args, field)

static const struct to_option ranks_options[] = {
	TO_JOB_OPTIONS(struct ranks_args, job),
	{ "slots", 0, TO_OPTION_NUMBER, FIELD(slots), .argument = "N",
	  .min = 1, .max = TO_RANKS_SLOTS_MAX, .help = "ranks on each server; default: 1" },
	{ "format", 0, TO_OPTION_CHOICE, FIELD(format), .choices = to_ranks_formats,
	  .help = "reader of the output; default: openmpi" },
	{ "output", 'o', TO_OPTION_OUTPUT, FIELD(output), .argument = "FILE",
	  .help = "file to write; default: standard output" },
	{}
};

const struct to_command to_cmd_job_ranks = {
	.name = "job ranks",
	.summary = "Print a job's servers in the order of a ring",
	.operands = "PLAN",
	.min_operands = 1,
	.max_operands = 1,
	.options = ranks_options,
	.args_size = sizeof(struct ranks_args),
	.defaults = &(const struct ranks_args){
		.job = TO_JOB_DEFAULTS, .slots = 1, .output = "-", .format = -1 },
	.run = ranks_run,
};
