// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric_options.h"
#include "shards.h"

struct undo_args {
	const char *state;
	struct to_fabric_options fabric;
};

static int undo_shard(struct to_call *call, struct to_shards *s, struct to_shard *shard,
		      const void *data)
{
	const struct undo_args *args = data;
	const struct to_shards_apply how = { .fabric = args->fabric };
	const struct to_shard_activation a = to_shards_activation(&how);
	int ret = to_shard_activation_undo(&a, s, shard, &call->err);

	return ret ? ret : to_shards_print(call, s, shard);
}

static int undo_run(struct to_call *call, const void *data)
{
	const struct undo_args *args = data;
	const struct to_shards_at at = { .state = args->state, .etcd = &args->fabric.etcd };

	return to_shards_change(call, &at, undo_shard, args);
}

static const struct to_option undo_options[] = {
	TO_FABRIC_KEYS(struct undo_args, fabric),
	TO_SHARDS_STATE_KEY(struct undo_args, state),
	{}
};

const struct to_command to_cmd_shard_undo = {
	.name = "shard undo",
	.summary = "Drop the next plan of a shard",
	.operands = "NAME",
	.min_operands = 1,
	.max_operands = 1,
	.options = undo_options,
	.args_size = sizeof(struct undo_args),
	.defaults = &(const struct undo_args){ .fabric = TO_FABRIC_DEFAULTS },
	.run = undo_run,
};
