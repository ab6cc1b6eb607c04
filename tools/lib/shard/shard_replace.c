// SPDX-License-Identifier: GPL-2.0-or-later
#include "shard/shard_replace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "data/cross_connects.h"
#include "plan/plan_completion.h"
#include "shard/shard_plan.h"

/* Whether the ports of @spare can take the place of those of @server one by one. */
static bool shard_replace_fits(const struct to_server *server, const struct to_server *spare)
{
	bool fits = server->n_ports == spare->n_ports;

	for (unsigned int q = 0; fits && q < server->n_ports; q++) {
		const struct to_port *a = &server->ports[q], *b = &spare->ports[q];

		/* a cable on no optical switch stays where it is */
		fits = a->optical_switch >= 0 && a->optical_switch == b->optical_switch &&
		       a->bandwidth == b->bandwidth && !a->look_ahead.common == !b->look_ahead.common &&
		       a->address.has_v4 == b->address.has_v4 && a->address.has_v6 == b->address.has_v6;
	}
	return fits;
}

/* Server @at of @plan is @spare. Return: 0, -ENOMEM, or as to_cross_connects_fill(). */
static int shard_replace_put(struct to_plan *plan, unsigned int at, const struct to_server *spare,
			     struct to_error *err)
{
	struct to_server *server = &plan->cluster->servers[at];
	struct to_port *ports = server->ports;
	struct to_figures figures;
	int ret;

	memcpy(ports, spare->ports, spare->n_ports * sizeof(*ports));
	*server = *spare;
	server->ports = ports;
	if (plan->demand->names)
		memcpy(plan->demand->names[at], spare->name, sizeof(spare->name));
	ret = to_cluster_sort(plan->cluster);
	ret = ret ? ret : to_cross_connects_fill(plan, err);
	/* where flows go depends on addresses */
	return ret ? ret : to_plan_completion_predictions(plan, &figures);
}

/* A copy of the plan of @shard, with @spare. */
static struct to_plan *shard_replace_by(const struct to_shards *s, const struct to_shard *shard,
					unsigned int at, const struct to_server *spare,
					struct to_error *err)
{
	struct to_plan *plan = to_shards_read_plan(s, shard, &shard->now, err);

	if (!plan || !shard_replace_put(plan, at, spare, err))
		return plan;
	if (err && !err->text[0])
		to_error_set(err, -ENOMEM, "out of memory");
	to_plan_free(plan);
	return NULL;
}

static unsigned int shard_replace_apart(const struct to_server *a, const struct to_server *b)
{
	const unsigned int x = a->ports[0].optical_port, y = b->ports[0].optical_port;

	return x > y ? x - y : y - x;
}

/*
 * Cross-connects that moving to @spare cuts beyond those of the server itself: of links
 * that it has already.
 */
static unsigned int shard_replace_links(const struct to_cluster *c, unsigned int spare)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < c->n_links; i++)
		n += c->links[i].a.server == spare || c->links[i].b.server == spare;
	return n;
}

/* Return: the index of the spare in the cluster, or -1 with @err. */
static int shard_replace_choose(const struct to_shards *s, const struct to_server *server,
				const bool *available, struct to_error *err)
{
	const struct to_cluster *c = s->cluster;
	unsigned int least = 0, nearest = 0, links, apart;
	int best = -1;

	for (unsigned int i = 0; i < c->n_servers; i++) {
		if (!available[i] || !shard_replace_fits(server, &c->servers[i]))
			continue;
		links = shard_replace_links(c, i);
		apart = shard_replace_apart(server, &c->servers[i]);
		if (best >= 0 && (links > least || (links == least && apart >= nearest)))
			continue;
		best = i;
		least = links;
		nearest = apart;
	}
	if (best < 0)
		to_error_set(err, -ENOSPC,
			     "no free server has ports on the same optical switches as %s",
			     server->name);
	return best;
}

static int shard_replace_named(const struct to_shards *s, const struct to_server *server,
			       const bool *available, const char *spare, struct to_error *err)
{
	int at = to_cluster_find_server(s->cluster, spare);

	if (at < 0)
		return to_error_set(err, -1, "server %s is not in the cluster", spare);
	if (!available[at])
		return to_error_set(err, -1, "server %s is not free", spare);
	if (!shard_replace_fits(server, &s->cluster->servers[at]))
		return to_error_set(err, -1, "%s has not the same ports on the same optical switches as %s",
				    spare, server->name);
	return at;
}

struct to_plan *to_shard_replace(const struct to_shards *s, const struct to_shard *shard,
				 const char *name, const char *spare, struct to_error *err)
{
	const int at = to_cluster_find_server(shard->now.plan->cluster, name);
	bool *available = to_shards_free(s, NULL);
	struct to_plan *plan = NULL;
	const struct to_server *server;
	int by;

	if (at < 0) {
		to_error_set(err, -ENOENT, "shard %s has no server %s", shard->name, name);
	} else if (!available) {
		to_error_set(err, -ENOMEM, "out of memory");
	} else {
		server = &shard->now.plan->cluster->servers[at];
		by = spare ? shard_replace_named(s, server, available, spare, err) :
			     shard_replace_choose(s, server, available, err);
		if (by >= 0)
			plan = shard_replace_by(s, shard, at, &s->cluster->servers[by], err);
	}
	free(available);
	return plan;
}

struct to_shard *to_shard_replace_server(struct to_shards *s, const char *server,
					 const char *spare, struct to_error *err)
{
	const int at = to_cluster_find_server(s->cluster, server);
	int *owners = to_shards_owners(s);
	struct to_shard *shard = NULL;
	struct to_plan *plan = NULL;

	if (at < 0)
		to_error_set(err, -ENOENT, "server %s is not in the cluster", server);
	else if (!owners)
		to_error_set(err, -ENOMEM, "out of memory");
	else if (owners[at] < 0)
		to_error_set(err, -ENOENT, "no shard has server %s: toctl shard drain", server);
	else
		shard = to_shards_find_settled(s, s->list[owners[at]].name, err);
	free(owners);
	if (shard)
		plan = to_shard_replace(s, shard, server, spare, err);
	if (!plan)
		return NULL;
	to_shard_set_next(s, shard, plan);
	s->drained[at] = true;
	return shard;
}
