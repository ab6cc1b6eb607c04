// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "cli/command.h"
#include "format/plan_json.h"
#include "format/tm_json.h"
#include "measure/tm_compare.h"

struct compare_args {
	double iterations, tolerance;
	uint64_t slack;
};

static int compare_print(struct to_call *call, const struct to_tm_compare *compare)
{
	json_t *json;

	if (!call->json) {
		to_tm_compare_print(stdout, compare);
		return to_tm_compare_verdict(compare, &call->err);
	}
	json = to_tm_compare_json(compare);
	if (!json)
		return to_error_set(&call->err, -ENOMEM, "out of memory");
	to_json_write(json, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(json);
	return to_tm_compare_verdict(compare, &call->err);
}

static int compare_files(struct to_call *call, struct to_tm_compare *compare, const struct to_tm *tm)
{
	char fingerprint[17];
	int ret = to_tm_fingerprint(call->operands[0], fingerprint, &call->err);

	if (ret)
		return ret;
	if (tm->n_servers != compare->plan->cluster->n_servers || strcmp(tm->plan, fingerprint))
		return to_error_set(&call->err, -EINVAL, "%s was not measured under the plan %s",
				    call->operands[1], call->operands[0]);
	if (tm->server != TO_TM_FABRIC)
		return to_error_set(&call->err, -EINVAL,
				    "%s is one server's recording; merge them by toctl tm merge",
				    call->operands[1]);
	ret = to_tm_compare_make(compare, tm);
	return ret ? to_error_set(&call->err, ret, "out of memory") : compare_print(call, compare);
}

static int compare_run(struct to_call *call, const void *data)
{
	const struct compare_args *args = data;
	struct to_tm_compare compare = { .iterations = args->iterations,
					 .tolerance = args->tolerance, .slack = args->slack };
	struct to_plan *plan;
	struct to_tm *tm = NULL;
	int ret = -EINVAL;

	if (args->iterations <= 0 || args->tolerance < 0)
		return to_usage(call, "--iterations and --tolerance are positive");
	plan = to_plan_load_shared(call->operands[0], &call->err);
	if (plan)
		tm = to_tm_load(call->operands[1], &call->err);
	if (tm) {
		compare.plan = plan;
		ret = compare_files(call, &compare, tm);
	}
	to_tm_compare_free(&compare);
	to_tm_free(tm);
	to_plan_free(plan);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct compare_args, field)

static const struct to_option compare_options[] = {
	{ "iterations", 0, TO_OPTION_REAL, FIELD(iterations), .argument = "X",
	  .help = "training iterations that the matrix covers; default: 1" },
	{ "tolerance", 0, TO_OPTION_REAL, FIELD(tolerance), .argument = "PERCENT",
	  .help = "tolerated deviation of a pair; default: 10" },
	{ "slack", 0, TO_OPTION_NUMBER, FIELD(slack), .argument = "BYTES",
	  .help = "bytes per pair that are tolerated in addition; default: 65536" },
	{}
};

const struct to_command to_cmd_tm_compare = {
	.name = "tm compare",
	.summary = "Compare a measured traffic matrix with the plan",
	.operands = "PLAN TM",
	.min_operands = 2,
	.max_operands = 2,
	.options = compare_options,
	.args_size = sizeof(struct compare_args),
	.defaults = &(const struct compare_args){
		.iterations = 1, .tolerance = 10, .slack = 65536 },
	.run = compare_run,
};
