// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "fabric_options.h"
#include "shards.h"

struct remove_args {
	const char *state;
	bool forget;
	struct to_fabric_options fabric;
};

static int remove_tables(struct to_call *call, const struct remove_args *args,
			 const struct to_plan *plan)
{
	struct to_fabric_options options = args->fabric;
	struct to_fabric *fabric;
	int ret;

	options.shard = call->operands[0];
	fabric = to_fabric_open(plan, &options, &call->err);
	ret = fabric ? to_fabric_clear(fabric, &call->err) : -EHOSTUNREACH;
	to_fabric_close(fabric);
	return ret;
}

static int remove_shard(struct to_call *call, const struct remove_args *args, struct to_shards *s,
			struct to_shard *shard)
{
	const unsigned int servers = shard->now.plan->cluster->n_servers;
	int ret = 0;

	if (shard->state != TO_SHARD_PLANNED && !args->forget) {
		shard->state = TO_SHARD_REMOVING;
		ret = to_shards_save(s, &call->err);
		if (!ret)
			ret = remove_tables(call, args, shard->now.plan);
		if (!ret && shard->next.plan)
			ret = to_shards_leave(shard->next.plan, shard->now.plan, &args->fabric,
					      &call->err);
	}
	if (ret)
		return ret;
	to_shards_drop(s, shard);
	ret = to_shards_save(s, &call->err);
	if (!ret && call->json)
		printf("{\"servers\": %u}\n", servers);
	else if (!ret)
		printf("shard %s removed: %u servers are free\n", call->operands[0], servers);
	return ret;
}

static int remove_run(struct to_call *call, const void *data)
{
	const struct remove_args *args = data;
	const struct to_shards_at at = {
		.state = args->state, .etcd = &args->fabric.etcd };
	struct to_shard *shard;
	struct to_shards s;
	int ret;

	ret = to_shards_open_at(call, &s, &at, true);
	if (ret)
		return ret;
	shard = to_shards_find(&s, call->operands[0], &call->err);
	ret = shard ? remove_shard(call, args, &s, shard) : TO_EXIT_FAILURE;
	to_shards_close(&s);
	return ret;
}

static const struct to_option remove_options[] = {
	{ "forget", 0, TO_OPTION_FLAG, offsetof(struct remove_args, forget),
	  .help = "ask no server to remove its table: they are gone" },
	TO_FABRIC_KEYS(struct remove_args, fabric),
	TO_SHARDS_STATE_KEY(struct remove_args, state),
	{}
};

const struct to_command to_cmd_shard_remove = {
	.name = "shard remove",
	.summary = "Take a job's servers back",
	.operands = "NAME",
	.min_operands = 1,
	.max_operands = 1,
	.options = remove_options,
	.args_size = sizeof(struct remove_args),
	.defaults = &(const struct remove_args){ .fabric = TO_FABRIC_DEFAULTS },
	.run = remove_run,
};
