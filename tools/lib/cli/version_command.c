// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/command.h"

static int version_run(struct to_call *call, const void *args)
{
	const struct to_program *program = call->program;

	(void)args;
	if (call->json)
		printf("{\"%s\": \"%s\", \"plan\": 1, \"tm\": 1}\n", program->name, program->version);
	else
		printf("%s %s (plan format 1, tm format 1)\n", program->name, program->version);
	return 0;
}

const struct to_command to_cmd_version = {
	.name = "version",
	.summary = "Print the version, and versions of the file formats",
	.run = version_run,
};
