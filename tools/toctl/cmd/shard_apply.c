// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric_options.h"
#include "shards.h"
#include "switches.h"

struct apply_args {
	const char *state;
	struct to_shards_apply how;
};

static int apply_run(struct to_call *call, const void *data)
{
	const struct apply_args *args = data;

	return to_shards_activate(call, args->state, &args->how, false);
}

static const struct to_option apply_options[] = {
	TO_ALLOW_KEY(struct apply_args, how.allow),
	TO_FABRIC_KEYS(struct apply_args, how.fabric),
	TO_SHARDS_STATE_KEY(struct apply_args, state),
	{}
};

const struct to_command to_cmd_shard_apply = {
	.name = "shard apply",
	.summary = "Make a shard's plan active when its fibres are moved",
	.operands = "NAME",
	.min_operands = 1,
	.max_operands = 1,
	.options = apply_options,
	.args_size = sizeof(struct apply_args),
	.defaults = &(const struct apply_args){
		.how.fabric = TO_FABRIC_DEFAULTS },
	.run = apply_run,
};
