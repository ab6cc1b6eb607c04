// SPDX-License-Identifier: GPL-2.0-or-later
/* tosim: studies of jobs and fabrics; nothing here touches a live fabric. */

#include "cli/command.h"

extern const struct to_command to_cmd_simulate, to_cmd_sweep, to_cmd_cost, to_cmd_schedule,
	to_cmd_steps, to_cmd_days, to_cmd_compare;

static const struct to_command_row rows[] = {
	{ "One job", NULL },
	{ NULL, &to_cmd_simulate },
	{ NULL, &to_cmd_sweep },
	{ NULL, &to_cmd_schedule },
	{ NULL, &to_cmd_steps },
	{ NULL, &to_cmd_cost },
	{ "Many jobs", NULL },
	{ NULL, &to_cmd_days },
	{ NULL, &to_cmd_compare },
	{ "", NULL },
	{ NULL, &to_cmd_help },
	{ NULL, &to_cmd_version },
	{ NULL, &to_cmd_completion },
	{}
};

static const struct to_program tosim = {
	.name = "tosim",
	.version = TO_VERSION,
	.summary = "Simulates jobs on a TopoOpt fabric and on the fabrics it is compared with.",
	.rows = rows,
	.common = to_common_options,
};

int main(int argc, char **argv)
{
	return to_program_main(&tosim, argc, argv);
}
