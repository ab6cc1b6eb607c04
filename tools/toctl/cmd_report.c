// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "command.h"
#include "format/plan_json.h"
#include "report/comparison.h"
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
	const char *const names[] = { call->operands[0], call->operands[call->n_operands - 1] };
	struct to_plan *plans[2] = {};
	int ret = 0;

	for (unsigned int i = 0; !ret && i < call->n_operands; i++) {
		plans[i] = to_plan_load(call->operands[i], &call->err);
		ret = plans[i] ? 0 : -EINVAL;
	}
	if (!ret && call->n_operands == 2)
		ret = to_comparison_save((const struct to_plan *const *)plans, names, TO_VERSION,
					 args->output, &call->err);
	else if (!ret)
		ret = to_report_save(plans[0], TO_VERSION, args->output, &call->err);
	to_plan_free(plans[0]);
	to_plan_free(plans[1]);
	return ret;
}

const struct to_command to_cmd_report = {
	.name = "report",
	.summary = "Write a plan, or two beside each other, as an HTML page",
	.operands = "PLAN [PLAN]",
	.min_operands = 1,
	.max_operands = 2,
	.description =
		"Writes one HTML page that needs no network: the figures beside their lower "
		"bounds, the topology with the routes of each server, demand and link load as "
		"heat maps, links by load, hops, rings, and the patch panel ports to join. "
		"Everything is recomputed as by toctl verify; violations stand at the top.\n\n"
		"With two plans for the same servers, as before and after toctl replan, the page "
		"compares them: figures, links that are cut and made, both topologies, and what their "
		"links carry.",
	.options = report_options,
	.args_size = sizeof(struct report_args),
	.defaults = &(const struct report_args){ .output = "-" },
	.run = report_run,
};
