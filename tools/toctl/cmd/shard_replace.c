// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric_options.h"
#include "shard/shard_replace.h"
#include "shards.h"
#include "switches.h"

struct replace_args {
	const char *state, *by;
	struct to_shards_apply how;
};

static int replace_run(struct to_call *call, const void *data)
{
	const struct replace_args *args = data;
	const struct to_shards_at at = {
		.state = args->state, .etcd = &args->how.fabric.etcd };
	struct to_shard *shard;
	struct to_shards s;
	int ret;

	if (to_shards_apply_check(call, &args->how))
		return TO_EXIT_USAGE;
	ret = to_shards_open_at(call, &s, &at, !args->how.dry_run);
	if (ret)
		return ret;
	shard = to_shard_replace_server(&s, call->operands[0], args->by, &call->err);
	ret = shard ? to_shards_conclude(call, &s, shard, &args->how) : TO_EXIT_FAILURE;
	to_shards_close(&s);
	return ret;
}

static const struct to_option replace_options[] = {
	{ "by", 0, TO_OPTION_STRING, offsetof(struct replace_args, by), .argument = "NAME",
	  .help = "spare; default: the one with the fewest cross-connects to move" },
	TO_SHARDS_CONCLUDE_OPTIONS(struct replace_args, how),
	TO_SHARDS_STATE_KEY(struct replace_args, state),
	{}
};

const struct to_command to_cmd_shard_replace = {
	.name = "shard replace",
	.summary = "Put a spare in the place of a server",
	.operands = "SERVER",
	.min_operands = 1,
	.max_operands = 1,
	.options = replace_options,
	.args_size = sizeof(struct replace_args),
	.defaults = &(const struct replace_args){ .how.fabric = TO_FABRIC_DEFAULTS },
	.run = replace_run,
};
