// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/command.h"
#include "switches.h"

struct flip_args {
	const char *allow;
	bool dry_run;
};

static int flip_run(struct to_call *call, const void *data)
{
	const struct flip_args *args = data;

	return to_switches_run(call, args->allow, to_switch_set_compare_flip, args->dry_run);
}

static const struct to_option flip_options[] = {
	{ "dry-run", 0, TO_OPTION_FLAG, .offset = offsetof(struct flip_args, dry_run),
	  .help = "print what would change; change nothing" },
	TO_ALLOW_KEY(struct flip_args, allow),
	{}
};

const struct to_command to_cmd_switch_flip = {
	.name = "switch flip",
	.summary = "Flip to the look-ahead ports of a prepared plan",
	.operands = "PLAN",
	.min_operands = 1,
	.max_operands = 1,
	.options = flip_options,
	.args_size = sizeof(struct flip_args),
	.run = flip_run,
};
