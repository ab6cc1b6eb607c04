// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "command.h"
#include "format/plan_json.h"
#include "report/report.h"

struct report_args {
	const char *output;
};

static const struct to_option report_options[] = {
	{ .name = "output", .letter = 'o', .type = TO_OPTION_OUTPUT, .argument = "FILE",
	  .offset = offsetof(struct report_args, output),
	  .help = "where to write the page; default: standard output" },
	{}
};

static int report_run(struct to_call *call, const void *data)
{
	const struct report_args *args = data;
	struct to_plan *plan;
	int ret;

	plan = to_plan_load(call->operands[0], &call->err);
	if (!plan)
		return -EINVAL;
	ret = to_report_save(plan, TO_VERSION, args->output, &call->err);
	to_plan_free(plan);
	return ret;
}

const struct to_command to_cmd_report = {
	.name = "report",
	.summary = "Write a plan as an HTML page",
	.operands = "PLAN",
	.min_operands = 1,
	.max_operands = 1,
	.description =
		"Writes one HTML page that needs no network: the figures beside their lower "
		"bounds, the topology with the routes of each server, demand and link load as "
		"heat maps, links by load, hops, rings, and the patch panel ports to join. "
		"Everything is recomputed as by toctl verify; violations stand at the top.",
	.options = report_options,
	.args_size = sizeof(struct report_args),
	.defaults = &(const struct report_args){ .output = "-" },
	.run = report_run,
};
