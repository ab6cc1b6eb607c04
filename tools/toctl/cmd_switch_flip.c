// SPDX-License-Identifier: GPL-2.0-or-later
#include "command.h"
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
	TO_ALLOW_OPTION(struct flip_args, allow),
	{}
};

const struct to_command to_cmd_switch_flip = {
	.name = "switch flip",
	.summary = "Flip to the look-ahead ports, on which a plan is prepared",
	.operands = "PLAN",
	.min_operands = 1,
	.max_operands = 1,
	.description =
		"For servers whose ports reach two optical ports each through a 1x2 optical switch "
		"(\"look_ahead\" in cluster.json). While a job runs on the active ports,\n\n"
		"    toctl switch apply --prepare next.json\n"
		"    toctl apply --stage next.json      (on every server)\n\n"
		"make the next job's cross-connects between the look-ahead ports and stage its "
		"tables. When the job is to start,\n\n"
		"    toctl switch flip next.json\n"
		"    toctl apply --commit next.json     (on every server)\n\n"
		"flip all 1x2 switches of the plan's servers at once: links are down for as long as "
		"a 1x2 switch takes, not for as long as a cross-connect does. Refused unless the "
		"look-ahead ports have the plan's cross-connects; all or nothing, like toctl switch "
		"apply.",
	.options = flip_options,
	.args_size = sizeof(struct flip_args),
	.run = flip_run,
};
