// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "cli/large.h"
#include "fabric_options.h"
#include "format/demand_json.h"
#include "shards.h"
#include "switches.h"

struct resize_args {
	const char *state;
	struct to_shard_job job;
	struct to_shards_apply how;
};

static int resize_shard(struct to_call *call, const struct resize_args *args, struct to_shards *s,
			const struct to_demand *demand)
{
	struct to_shard *shard = to_shards_find_settled(s, call->operands[0], &call->err);
	struct to_plan *plan = shard ? to_shard_job_plan(&args->job, s, shard->name, shard, demand,
							 &call->err) : NULL;

	if (!plan)
		return -EINVAL;
	to_shard_set_next(s, shard, plan);
	return to_shards_conclude(call, s, shard, &args->how);
}

static int resize_run(struct to_call *call, const void *data)
{
	const struct resize_args *args = data;
	const struct to_shards_at at = {
		.state = args->state, .etcd = &args->how.fabric.etcd };
	struct to_demand *demand;
	struct to_shards s;
	int ret;

	if (to_shards_apply_check(call, &args->how))
		return TO_EXIT_USAGE;
	demand = to_demand_load(args->job.job, to_large_most(false), &call->err);
	if (!demand)
		return -EINVAL;
	ret = to_shards_open_at(call, &s, &at, !args->how.dry_run);
	if (!ret)
		ret = resize_shard(call, args, &s, demand);
	to_shards_close(&s);
	to_demand_free(demand);
	return ret;
}

static const struct to_option resize_options[] = {
	TO_SHARD_JOB_OPTIONS(struct resize_args, job),
	TO_SHARD_ON_OPTION(struct resize_args, job),
	TO_SHARDS_CONCLUDE_OPTIONS(struct resize_args, how),
	TO_SHARDS_STATE_KEY(struct resize_args, state),
	{}
};

const struct to_command to_cmd_shard_resize = {
	.name = "shard resize",
	.summary = "Plan a shard's next job on more or fewer servers",
	.operands = "NAME",
	.min_operands = 1,
	.max_operands = 1,
	.options = resize_options,
	.args_size = sizeof(struct resize_args),
	.defaults = &(const struct resize_args){
		.job = TO_SHARD_JOB_DEFAULTS, .how.fabric = TO_FABRIC_DEFAULTS },
	.run = resize_run,
};
