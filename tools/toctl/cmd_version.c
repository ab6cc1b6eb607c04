// SPDX-License-Identifier: GPL-2.0-or-later
#include <jansson.h>

#include "command.h"

static int version_run(struct to_call *call, const void *args)
{
	(void)args;
	if (call->json)
		printf("{\"toctl\": \"%s\", \"plan\": 1, \"tm\": 1}\n", TO_VERSION);
	else
		printf("toctl %s (plan format 1, tm format 1)\n", TO_VERSION);
	return 0;
}

const struct to_command to_cmd_version = {
	.name = "version",
	.summary = "Print the version of toctl and of the formats it writes",
	.run = version_run,
};
