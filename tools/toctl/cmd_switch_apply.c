// SPDX-License-Identifier: GPL-2.0-or-later
#include <time.h>

#include "command.h"
#include "switches.h"

struct apply_args {
	bool dry_run;
};

static double apply_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}

static int apply_change(struct to_call *call, const struct apply_args *args,
			const struct to_plan *plan, struct to_switches *switches)
{
	bool differ = to_switches_differ(switches);
	double start = apply_now(), seconds;
	json_t *object;
	int ret = 0;

	if (!args->dry_run && differ)
		ret = to_switches_apply(switches, &call->err);
	if (ret)
		return ret;
	seconds = apply_now() - start;
	if (call->json) {
		object = json_pack("{s:b, s:f, s:o}", "changed", !args->dry_run && differ,
				   "seconds", seconds, "switches", to_switches_json(switches));
		json_dumpf(object, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(object);
		return 0;
	}
	to_switches_print(switches, plan, false);
	if (!differ)
		printf("nothing to do: the optical switches are as planned\n");
	else if (!args->dry_run)
		printf("done in %.3f s\n", seconds);
	return 0;
}

static int apply_run(struct to_call *call, const void *data)
{
	struct to_switches switches;
	struct to_plan *plan;
	int ret = to_switches_start(call, &plan, &switches);

	if (ret)
		return ret;
	ret = apply_change(call, data, plan, &switches);
	to_switches_end(plan, &switches);
	return ret;
}

static const struct to_option apply_options[] = {
	{ "dry-run", 0, TO_OPTION_FLAG, .offset = offsetof(struct apply_args, dry_run),
	  .help = "print what would change, change nothing" },
	{}
};

const struct to_command to_cmd_switch_apply = {
	.name = "switch apply",
	.summary = "Bring the optical switches to the cross-connects of a plan",
	.operands = "PLAN",
	.min_operands = 1,
	.max_operands = 1,
	.description =
		"Moves only the cross-connects that differ, on all optical switches of the plan at "
		"once, and reads them back. Cross-connects between ports that the plan does not "
		"have are left alone. When a switch fails, all are brought back to what they had, "
		"and the error says so. Tables of the servers are not touched: stage them before, "
		"commit them after.",
	.options = apply_options,
	.args_size = sizeof(struct apply_args),
	.run = apply_run,
};
