// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <limits.h>

#include "fabric_options.h"
#include "shards.h"

struct drain_args {
	const char *state;
	bool end;
	struct to_etcd_options etcd;
};

static int drain_servers(struct to_call *call, const struct drain_args *args, struct to_shards *s)
{
	int ret;

	for (unsigned int i = 0; i < call->n_operands; i++) {
		int at = to_cluster_find_server(s->cluster, call->operands[i]);

		if (at < 0)
			return to_error_set(&call->err, -ENOENT, "server %.63s is not in the cluster",
					    call->operands[i]);
		s->drained[at] = !args->end;
	}
	ret = to_shards_save(s, &call->err);
	if (!ret && call->json)
		printf("{\"servers\": %u}\n", call->n_operands);
	else if (!ret)
		printf("%u servers %s\n", call->n_operands, args->end ? "can be given to shards" :
							    "are drained");
	return ret;
}

static int drain_run(struct to_call *call, const void *data)
{
	const struct drain_args *args = data;
	const struct to_shards_at at = {
		.state = args->state, .etcd = &args->etcd };
	struct to_shards s;
	int ret;

	ret = to_shards_open_at(call, &s, &at, true);
	if (!ret)
		ret = drain_servers(call, args, &s);
	to_shards_close(&s);
	return ret;
}

static const struct to_option drain_options[] = {
	{ "end", 0, TO_OPTION_FLAG, offsetof(struct drain_args, end),
	  .help = "let shards have the servers again" },
	TO_SHARDS_STATE_KEYS(struct drain_args, state, etcd),
	{}
};

const struct to_command to_cmd_shard_drain = {
	.name = "shard drain",
	.summary = "Mark servers as unusable for shards",
	.operands = "SERVER...",
	.min_operands = 1,
	.max_operands = UINT_MAX,
	.options = drain_options,
	.args_size = sizeof(struct drain_args),
	.run = drain_run,
};
