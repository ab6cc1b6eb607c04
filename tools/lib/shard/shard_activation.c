// SPDX-License-Identifier: GPL-2.0-or-later
#include "shard/shard_activation.h"

#include <errno.h>
#include <stdlib.h>

#include "control/apply_all.h"
#include "shard/shard_plan.h"
#include "shard/shards_check.h"
#include "switch/switch.h"
#include "verify/verify.h"

static void activation_first(void *data, const char *line)
{
	struct to_error *first = data;

	if (!first->text[0])
		to_error_set(first, 0, "%s", line);
}

int to_shard_activation_check(const struct to_shards *s, const struct to_shard *shard,
			      struct to_error *err)
{
	struct to_error first = { "" };
	struct to_verify_report report;
	long wrong;
	int ret = to_verify(to_shard_goal(shard)->plan, activation_first, &first, &report);

	if (ret)
		return to_error_set(err, ret, "out of memory");
	wrong = report.violations ? 1 : to_shards_check(s, activation_first, &first);
	if (wrong < 0)
		return to_error_set(err, wrong, "out of memory");
	return wrong ? to_error_set(err, -EINVAL, "%s", first.text) : 0;
}

/* Return the number of moves by hand; @optical is set to the switch of the last one. */
static unsigned int activation_by_hand(const struct to_cluster *c, const struct to_shard_moves *moves,
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

/* Tell whether another shard uses the fibres of a server already. */
static bool activation_uses(const struct to_shard *other, const char *server)
{
	if (other->state == TO_SHARD_PLANNED)
		return false;
	return other->state != TO_SHARD_ACTIVE ||
	       to_cluster_find_server(other->now.plan->cluster, server) >= 0;
}

/*
 * Refuse circuits on fibres of another shard, whatever the state says of that shard. Circuits
 * left at servers that a shard has but does not use yet belong to nobody.
 */
static int activation_check_circuits(const struct to_shards *s, const struct to_shard *shard,
				 unsigned int optical, const struct to_circuits *circuits,
				 const int *owners, struct to_error *err)
{
	const int own = shard - s->list;

	for (unsigned int i = 0; i < circuits->n; i++) {
		const unsigned int ends[] = { circuits->circuit[i].in, circuits->circuit[i].out };

		for (unsigned int e = 0; e < 2; e++) {
			int server = to_shards_optical_owner(s->cluster, optical, ends[e]);

			if (server < 0 || owners[server] < 0 || owners[server] == own ||
			    !activation_uses(&s->list[owners[server]], s->cluster->servers[server].name))
				continue;
			return to_error_set(err, -EBUSY,
					    "optical switch %s joins %u and %u: port %u is of %s, which shard %s has",
					    s->cluster->switches[optical].name, ends[0], ends[1], ends[e],
					    s->cluster->servers[server].name, s->list[owners[server]].name);
		}
	}
	return 0;
}

static int activation_check_switches(const struct to_shards *s, const struct to_shard *shard,
				 const struct to_switch_set *switches, struct to_error *err)
{
	int *owners = to_shards_owners(s);
	int ret = owners ? 0 : to_error_set(err, -ENOMEM, "out of memory");

	for (unsigned int i = 0; i < switches->n && !ret; i++) {
		ret = activation_check_circuits(s, shard, i, &switches->changes[i].off, owners, err);
		if (!ret)
			ret = activation_check_circuits(s, shard, i, &switches->changes[i].on, owners, err);
	}
	free(owners);
	return ret;
}

static bool activation_controlled(const struct to_cluster *c)
{
	for (unsigned int i = 0; i < c->n_switches; i++)
		if (c->switches[i].control.driver != TO_SWITCH_BY_HAND)
			return true;
	return false;
}

/* Save that the shard is being changed and that the links of its goal are in place. */
static int activation_begin(struct to_shards *s, struct to_shard *shard, struct to_error *err)
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

/* Remove the tables of the servers of @plan, as a decision under the name @shard. */
static int activation_clear(const struct to_fabric_options *options, const char *shard,
			    const struct to_plan *plan, struct to_error *err)
{
	struct to_fabric_options own = *options;
	struct to_fabric *fabric;
	int ret;

	own.shard = shard;
	fabric = to_fabric_open(plan, &own, err);
	ret = fabric ? to_fabric_clear(fabric, err) : -EHOSTUNREACH;
	to_fabric_close(fabric);
	return ret;
}

/* Remove the tables of the servers that one plan has and the other one lacks. */
static int activation_leave(const struct to_fabric_options *options, const struct to_plan *from,
			    const struct to_plan *to, struct to_error *err)
{
	const struct to_cluster *c = from->cluster;
	uint32_t *servers = calloc(c->n_servers, sizeof(*servers));
	struct to_plan part = { .demand = from->demand };
	char name[TO_NAME_MAX + 8];
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
	/* a decision of its own, beside that for the servers that stay */
	snprintf(name, sizeof(name), "%s/leave", from->demand->name);
	ret = activation_clear(options, name, &part, err);
	to_cluster_free(part.cluster);
	return ret;
}

/* Set the tables of the goal, then remove those of servers that leave the shard. */
static int activation_tables(const struct to_shard_activation *a, const struct to_shard *shard,
			     struct to_error *err)
{
	struct to_fabric_options own = a->fabric;
	struct to_applied_all applied;
	struct to_error warning;
	int ret;

	own.shard = shard->name;
	ret = to_apply_all(to_shard_goal(shard)->plan, &own, NULL, &applied, err);
	/* a server that leaves may be broken */
	if (!ret && shard->next.plan &&
	    activation_leave(&a->fabric, shard->now.plan, shard->next.plan, &warning) &&
	    a->fabric.note)
		a->fabric.note(warning.text);
	return ret;
}

static int activation_change(const struct to_shard_activation *a, struct to_shards *s,
			     struct to_shard *shard, struct to_switch_set *switches,
			     struct to_error *err)
{
	struct to_error why, restore;
	int ret = activation_begin(s, shard, err);

	if (!ret && switches)
		ret = to_switch_set_apply(switches, err);
	if (ret)
		return ret;
	ret = activation_tables(a, shard, &why);
	if (ret && switches && to_switch_set_restore(switches, &restore))
		return to_error_set(err, ret, "%.250s; %.250s", why.text, restore.text);
	if (ret)
		return to_error_set(err, ret, "%s", why.text);
	to_shard_settle(shard);
	shard->state = TO_SHARD_ACTIVE;
	return to_shards_save(s, err);
}

/* Compare the optical switches with the goal; nothing is left open after a failure. */
static int activation_compare(const struct to_shard_activation *a, const struct to_shards *s,
			      const struct to_shard *shard, to_switch_set_comparison *compare,
			      struct to_switch_set *switches, struct to_error *err)
{
	const struct to_plan *plan = to_shard_goal(shard)->plan;
	int ret = to_switch_set_open(switches, plan->cluster, a->allow, err);

	if (ret)
		return ret;
	ret = compare(switches, plan, err);
	if (!ret)
		ret = activation_check_switches(s, shard, switches, err);
	if (ret)
		to_switch_set_close(switches);
	return ret;
}

static int activation_switch_and_change(const struct to_shard_activation *a, struct to_shards *s,
					struct to_shard *shard, struct to_error *err)
{
	struct to_switch_set switches;
	int ret;

	if (!a->flip && !activation_controlled(s->cluster))
		return activation_change(a, s, shard, NULL, err);
	ret = activation_compare(a, s, shard, a->flip ? to_switch_set_compare_flip :
				 to_switch_set_compare_gathered, &switches, err);
	if (ret)
		return ret;
	ret = activation_change(a, s, shard, &switches, err);
	to_switch_set_close(&switches);
	return ret;
}

int to_shard_activation_make(const struct to_shard_activation *a, struct to_shards *s,
			     struct to_shard *shard, struct to_error *err)
{
	struct to_shard_moves moves = {};
	const char *optical = "";
	unsigned int by_hand = 0;
	int ret;

	if (shard->state == TO_SHARD_REMOVING)
		return to_error_set(err, -EBUSY, "shard %s is being removed: toctl shard remove %s",
				    shard->name, shard->name);
	if (a->flip && !shard->next.plan)
		return to_error_set(err, -ENOENT, "shard %s has no next plan: toctl shard prepare",
				    shard->name);
	ret = to_shard_activation_check(s, shard, err);
	if (!ret && !a->moved)
		ret = to_shard_moves(s, to_shard_goal(shard)->plan, &moves, err);
	if (!ret)
		by_hand = activation_by_hand(s->cluster, &moves, &optical);
	to_shard_moves_free(&moves);
	if (by_hand)
		ret = to_error_set(err, -EAGAIN,
				   "%u cross-connects of %s are moved by hand: first without --apply, then toctl shard apply",
				   by_hand, optical);
	return ret ? ret : activation_switch_and_change(a, s, shard, err);
}

int to_shard_activation_prepare(const struct to_shard_activation *a, struct to_shards *s,
				struct to_shard *shard, struct to_error *err)
{
	struct to_switch_set switches;
	int ret = to_shard_activation_check(s, shard, err);

	if (!ret)
		ret = activation_compare(a, s, shard, to_switch_set_compare_ahead, &switches, err);
	if (ret)
		return ret;
	ret = to_shards_save(s, err);
	if (!ret)
		ret = to_switch_set_apply(&switches, err);
	to_switch_set_close(&switches);
	return ret;
}

int to_shard_activation_undo(const struct to_shard_activation *a, struct to_shards *s,
			     struct to_shard *shard, struct to_error *err)
{
	int ret = 0;

	if (!shard->next.plan)
		return to_error_set(err, -ENOENT, "shard %s has no next plan", shard->name);
	if (shard->state == TO_SHARD_CHANGING)
		ret = activation_leave(&a->fabric, shard->next.plan, shard->now.plan, err);
	if (ret)
		return ret;
	to_shard_set_next(s, shard, NULL);
	return to_shards_save(s, err);
}

int to_shard_activation_remove(const struct to_shard_activation *a, struct to_shards *s,
			       struct to_shard *shard, bool forget, struct to_error *err)
{
	int ret = 0;

	if (shard->state != TO_SHARD_PLANNED && !forget) {
		shard->state = TO_SHARD_REMOVING;
		ret = to_shards_save(s, err);
		if (!ret)
			ret = activation_clear(&a->fabric, shard->name, shard->now.plan, err);
		if (!ret && shard->next.plan)
			ret = activation_leave(&a->fabric, shard->next.plan, shard->now.plan, err);
	}
	if (ret)
		return ret;
	to_shards_drop(s, shard);
	return to_shards_save(s, err);
}
