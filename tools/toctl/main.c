// SPDX-License-Identifier: GPL-2.0-or-later
/* toctl: set up, plan, program and measure a fabric. */

#include "cli/command.h"
#include "configuration.h"

#define TO_GROUP(title)
#define TO_COMMAND(name) extern const struct to_command to_cmd_##name;
#include "commands.h"
#undef TO_GROUP
#undef TO_COMMAND

static const struct to_command_row rows[] = {
#define TO_GROUP(title) { title, NULL },
#define TO_COMMAND(name) { NULL, &to_cmd_##name },
#include "commands.h"
#undef TO_GROUP
#undef TO_COMMAND
	{ "", NULL },
	{ NULL, &to_cmd_help },
	{ NULL, &to_cmd_version },
	{ NULL, &to_cmd_completion },
	{}
};

static const struct to_command_family families[] = {
	{ "fabric", "Show how to reach the fabric, and set up etcd for it" },
	{ "switch", "Set optical switches, and show what they join" },
	{ "job", "Start jobs in the order of the plan's rings" },
	{ "collective", "Run an AllReduce on the fabric, with real sums" },
	{ "shard", "Share a cluster among jobs" },
	{ "tm", "Record and evaluate traffic matrices" },
	{}
};

static const struct to_moved moved[] = {
	{ "simulate", "tosim simulate" },
	{ "sweep", "tosim sweep" },
	{ "cost", "tosim cost" },
	{ "schedule", "tosim schedule" },
	{ "collective show", "tosim steps" },
	{ "shard simulate", "tosim days" },
	{ "shard compare", "tosim compare" },
	{}
};

static const struct to_program toctl = {
	.name = "toctl",
	.version = TO_VERSION,
	.summary = "Plans, programs and measures a fabric of servers without switches.",
	.rows = rows,
	.families = families,
	.common = to_common_config_options,
	.moved = moved,
	.configure = to_configuration_read,
	.release = to_configuration_release,
};

int main(int argc, char **argv)
{
	return to_program_main(&toctl, argc, argv);
}
