// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "cli/command.h"
#include "format/plan_json.h"
#include "report/comparison.h"
#include "report/iteration_page.h"
#include "report/replay_page.h"
#include "report/report.h"

#define REPORT_SIMULATIONS 16

struct report_args {
	const char *output, *log, *simulation;
};

static const struct to_option report_options[] = {
	{ .name = "output", .letter = 'o', .type = TO_OPTION_OUTPUT, .argument = "FILE",
	  .offset = offsetof(struct report_args, output),
	  .help = "page to write; default: standard output" },
	{ .name = "log", .type = TO_OPTION_STRING, .argument = "FILE",
	  .offset = offsetof(struct report_args, log),
	  .help = "log of toctl run to go through, instead of plans" },
	{ .name = "simulation", .type = TO_OPTION_STRING, .argument = "FILE",
	  .offset = offsetof(struct report_args, simulation),
	  .help = "output of tosim simulate -o, instead of plans; operands are more files to compare with it" },
	{}
};

static int report_simulations(struct to_call *call, const struct report_args *args)
{
	const unsigned int n = call->n_operands + 1;
	char **simulations = calloc(n, sizeof(*simulations));
	int ret;

	if (!simulations)
		return to_error_set(&call->err, -ENOMEM, "out of memory");
	simulations[0] = (char *)args->simulation;
	for (unsigned int i = 1; i < n; i++)
		simulations[i] = call->operands[i - 1];
	ret = to_iteration_page_save(simulations, n, TO_VERSION, args->output, &call->err);
	free(simulations);
	return ret;
}

static int report_run(struct to_call *call, const void *data)
{
	const struct report_args *args = data;
	const char *const names[] = { call->operands[0], call->n_operands > 1 ? call->operands[1] : NULL };
	struct to_plan *plans[2] = {};
	int ret = 0;

	if (args->simulation && !args->log)
		return report_simulations(call, args);
	if (!!args->log + !!args->simulation + !!call->n_operands != 1)
		return to_usage(call, "expected one or two plans, --log or --simulation");
	if (call->n_operands > 2)
		return to_usage(call, "expected one or two plans, not %u", call->n_operands);
	if (args->log)
		return to_replay_page_save(args->log, TO_VERSION, args->output, &call->err);
	for (unsigned int i = 0; !ret && i < call->n_operands; i++) {
		plans[i] = to_plan_load_shared(call->operands[i], &call->err);
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
	.summary = "Write a plan, a log or a simulation as an HTML page",
	.operands = "[PLAN [PLAN]] [SIMULATION...]",
	.max_operands = REPORT_SIMULATIONS,
	.options = report_options,
	.args_size = sizeof(struct report_args),
	.defaults = &(const struct report_args){ .output = "-" },
	.run = report_run,
};
