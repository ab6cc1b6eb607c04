// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/json.h"
#include "cli/command.h"
#include "switches.h"

struct show_args {
	const char *allow;
};

static int show_run(struct to_call *call, const void *data)
{
	const struct show_args *args = data;
	struct to_switch_set switches;
	struct to_plan *plan;
	json_t *object;
	bool differs;

	if (to_switches_start(call, args->allow, to_switch_set_compare, &plan, &switches))
		return TO_EXIT_UNKNOWN;
	differs = to_switch_set_differ(&switches);
	if (call->json) {
		object = json_pack("{s:b, s:o}", "differs", differs,
				   "switches", to_switches_json(&switches));
		to_json_write(object, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(object);
	} else {
		to_switches_print(&switches, plan, true);
	}
	to_switches_end(plan, &switches);
	return differs ? TO_EXIT_DEGRADED : TO_EXIT_OK;
}

static const struct to_option show_options[] = {
	TO_ALLOW_KEY(struct show_args, allow),
	{}
};

const struct to_command to_cmd_switch_show = {
	.name = "switch show",
	.summary = "Show the cross-connects of a plan's optical switches",
	.operands = "PLAN",
	.min_operands = 1,
	.max_operands = 1,
	.options = show_options,
	.args_size = sizeof(struct show_args),
	.run = show_run,
};
