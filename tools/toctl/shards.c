// SPDX-License-Identifier: GPL-2.0-or-later
#include "shards.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/apply_all.h"
#include "moves.h"
#include "shard/shard_plan.h"
#include "shard/shards_check.h"
#include "switches.h"
#include "verify/verify.h"

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

/* ---- show ---- */

static json_t *shards_names_json(const struct to_cluster *c)
{
	json_t *array = json_array();

	for (unsigned int i = 0; i < c->n_servers; i++)
		json_array_append_new(array, json_string(c->servers[i].name));
	return array;
}

/* Members of a version of @shard; "plan" is its file. NULL with @err. */
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
	/* what is in place of an old plan is nobody's to move back */
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
		json_dumpf(object, stdout, JSON_INDENT(2));
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

/* ---- apply ---- */

static void shards_wrong_line(void *data, const char *line)
{
	struct to_error *err = data;

	if (!err->text[0])
		to_error_set(err, -EINVAL, "%s", line);
}

int to_shards_verify(const struct to_shards *s, const struct to_shard *shard, struct to_error *err)
{
	struct to_verify_report report;
	long wrong;
	int ret = to_verify(to_shard_goal(shard)->plan, shards_wrong_line, err, &report);

	if (ret)
		return to_error_set(err, ret, "out of memory");
	if (report.violations)
		return -EINVAL;
	wrong = to_shards_check(s, shards_wrong_line, err);
	if (wrong < 0)
		return to_error_set(err, wrong, "out of memory");
	return wrong ? -EINVAL : 0;
}

/* How many of its moves are by hand, on @optical the last of them. */
static unsigned int shards_by_hand(const struct to_cluster *c, const struct to_shard_moves *moves,
				   const char **optical)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < moves->n_cut + moves->n_made; i++) {
		const struct to_cross_connect *x = i < moves->n_cut ? &moves->cut[i] :
						   &moves->made[i - moves->n_cut];

		if (c->switches[x->optical_switch].control.driver != TO_SWITCH_BY_HAND)
			continue;
		*optical = c->switches[x->optical_switch].name;
		n++;
	}
	return n;
}

/* Does @other use the fibres of @server already? */
static bool shards_uses(const struct to_shard *other, const char *server)
{
	if (other->state == TO_SHARD_PLANNED)
		return false;
	return other->state != TO_SHARD_ACTIVE ||
	       to_cluster_find_server(other->now.plan->cluster, server) >= 0;
}

/*
 * Nothing that another shard's fibres are on, whatever the state says of it. What is left
 * in place at servers that one has, but does not use yet, is nobody's.
 */
static int shards_check_circuits(const struct to_shards *s, const struct to_shard *shard,
				 unsigned int optical, const struct to_circuits *circuits,
				 const int *owners, struct to_error *err)
{
	const int own = shard - s->list;

	for (unsigned int i = 0; i < circuits->n; i++) {
		const unsigned int ends[] = { circuits->circuit[i].in, circuits->circuit[i].out };

		for (unsigned int e = 0; e < 2; e++) {
			int server = to_shards_optical_owner(s->cluster, optical, ends[e]);

			if (server < 0 || owners[server] < 0 || owners[server] == own ||
			    !shards_uses(&s->list[owners[server]], s->cluster->servers[server].name))
				continue;
			return to_error_set(err, -EBUSY,
					    "optical switch %s joins %u and %u: port %u is of %s, which shard %s has",
					    s->cluster->switches[optical].name, ends[0], ends[1], ends[e],
					    s->cluster->servers[server].name, s->list[owners[server]].name);
		}
	}
	return 0;
}

static int shards_check_switches(const struct to_shards *s, const struct to_shard *shard,
				 const struct to_switch_set *switches, struct to_error *err)
{
	int *owners = to_shards_owners(s);
	int ret = owners ? 0 : to_error_set(err, -ENOMEM, "out of memory");

	for (unsigned int i = 0; i < switches->n && !ret; i++) {
		ret = shards_check_circuits(s, shard, i, &switches->changes[i].off, owners, err);
		if (!ret)
			ret = shards_check_circuits(s, shard, i, &switches->changes[i].on, owners, err);
	}
	free(owners);
	return ret;
}

static bool shards_controlled(const struct to_cluster *c)
{
	for (unsigned int i = 0; i < c->n_switches; i++)
		if (c->switches[i].control.driver != TO_SWITCH_BY_HAND)
			return true;
	return false;
}

/* @shard is being changed from here on, and its links are in place. */
static int shards_begin(struct to_shards *s, struct to_shard *shard, struct to_error *err)
{
	unsigned int n;
	struct to_link *links = to_shard_cabling(s, to_shard_goal(shard)->plan, &n);

	if (!links)
		return to_error_set(err, -ENOMEM, "out of memory");
	free(s->cluster->links);
	s->cluster->links = links;
	s->cluster->n_links = n;
	shard->state = TO_SHARD_CHANGING;
	return to_shards_save(s, err);
}

int to_shards_leave(const struct to_plan *from, const struct to_plan *to,
		    const struct to_fabric_options *options, struct to_error *err)
{
	const struct to_cluster *c = from->cluster;
	uint32_t *servers = calloc(c->n_servers, sizeof(*servers));
	struct to_plan part = { .demand = from->demand };
	struct to_fabric_options leave = *options;
	char name[TO_NAME_MAX + 8];
	struct to_fabric *fabric;
	unsigned int n = 0;
	int ret = -ENOMEM;

	for (unsigned int i = 0; servers && i < c->n_servers; i++)
		if (to_cluster_find_server(to->cluster, c->servers[i].name) < 0)
			servers[n++] = i;
	if (servers && n)
		part.cluster = to_shard_part(c, servers, n);
	free(servers);
	if (servers && !n)
		return 0;
	if (!part.cluster)
		return to_error_set(err, ret, "out of memory");
	/* beside what is decided for the servers that stay */
	snprintf(name, sizeof(name), "%s/leave", from->demand->name);
	leave.shard = name;
	fabric = to_fabric_open(&part, &leave, err);
	ret = fabric ? to_fabric_clear(fabric, err) : -EHOSTUNREACH;
	to_fabric_close(fabric);
	to_cluster_free(part.cluster);
	return ret;
}

/* Tables of @shard, then its servers that it has no more are without one. */
static int shards_tables(struct to_call *call, struct to_shard *shard,
			 const struct to_shards_apply *how)
{
	struct to_fabric_options fabric = how->fabric;
	struct to_applied_all applied;
	struct to_error err = {};
	int ret;

	fabric.shard = shard->name;
	fabric.note = to_note;
	ret = to_apply_all(to_shard_goal(shard)->plan, &fabric, NULL, &applied, &call->err);

	/* it may be broken: that is why it is none of them any more */
	if (!ret && shard->next.plan &&
	    to_shards_leave(shard->now.plan, shard->next.plan, &how->fabric, &err))
		fprintf(stderr, "toctl shard: warning: %s\n", err.text);
	return ret;
}

static int shards_change(struct to_call *call, struct to_shards *s, struct to_shard *shard,
			 const struct to_shards_apply *how, struct to_switch_set *switches)
{
	struct to_error err = {};
	int ret = shards_begin(s, shard, &call->err);

	if (!ret && switches)
		ret = to_switch_set_apply(switches, &call->err);
	if (ret)
		return ret;
	ret = shards_tables(call, shard, how);
	if (ret && switches && to_switch_set_restore(switches, &err))
		fprintf(stderr, "toctl shard: %s\n", err.text);
	if (ret)
		return ret;
	to_shard_settle(shard);
	shard->state = TO_SHARD_ACTIVE;
	return to_shards_save(s, &call->err);
}

/* Compare the optical switches with the goal of @shard; nothing is left open after a failure. */
static int shards_compare(struct to_call *call, struct to_shards *s, struct to_shard *shard,
			  const struct to_shards_apply *how, to_switches_comparison compare,
			  struct to_switch_set *switches)
{
	const struct to_plan *plan = to_shard_goal(shard)->plan;
	int ret = to_switch_set_open(switches, plan->cluster, how->allow, &call->err);

	if (ret)
		return ret;
	ret = compare(switches, plan, &call->err);
	if (!ret)
		ret = shards_check_switches(s, shard, switches, &call->err);
	if (ret)
		to_switch_set_close(switches);
	return ret;
}

static int shards_switch_and_change(struct to_call *call, struct to_shards *s,
				    struct to_shard *shard, const struct to_shards_apply *how)
{
	struct to_switch_set switches;
	int ret;

	if (!how->flip && !shards_controlled(s->cluster))
		return shards_change(call, s, shard, how, NULL);
	ret = shards_compare(call, s, shard, how, how->flip ? to_switch_set_compare_flip :
			     to_switch_set_compare_gathered, &switches);
	if (ret)
		return ret;
	ret = shards_change(call, s, shard, how, &switches);
	to_switch_set_close(&switches);
	return ret;
}

int to_shards_prepare(struct to_call *call, struct to_shards *s, struct to_shard *shard,
		      const struct to_shards_apply *how)
{
	struct to_switch_set switches;
	int ret = to_shards_verify(s, shard, &call->err);

	if (!ret)
		ret = shards_compare(call, s, shard, how, to_switch_set_compare_ahead, &switches);
	if (ret)
		return ret;
	ret = to_shards_save(s, &call->err);
	if (!ret)
		ret = to_switch_set_apply(&switches, &call->err);
	to_switch_set_close(&switches);
	return ret;
}

int to_shards_activate(struct to_call *call, struct to_shards *s, struct to_shard *shard,
		       const struct to_shards_apply *how)
{
	struct to_shard_moves moves = {};
	const char *optical = "";
	unsigned int by_hand = 0;
	int ret;

	if (shard->state == TO_SHARD_REMOVING)
		return to_error_set(&call->err, -EBUSY, "shard %s is being removed: toctl shard remove %s",
				    shard->name, shard->name);
	ret = to_shards_verify(s, shard, &call->err);
	if (!ret && !how->moved)
		ret = to_shard_moves(s, to_shard_goal(shard)->plan, &moves, &call->err);
	if (!ret)
		by_hand = shards_by_hand(s->cluster, &moves, &optical);
	to_shard_moves_free(&moves);
	if (by_hand)
		ret = to_error_set(&call->err, -EAGAIN,
				   "%u cross-connects of %s are moved by hand: first without --apply, then toctl shard apply",
				   by_hand, optical);
	return ret ? ret : shards_switch_and_change(call, s, shard, how);
}

int to_shards_conclude(struct to_call *call, struct to_shards *s, struct to_shard *shard,
		       const struct to_shards_apply *how)
{
	int ret = to_shards_verify(s, shard, &call->err);

	if (!ret && how->apply)
		ret = to_shards_activate(call, s, shard, how);
	else if (!ret && !how->dry_run)
		ret = to_shards_save(s, &call->err);
	return ret ? ret : to_shards_print(call, s, shard);
}

struct to_shard *to_shards_find_settled(const struct to_shards *s, const char *name,
					struct to_error *err)
{
	struct to_shard *shard = to_shards_find(s, name, err);

	if (!shard || shard->state == TO_SHARD_PLANNED || shard->state == TO_SHARD_ACTIVE)
		return shard;
	to_error_set(err, -EBUSY, "shard %s is %s: complete that first", name,
		     to_shard_states[shard->state]);
	return NULL;
}
