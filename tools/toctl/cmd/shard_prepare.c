// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "cli/large.h"
#include "fabric_options.h"
#include "format/demand_json.h"
#include "shards.h"
#include "switches.h"

struct prepare_args {
	const char *state;
	struct to_shard_job job;
	struct to_shards_apply how;
	struct to_etcd_options etcd;
};

static int prepare_shard(struct to_call *call, const struct prepare_args *args,
			 struct to_shards *s, const struct to_demand *demand)
{
	const struct to_shard_activation a = to_shards_activation(&args->how);
	struct to_shard *shard = to_shards_find_settled(s, call->operands[0], &call->err);
	struct to_plan *plan = NULL;
	int ret;

	if (shard && demand->n != shard->now.plan->cluster->n_servers)
		to_error_set(&call->err, -EINVAL, "%s: the job has %u servers, shard %s %u",
			     args->job.job, demand->n, shard->name,
			     shard->now.plan->cluster->n_servers);
	else if (shard)
		plan = to_shard_job_plan(&args->job, s, shard->name, shard, demand, &call->err);
	if (!plan)
		return -EINVAL;
	to_shard_set_next(s, shard, plan);
	ret = to_shard_activation_prepare(&a, s, shard, &call->err);
	return ret ? ret : to_shards_print(call, s, shard);
}

static int prepare_run(struct to_call *call, const void *data)
{
	const struct prepare_args *args = data;
	const struct to_shards_at at = {
		.state = args->state, .etcd = &args->etcd };
	struct to_demand *demand;
	struct to_shards s;
	int ret;

	demand = to_demand_load(args->job.job, to_large_most(false), &call->err);
	if (!demand)
		return -EINVAL;
	ret = to_shards_open_at(call, &s, &at, true);
	if (!ret)
		ret = prepare_shard(call, args, &s, demand);
	to_shards_close(&s);
	to_demand_free(demand);
	return ret;
}

static const struct to_option prepare_options[] = {
	TO_SHARD_JOB_OPTIONS(struct prepare_args, job),
	TO_ALLOW_KEY(struct prepare_args, how.allow),
	TO_SHARDS_STATE_KEYS(struct prepare_args, state, etcd),
	{}
};

const struct to_command to_cmd_shard_prepare = {
	.name = "shard prepare",
	.summary = "Make a shard's next job ready while its job runs",
	.operands = "NAME",
	.min_operands = 1,
	.max_operands = 1,
	.options = prepare_options,
	.args_size = sizeof(struct prepare_args),
	.defaults = &(const struct prepare_args){ .job = TO_SHARD_JOB_DEFAULTS },
	.run = prepare_run,
};
