// SPDX-License-Identifier: GPL-2.0-or-later
#include <jansson.h>

#include "base/json.h"
#include "fabric_options.h"
#include "shards.h"

struct init_args {
	const char *state;
	struct to_etcd_options etcd;
};

static int init_run(struct to_call *call, const void *data)
{
	const struct init_args *args = data;
	const struct to_shards_at at = {
		.state = args->state, .etcd = &args->etcd };
	struct to_shards_place place;
	struct to_shards s;
	json_t *object;
	int ret;

	ret = to_shards_find_place(call, &at, &place);
	ret = ret ? ret : to_shards_init(&s, &place, call->operands[0], &call->err);
	if (ret)
		return ret;
	if (call->json) {
		object = json_pack("{s:s, s:I, s:i, s:i, s:i}", "state", to_shards_where(&s),
				   "generation", (json_int_t)s.generation,
				   "servers", s.cluster->n_servers, "links", s.cluster->n_links,
				   "shards", s.n);
		to_json_write(object, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(object);
	} else {
		printf("%s: %u servers, %u links in place, %u shards\n", to_shards_where(&s),
		       s.cluster->n_servers, s.cluster->n_links, s.n);
	}
	to_shards_close(&s);
	return 0;
}

static const struct to_option init_options[] = {
	TO_SHARDS_STATE_KEYS(struct init_args, state, etcd),
	{}
};

const struct to_command to_cmd_shard_init = {
	.name = "shard init",
	.summary = "Let several jobs share a cluster",
	.operands = "CLUSTER",
	.min_operands = 1,
	.max_operands = 1,
	.options = init_options,
	.args_size = sizeof(struct init_args),
	.run = init_run,
};
