// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/command.h"
#include "switches.h"

struct apply_args {
	const char *allow;
	bool dry_run, prepare;
};

static int apply_run(struct to_call *call, const void *data)
{
	const struct apply_args *args = data;

	return to_switches_run(call, args->allow, args->prepare ? to_switch_set_compare_ahead :
				 to_switch_set_compare, args->dry_run);
}

static const struct to_option apply_options[] = {
	{ "dry-run", 0, TO_OPTION_FLAG, .offset = offsetof(struct apply_args, dry_run),
	  .help = "print what would change; change nothing" },
	{ "prepare", 0, TO_OPTION_FLAG, .offset = offsetof(struct apply_args, prepare),
	  .help = "set the look-ahead ports, for toctl switch flip" },
	TO_ALLOW_KEY(struct apply_args, allow),
	{}
};

const struct to_command to_cmd_switch_apply = {
	.name = "switch apply",
	.summary = "Set the optical switches to a plan's cross-connects",
	.operands = "PLAN",
	.min_operands = 1,
	.max_operands = 1,
	.options = apply_options,
	.args_size = sizeof(struct apply_args),
	.run = apply_run,
};
