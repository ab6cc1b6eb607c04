// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric_options.h"
#include "shards.h"

struct remove_args {
	const char *state;
	bool forget;
	struct to_fabric_options fabric;
};

static int remove_shard(struct to_call *call, struct to_shards *s, struct to_shard *shard,
			const void *data)
{
	const struct remove_args *args = data;
	const unsigned int servers = shard->now.plan->cluster->n_servers;
	const struct to_shards_apply how = { .fabric = args->fabric };
	const struct to_shard_activation a = to_shards_activation(&how);
	int ret = to_shard_activation_remove(&a, s, shard, args->forget, &call->err);

	if (!ret && call->json)
		printf("{\"servers\": %u}\n", servers);
	else if (!ret)
		printf("shard %s removed: %u servers are free\n", call->operands[0], servers);
	return ret;
}

static int remove_run(struct to_call *call, const void *data)
{
	const struct remove_args *args = data;
	const struct to_shards_at at = { .state = args->state, .etcd = &args->fabric.etcd };

	return to_shards_change(call, &at, remove_shard, args);
}

static const struct to_option remove_options[] = {
	{ "forget", 0, TO_OPTION_FLAG, offsetof(struct remove_args, forget),
	  .help = "ask no server to remove its tables" },
	TO_FABRIC_KEYS(struct remove_args, fabric),
	TO_SHARDS_STATE_KEY(struct remove_args, state),
	{}
};

const struct to_command to_cmd_shard_remove = {
	.name = "shard remove",
	.summary = "Take a shard's servers back",
	.operands = "NAME",
	.min_operands = 1,
	.max_operands = 1,
	.options = remove_options,
	.args_size = sizeof(struct remove_args),
	.defaults = &(const struct remove_args){ .fabric = TO_FABRIC_DEFAULTS },
	.run = remove_run,
};
