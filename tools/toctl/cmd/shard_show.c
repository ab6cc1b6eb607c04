// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "fabric_options.h"
#include "format/plan_json.h"
#include "shards.h"

struct show_args {
	const char *state, *output;
	struct to_etcd_options etcd;
};

static int show_json(struct to_call *call, const struct to_shards *s, const int *owners)
{
	json_t *available = json_array(), *drained = json_array(), *shards = json_array(), *object;
	int ret = 0;

	for (unsigned int i = 0; i < s->cluster->n_servers; i++) {
		if (s->drained[i])
			json_array_append_new(drained, json_string(s->cluster->servers[i].name));
		else if (owners[i] < 0)
			json_array_append_new(available, json_string(s->cluster->servers[i].name));
	}
	for (unsigned int i = 0; i < s->n && !ret; i++) {
		object = to_shards_json(s, &s->list[i], &call->err);
		ret = object ? json_array_append_new(shards, object) : -ENOMEM;
	}
	object = json_pack("{s:s, s:I, s:o, s:o, s:o}", "state", to_shards_where(s), "generation",
			   (json_int_t)s->generation, "free", available, "drained", drained,
			   "shards", shards);
	if (!ret) {
		to_json_write(object, stdout, JSON_INDENT(2));
		putchar('\n');
	}
	json_decref(object);
	return ret;
}

static void show_servers(const struct to_shards *s, const int *owners, bool drained)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < s->cluster->n_servers; i++)
		n += s->drained[i] == drained && (drained || owners[i] < 0);
	printf("%u %s%s", n, drained ? "drained" : "free", n ? ":" : "");
	for (unsigned int i = 0; i < s->cluster->n_servers; i++)
		if (s->drained[i] == drained && (drained || owners[i] < 0))
			printf(" %s", s->cluster->servers[i].name);
}

static int show_text(struct to_call *call, const struct to_shards *s, const int *owners)
{
	int ret = 0;

	printf("%s: generation %llu, %u servers, ", to_shards_where(s), (unsigned long long)s->generation,
	       s->cluster->n_servers);
	show_servers(s, owners, false);
	printf("; ");
	show_servers(s, owners, true);
	putchar('\n');
	for (unsigned int i = 0; i < s->n && !ret; i++)
		ret = to_shards_print(call, s, &s->list[i]);
	return ret;
}

/* Tell whether a change of a shard that is shown did not end. */
static bool show_unfinished(const struct to_call *call, const struct to_shards *s)
{
	for (unsigned int i = 0; i < s->n; i++)
		if ((s->list[i].state == TO_SHARD_CHANGING || s->list[i].state == TO_SHARD_REMOVING) &&
		    (!call->n_operands || !strcmp(s->list[i].name, call->operands[0])))
			return true;
	return false;
}

/* Print a shard, and write its plan if a file is given. */
static int show_shard(struct to_call *call, const struct show_args *args, const struct to_shards *s)
{
	const struct to_shard *shard = to_shards_find(s, call->operands[0], &call->err);
	int ret;

	if (!shard)
		return TO_EXIT_FAILURE;
	if (!args->output)
		return to_shards_print(call, s, shard);
	if (to_shards_check_output(s, args->output, &call->err))
		return TO_EXIT_USAGE;
	ret = to_plan_save(shard->now.plan, args->output, &call->err);
	return ret || !strcmp(args->output, "-") ? ret : to_shards_print(call, s, shard);
}

static int show_run(struct to_call *call, const void *data)
{
	const struct show_args *args = data;
	const struct to_shards_at at = {
		.state = args->state, .etcd = &args->etcd };
	struct to_shards s;
	int *owners;
	int ret;

	if (args->output && !call->n_operands)
		return to_usage(call, "--output is for the plan of a shard: NAME");
	ret = to_shards_open_at(call, &s, &at, false);
	if (ret)
		return ret < 0 ? TO_EXIT_UNKNOWN : ret;
	owners = to_shards_owners(&s);
	if (!owners) {
		ret = to_error_set(&call->err, -ENOMEM, "out of memory");
	} else if (call->n_operands) {
		ret = show_shard(call, args, &s);
	} else {
		ret = call->json ? show_json(call, &s, owners) : show_text(call, &s, owners);
	}
	if (!ret && show_unfinished(call, &s))
		ret = TO_EXIT_DEGRADED;
	free(owners);
	to_shards_close(&s);
	return ret;
}

static const struct to_option show_options[] = {
	{ "output", 'o', TO_OPTION_OUTPUT, offsetof(struct show_args, output), .argument = "FILE",
	  .help = "file for the plan of NAME; -: the plan alone" },
	TO_SHARDS_STATE_KEYS(struct show_args, state, etcd),
	{}
};

const struct to_command to_cmd_shard_show = {
	.name = "shard show",
	.summary = "Show who has which servers of a shared cluster",
	.operands = "[NAME]",
	.max_operands = 1,
	.options = show_options,
	.args_size = sizeof(struct show_args),
	.run = show_run,
};
