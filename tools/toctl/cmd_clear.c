// SPDX-License-Identifier: GPL-2.0-or-later
#include <jansson.h>

#include "apply.h"
#include "command.h"

struct clear_args {
	const char *dev;
};

static int clear_run(struct to_call *call, const void *data)
{
	const struct clear_args *args = data;
	struct to_cleared cleared;
	int ret;

	ret = to_apply_clear(args->dev, &cleared, &call->err);
	if (ret)
		return ret;
	if (call->json)
		printf("{\"device\": \"%s\", \"routes\": %u, \"entries\": %u, \"device_removed\": %s}\n",
		       args->dev, cleared.routes, cleared.entries,
		       cleared.device ? "true" : "false");
	else
		printf("%s: %u routes and %u entries removed%s\n", args->dev,
		       cleared.routes, cleared.entries,
		       cleared.device ? ", and the device" : "");
	return 0;
}

static const struct to_option clear_options[] = {
	{ "dev", 'd', TO_OPTION_STRING, offsetof(struct clear_args, dev),
	  .argument = "DEV", .help = "topoopt device; default: topo0" },
	{}
};

const struct to_command to_cmd_clear = {
	.name = "clear",
	.summary = "Remove what apply made on this server",
	.description =
		"Removes the routes, rules, neighbours and addresses that toctl apply set,\n"
		"and the table. A device that apply made goes as a whole; one that was\n"
		"there before keeps its ports.",
	.options = clear_options,
	.args_size = sizeof(struct clear_args),
	.defaults = &(const struct clear_args){ .dev = "topo0" },
	.run = clear_run,
};
