// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "output.h"
#include "report/sweep_page.h"
#include "sweep_result.h"
#include "sweep_run.h"
#include "watch.h"

struct sweep_args {
	const char *dir, *report;
	bool list, collect;
};

static int sweep_show(struct to_call *call, const struct sweep_args *args,
		      const struct to_sweep_result *result)
{
	json_t *all = to_sweep_result_json(result);
	int ret = 0;

	if (!all)
		return to_error_set(&call->err, -ENOMEM, "out of memory");
	if (args->report)
		ret = to_sweep_page_save(all, TO_VERSION, args->report, &call->err);
	if (!ret && !to_output_is_stdout(args->report)) {
		if (call->json)
			return to_output_json(all, JSON_INDENT(2) | JSON_PRESERVE_ORDER, &call->err);
		to_sweep_result_print(result);
	}
	json_decref(all);
	return ret;
}

static int sweep_points(struct to_call *call, const struct sweep_args *args,
			struct to_sweep_run *points, struct to_watch *watch)
{
	struct to_sweep_result result;
	int ret = 0;

	if (args->report && to_sweep_run_check_report(points, args->report, &call->err))
		return TO_EXIT_USAGE;
	if (args->list)
		return to_sweep_run_list(points, &call->err);
	if (args->collect) {
		ret = to_sweep_run_collect(points, &call->err);
	} else {
		to_watch_begin(watch, call);
		ret = to_sweep_run_points(points, &call->err);
		to_watch_end(watch);
	}
	if (ret)
		return ret;
	ret = to_sweep_result_init(&result, points->sweep, points->points, &call->err);
	if (!ret)
		ret = sweep_show(call, args, &result);
	to_sweep_result_free(&result);
	return ret;
}

static int sweep_run(struct to_call *call, const void *data)
{
	const struct sweep_args *args = data;
	struct to_sweep_run points;
	struct to_sweep *sweep;
	struct to_watch watch;
	int ret;

	if (args->list && (args->collect || args->report || call->json))
		return to_usage(call, "--list prints commands: without --collect, --report and --json");
	sweep = to_sweep_load(call->operands[0], &call->err);
	if (!sweep)
		return -EINVAL;
	ret = to_sweep_run_init(&points, sweep, args->dir, &call->err);
	points.watch = to_watch_step;
	points.data = &watch;
	if (!ret)
		ret = sweep_points(call, args, &points, &watch);
	to_sweep_run_free(&points);
	to_sweep_free(sweep);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct sweep_args, field)

static const struct to_option sweep_options[] = {
	{ "output", 'o', TO_OPTION_OUTPUT, FIELD(dir), .required = true, .argument = "DIR",
	  .help = "directory of the points, a file for each" },
	{ "list", 0, TO_OPTION_FLAG, FIELD(list),
	  .help = "print a shell command for each point; run nothing" },
	{ "collect", 0, TO_OPTION_FLAG, FIELD(collect),
	  .help = "run nothing; summarise the results in DIR" },
	{ "report", 'r', TO_OPTION_OUTPUT, FIELD(report), .argument = "FILE",
	  .help = "HTML page of the points, beside published ratios" },
	{}
};

const struct to_command to_cmd_sweep = {
	.name = "sweep",
	.summary = "Simulate all combinations of options",
	.operands = "FILE",
	.min_operands = 1,
	.max_operands = 1,
	.options = sweep_options,
	.args_size = sizeof(struct sweep_args),
	.run = sweep_run,
};
