// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "fabric_options.h"
#include "shard/shard_replace.h"
#include "shards.h"
#include "switches.h"

struct replace_args {
	const char *state, *by;
	bool keep;
	struct to_shards_apply how;
};

static int replace_server(struct to_call *call, const struct replace_args *args, struct to_shards *s)
{
	const char *server = call->operands[0];
	const int at = to_cluster_find_server(s->cluster, server);
	int *owners = to_shards_owners(s);
	struct to_shard *shard = NULL;
	struct to_plan *plan = NULL;

	if (at < 0)
		to_error_set(&call->err, -ENOENT, "server %s is not in the cluster", server);
	else if (!owners)
		to_error_set(&call->err, -ENOMEM, "out of memory");
	else if (owners[at] < 0)
		to_error_set(&call->err, -ENOENT, "no shard has server %s: toctl shard drain", server);
	else
		shard = to_shards_find_settled(s, s->list[owners[at]].name, &call->err);
	free(owners);
	if (shard)
		plan = to_shard_replace(s, shard, server, args->by, &call->err);
	if (!plan)
		return -EINVAL;
	to_shard_set_next(s, shard, plan);
	s->drained[at] = !args->keep;
	return to_shards_conclude(call, s, shard, &args->how);
}

static int replace_run(struct to_call *call, const void *data)
{
	const struct replace_args *args = data;
	const struct to_shards_at at = {
		.state = args->state, .etcd = &args->how.fabric.etcd };
	struct to_shards s;
	int ret;

	if (args->how.apply && args->how.dry_run)
		return to_usage(call, "--apply and --dry-run are mutually exclusive");
	ret = to_shards_open_at(call, &s, &at, !args->how.dry_run);
	if (!ret)
		ret = replace_server(call, args, &s);
	to_shards_close(&s);
	return ret;
}

static const struct to_option replace_options[] = {
	{ "by", 0, TO_OPTION_STRING, offsetof(struct replace_args, by), .argument = "NAME",
	  .help = "the spare; default: the one for which the fewest cross-connects move" },
	{ "keep", 0, TO_OPTION_FLAG, offsetof(struct replace_args, keep),
	  .help = "the server is not broken: other shards may have it" },
	TO_SHARDS_CONCLUDE_OPTIONS(struct replace_args, how),
	TO_SHARDS_STATE_KEY(struct replace_args, state),
	{}
};

const struct to_command to_cmd_shard_replace = {
	.name = "shard replace",
	.summary = "Put a spare in the place of a broken server",
	.operands = "SERVER",
	.min_operands = 1,
	.max_operands = 1,
	.options = replace_options,
	.args_size = sizeof(struct replace_args),
	.defaults = &(const struct replace_args){ .how.fabric = TO_FABRIC_DEFAULTS },
	.run = replace_run,
};
