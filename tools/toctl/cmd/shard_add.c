// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "cli/large.h"
#include "fabric_options.h"
#include "format/demand_json.h"
#include "format/names.h"
#include "shards.h"
#include "switches.h"

struct add_args {
	const char *state;
	struct to_shard_job job;
	struct to_shards_apply how;
};

static int add_shard(struct to_call *call, const struct add_args *args, struct to_shards *s,
		     const struct to_demand *demand)
{
	const char *name = call->operands[0];
	struct to_plan *plan = to_shard_job_plan(&args->job, s, name, NULL, demand, &call->err);
	struct to_shard *shard;

	if (!plan)
		return -EINVAL;
	shard = to_shards_add(s, name, plan, &call->err);
	return shard ? to_shards_conclude(call, s, shard, &args->how) : -ENOMEM;
}

static int add_run(struct to_call *call, const void *data)
{
	const struct add_args *args = data;
	const struct to_shards_at at = {
		.state = args->state, .etcd = &args->how.fabric.etcd };
	const char *name = call->operands[0];
	struct to_demand *demand;
	struct to_error none;
	struct to_shards s;
	int ret;

	if (to_shards_apply_check(call, &args->how))
		return TO_EXIT_USAGE;
	if (!to_names_is_name(name))
		return to_usage(call, "expected a name of letters, digits, \".\", \"_\" and \"-\", not \"%.80s\"",
				name);
	demand = to_demand_load(args->job.job, to_large_most(false), &call->err);
	if (!demand)
		return -EINVAL;
	ret = to_shards_open_at(call, &s, &at, !args->how.dry_run);
	if (!ret && to_shards_find(&s, name, &none))
		ret = to_error_set(&call->err, -EEXIST, "%.300s: there is a shard %s", to_shards_where(&s),
				   name);
	else if (!ret)
		ret = add_shard(call, args, &s, demand);
	to_shards_close(&s);
	to_demand_free(demand);
	return ret;
}

static const struct to_option add_options[] = {
	TO_SHARD_JOB_OPTIONS(struct add_args, job),
	TO_SHARD_ON_OPTION(struct add_args, job),
	{ "fixed", 0, TO_OPTION_FLAG, offsetof(struct add_args, job.fixed),
	  .help = "keep the links in place; move nothing" },
	TO_SHARDS_CONCLUDE_OPTIONS(struct add_args, how),
	TO_SHARDS_STATE_KEY(struct add_args, state),
	{}
};

const struct to_command to_cmd_shard_add = {
	.name = "shard add",
	.summary = "Give a job servers of a shared cluster",
	.operands = "NAME",
	.min_operands = 1,
	.max_operands = 1,
	.options = add_options,
	.args_size = sizeof(struct add_args),
	.defaults = &(const struct add_args){
		.job = TO_SHARD_JOB_DEFAULTS, .how.fabric = TO_FABRIC_DEFAULTS },
	.run = add_run,
};
