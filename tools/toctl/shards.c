// SPDX-License-Identifier: GPL-2.0-or-later
#include "shards.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "moves.h"
#include "shard/shard_plan.h"

int to_shards_find_place(struct to_call *call, const struct to_shards_at *at,
			 struct to_shards_place *place)
{
	const bool etcd = at->state && !strcmp(at->state, TO_SHARDS_ETCD);

	if (etcd && !at->etcd->endpoints)
		return to_error_set(&call->err, -EINVAL,
				    "shards.state is etcd, but etcd.endpoints is not set: see toctl fabric show");
	*place = (struct to_shards_place){ .dir = at->state, .etcd = etcd ? at->etcd : NULL };
	return 0;
}

int to_shards_open_at(struct to_call *call, struct to_shards *s, const struct to_shards_at *at,
		      bool change)
{
	struct to_shards_place place;
	int ret = to_shards_find_place(call, at, &place);

	*s = (struct to_shards){};
	return ret ? ret : to_shards_open(s, &place, change, &call->err);
}

int to_shards_change(struct to_call *call, const struct to_shards_at *at,
		     int (*change)(struct to_call *call, struct to_shards *s,
				   struct to_shard *shard, const void *args),
		     const void *args)
{
	struct to_shard *shard;
	struct to_shards s;
	int ret = to_shards_open_at(call, &s, at, true);

	if (ret)
		return ret;
	shard = to_shards_find(&s, call->operands[0], &call->err);
	ret = shard ? change(call, &s, shard, args) : TO_EXIT_FAILURE;
	to_shards_close(&s);
	return ret;
}

static json_t *shards_names_json(const struct to_cluster *c)
{
	json_t *array = json_array();

	for (unsigned int i = 0; i < c->n_servers; i++)
		json_array_append_new(array, json_string(c->servers[i].name));
	return array;
}

/* Make the JSON of a version of a shard; "plan" is a file. Return: NULL with @err on failure. */
static json_t *shards_version_json(const struct to_shards *s, const struct to_shard *shard,
				   const struct to_shard_version *version, struct to_error *err)
{
	const struct to_plan *plan = version->plan;
	struct to_shard_moves moves;
	json_t *out = NULL;
	char path[PATH_MAX];

	to_shards_plan_file(s, shard, version, path);
	if (!to_shard_moves(s, plan, &moves, err))
		out = json_pack("{s:I, s:s*, s:o, s:o, s:{s:o, s:o}}",
				"generation", (json_int_t)version->generation,
				"plan", version->unsaved ? NULL : path,
				"servers", shards_names_json(plan->cluster),
				"cross_connects", to_moves_json(s->cluster, plan->cross_connects,
								plan->n_cross_connects),
				"moves",
				"cut", to_moves_json(s->cluster, moves.cut, moves.n_cut),
				"made", to_moves_json(s->cluster, moves.made, moves.n_made));
	to_shard_moves_free(&moves);
	if (!out && err && !err->text[0])
		to_error_set(err, -ENOMEM, "out of memory");
	return out;
}

json_t *to_shards_json(const struct to_shards *s, const struct to_shard *shard, struct to_error *err)
{
	json_t *out = shards_version_json(s, shard, &shard->now, err), *next;

	if (!out)
		return NULL;
	json_object_set_new(out, "name", json_string(shard->name));
	json_object_set_new(out, "state", json_string(to_shard_states[shard->state]));
	if (!shard->next.plan)
		return out;
	next = shards_version_json(s, shard, &shard->next, err);
	if (next && !json_object_set_new(out, "next", next))
		return out;
	json_decref(out);
	return NULL;
}

static int shards_print_version(const struct to_shards *s, const struct to_shard *shard,
				const struct to_shard_version *version, const char *head,
				struct to_error *err)
{
	const struct to_cluster *c = version->plan->cluster;
	struct to_shard_moves moves = {};
	char path[PATH_MAX];
	int ret = 0;

	to_shards_plan_file(s, shard, version, path);
	printf("%s, %u links, %u servers:", head, c->n_links, c->n_servers);
	for (unsigned int i = 0; i < c->n_servers; i++)
		printf(" %s", c->servers[i].name);
	putchar('\n');
	if (!version->unsaved)
		printf("  plan: %s\n", path);
	/* cross-connects of an old plan need not be moved back */
	if (version->plan == to_shard_goal(shard)->plan)
		ret = to_shard_moves(s, version->plan, &moves, err);
	if (moves.n_cut + moves.n_made)
		printf("  to move: %u cross-connects to cut, %u to make\n", moves.n_cut,
		       moves.n_made);
	to_moves_print(stdout, s->cluster, "cut", moves.cut, moves.n_cut);
	to_moves_print(stdout, s->cluster, "make", moves.made, moves.n_made);
	to_shard_moves_free(&moves);
	return ret;
}

int to_shards_print(struct to_call *call, const struct to_shards *s, const struct to_shard *shard)
{
	char head[TO_NAME_MAX + 32];
	json_t *object;
	int ret;

	if (call->json) {
		object = to_shards_json(s, shard, &call->err);
		if (!object)
			return -ENOMEM;
		to_json_write(object, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(object);
		return 0;
	}
	snprintf(head, sizeof(head), "shard %s: %s", shard->name, to_shard_states[shard->state]);
	ret = shards_print_version(s, shard, &shard->now, head, &call->err);
	if (!ret && shard->next.plan)
		ret = shards_print_version(s, shard, &shard->next, "  next", &call->err);
	return ret;
}

struct to_shard_activation to_shards_activation(const struct to_shards_apply *how)
{
	struct to_shard_activation a = { .fabric = how->fabric, .allow = how->allow };

	a.fabric.note = to_note;
	return a;
}

int to_shards_apply_check(struct to_call *call, const struct to_shards_apply *how)
{
	if (how->apply && how->dry_run)
		return to_usage(call, "--apply and --dry-run are mutually exclusive");
	return 0;
}

int to_shards_conclude(struct to_call *call, struct to_shards *s, struct to_shard *shard,
		       const struct to_shards_apply *how)
{
	const struct to_shard_activation a = to_shards_activation(how);
	int ret = to_shard_activation_check(s, shard, &call->err);

	if (!ret && how->apply)
		ret = to_shard_activation_make(&a, s, shard, &call->err);
	else if (!ret && !how->dry_run)
		ret = to_shards_save(s, &call->err);
	return ret ? ret : to_shards_print(call, s, shard);
}

static int shards_make(struct to_call *call, struct to_shards *s, struct to_shard *shard,
		       const void *args)
{
	int ret = to_shard_activation_make(args, s, shard, &call->err);

	return ret ? ret : to_shards_print(call, s, shard);
}

int to_shards_activate(struct to_call *call, const char *state, const struct to_shards_apply *how,
		       bool flip)
{
	const struct to_shards_at at = { .state = state, .etcd = &how->fabric.etcd };
	struct to_shard_activation a = to_shards_activation(how);

	a.moved = true;
	a.flip = flip;
	return to_shards_change(call, &at, shards_make, &a);
}
