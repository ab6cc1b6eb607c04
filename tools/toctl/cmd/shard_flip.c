// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric_options.h"
#include "shards.h"
#include "switches.h"

struct flip_args {
	const char *state;
	struct to_shards_apply how;
};

static int flip_run(struct to_call *call, const void *data)
{
	const struct flip_args *args = data;

	return to_shards_activate(call, args->state, &args->how, true);
}

static const struct to_option flip_options[] = {
	TO_ALLOW_KEY(struct flip_args, how.allow),
	TO_FABRIC_KEYS(struct flip_args, how.fabric),
	TO_SHARDS_STATE_KEY(struct flip_args, state),
	{}
};

const struct to_command to_cmd_shard_flip = {
	.name = "shard flip",
	.summary = "Flip a shard to the plan that was prepared",
	.operands = "NAME",
	.min_operands = 1,
	.max_operands = 1,
	.options = flip_options,
	.args_size = sizeof(struct flip_args),
	.defaults = &(const struct flip_args){
		.how.fabric = TO_FABRIC_DEFAULTS },
	.run = flip_run,
};
