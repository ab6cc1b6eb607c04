// SPDX-License-Identifier: GPL-2.0-or-later
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "fabric_options.h"
#include "format/plan_json.h"
#include "kernel/apply.h"
#include "kernel/device_lock.h"

#define DEFAULT_DEV "topo0"

struct clear_args {
	const char *dev;
	bool all;
	struct to_fabric_options fabric;
};

static int clear_all(struct to_call *call, const struct clear_args *args)
{
	struct to_plan *plan = to_plan_load_shared(call->operands[0], &call->err);
	struct to_fabric_options options = args->fabric;
	struct to_fabric *fabric;
	int ret = TO_EXIT_FAILURE;

	if (!plan)
		return ret;
	options.note = to_note;
	fabric = to_fabric_open(plan, &options, &call->err);
	if (fabric)
		ret = to_fabric_clear(fabric, &call->err);
	to_fabric_close(fabric);
	if (!ret && call->json)
		printf("{\"servers\": %u}\n", plan->cluster->n_servers);
	else if (!ret)
		printf("cleared on all %u servers\n", plan->cluster->n_servers);
	to_plan_free(plan);
	return ret;
}

static int clear_run(struct to_call *call, const void *data)
{
	const struct clear_args *args = data;
	struct to_cleared cleared;
	int lock, ret;

	if (args->all != (call->n_operands == 1))
		return to_usage(call, "--all and PLAN go together");
	if (args->all && strcmp(args->dev, DEFAULT_DEV))
		return to_usage(call, "--all clears the devices of the agents: see toctl agent --dev");
	if (args->all)
		return clear_all(call, args);
	lock = to_device_lock_take("toctl", args->dev, TO_DEVICE_LOCK_WAIT_S, &call->err);
	if (lock < 0)
		return lock;
	ret = to_apply_clear(args->dev, &cleared, &call->err);
	close(lock);
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
	{ "dev", 0, TO_OPTION_STRING, offsetof(struct clear_args, dev),
	  .argument = "DEV", .help = "topoopt device; default: topo0" },
	{ "all", 'a', TO_OPTION_FLAG, offsetof(struct clear_args, all),
	  .help = "on all servers of PLAN" },
	TO_FABRIC_KEYS(struct clear_args, fabric),
	{}
};

const struct to_command to_cmd_clear = {
	.name = "clear",
	.summary = "Undo toctl apply on this server",
	.operands = "[PLAN]",
	.max_operands = 1,
	.options = clear_options,
	.args_size = sizeof(struct clear_args),
	.defaults = &(const struct clear_args){
		.dev = DEFAULT_DEV, .fabric = TO_FABRIC_DEFAULTS,
	},
	.run = clear_run,
};
