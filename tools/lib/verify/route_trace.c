// SPDX-License-Identifier: GPL-2.0-or-later
#include "verify/route_trace.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "routing/queue_pairs.h"

#define ROUTE_TRACE_OWN TO_PORTS_MAX	/* in place of a port: packets that start here */

static bool route_trace_is_address(const struct to_address *a, int family, const uint8_t *address)
{
	return family == AF_INET ? a->has_v4 && !memcmp(&a->v4, address, 4) :
				   a->has_v6 && !memcmp(&a->v6, address, 16);
}

static bool route_trace_find_address(const struct to_cluster *cluster, int family,
				     const uint8_t *address, struct to_route_end *end)
{
	for (uint32_t s = 0; s < cluster->n_servers; s++) {
		const struct to_server *server = &cluster->servers[s];

		*end = (struct to_route_end){ s, 0 };
		if (route_trace_is_address(&server->address, family, address))
			return true;
		for (unsigned int p = 0; p < server->n_ports; p++) {
			end->slot = p + 1;
			if (route_trace_is_address(&server->ports[p].address, family, address))
				return true;
		}
	}
	return false;
}

static int route_trace_find_name(const struct to_cluster *cluster, const char *text,
				 struct to_route_end *end)
{
	const char *colon = strchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : strlen(text);

	for (uint32_t s = 0; s < cluster->n_servers; s++) {
		const struct to_server *server = &cluster->servers[s];

		if (strlen(server->name) != len || strncmp(server->name, text, len))
			continue;
		*end = (struct to_route_end){ s, 0 };
		if (!colon)
			return 0;
		for (unsigned int p = 0; p < server->n_ports; p++) {
			end->slot = p + 1;
			if (!strcmp(server->ports[p].name, colon + 1))
				return 0;
		}
		return -ENODEV;
	}
	return -ENOENT;
}

int to_route_trace_find(const struct to_plan *plan, const char *text,
			struct to_route_end *end, int *family, uint8_t *address,
			struct to_error *err)
{
	const struct to_cluster *cluster = plan->cluster;
	const struct to_address *a;

	for (int f = 0; f < 2; f++) {
		*family = f ? AF_INET6 : AF_INET;
		if (inet_pton(*family, text, address) != 1)
			continue;
		return route_trace_find_address(cluster, *family, address, end) ? 0 :
			to_error_set(err, -ENOENT, "%s is no address of the plan", text);
	}
	if (route_trace_find_name(cluster, text, end))
		return to_error_set(err, -ENOENT,
				    "%s is no address, server or SERVER:PORT of the plan",
				    text);
	a = end->slot ? &cluster->servers[end->server].ports[end->slot - 1].address :
			&cluster->servers[end->server].address;
	*family = a->has_v4 ? AF_INET : AF_INET6;
	if (!a->has_v4 && !a->has_v6)
		return to_error_set(err, -ENOENT, "%s has no address", text);
	memcpy(address, a->has_v4 ? (const void *)&a->v4 : &a->v6,
	       a->has_v4 ? 4 : 16);
	return 0;
}

/* Group of a server's table for packets from @src to @dst. */
static const struct to_group *route_trace_group(const struct to_plan *plan, uint32_t server,
						int src, struct to_route_end dst)
{
	const struct to_table *table = &plan->tables[server];
	unsigned int group = table->route[(size_t)dst.server * plan->slots + dst.slot];

	for (unsigned int i = 0; src >= 0 && i < table->n_pairs; i++)
		if (table->pairs[i].src == (uint32_t)src &&
		    table->pairs[i].dst == dst.server &&
		    table->pairs[i].slot == dst.slot)
			group = table->pairs[i].group;
	return group < table->n_groups ? &table->groups[group] : NULL;
}

/* Where the walk has been: not, on the path to here, or done with. */
enum visit { NEW, OPEN, DONE };

/**
 * struct route_trace - a walk
 * @visits: per server and port that packets arrived at, if they go on by that: see
 *	route_trace_visit()
 */
struct route_trace {
	const struct to_plan *plan;
	uint32_t src;
	struct to_route_end dst;
	uint8_t *visits;
};

static json_t *route_trace_walk(struct route_trace *t, struct to_port_ref in);

/* Over the link of a port, and on from the other end. */
static json_t *route_trace_walk_link(struct route_trace *t, struct to_port_ref port,
				     const struct to_nexthop *nh)
{
	const struct to_server *servers = t->plan->cluster->servers;
	const struct to_server *self = &servers[port.server], *to;
	struct to_port_ref peer;
	json_t *hop;

	hop = json_pack("{s:s, s:i, s:b}", "port", self->ports[port.port].name,
			"weight", nh->weight, "backup", nh->backup);
	if (nh->ingress)
		json_object_set_new(hop, "ingress",
				    json_string(self->ports[nh->ingress - 1].name));
	if (to_plan_hop_end(t->plan, port.server, nh, &peer))
		return hop;
	to = &servers[peer.server];
	json_object_set_new(hop, "peer",
			    json_sprintf("%s:%s", to->name, to->ports[peer.port].name));
	if (!nh->backup)
		json_object_set_new(hop, "then", route_trace_walk(t, peer));
	return hop;
}

/* The alternate for packets that arrived at a port, NULL when there is none. */
static const struct to_nexthop *route_trace_alternate(const struct to_plan *plan,
						      const struct to_group *group,
						      struct to_port_ref in)
{
	for (unsigned int i = 0; group && i < group->n; i++) {
		struct to_port_ref end;

		if (group->nexthops[i].ingress == in.port + 1 &&
		    !to_plan_hop_end(plan, in.server, &group->nexthops[i], &end))
			return &group->nexthops[i];
	}
	return NULL;
}

static uint8_t *route_trace_visit(struct route_trace *t, struct to_port_ref in, bool by_port)
{
	return &t->visits[(size_t)in.server * t->plan->slots + (by_port ? in.port + 1 : 0)];
}

static json_t *route_trace_next(struct route_trace *t, struct to_port_ref in,
				const struct to_group *group, const struct to_nexthop *only)
{
	json_t *next = json_array();

	for (unsigned int i = 0; i < group->n; i++) {
		const struct to_nexthop *nh = &group->nexthops[i];

		if (only ? nh != only : nh->ingress)
			continue;
		json_array_append_new(next, route_trace_walk_link(
			t, (struct to_port_ref){ in.server, nh->port }, nh));
	}
	return next;
}

/* The server at the other end of the first link of @at, 0 on a cable; or TO_SERVER_NONE. */
static uint32_t route_trace_first(const struct to_cluster *c, struct to_port_ref at)
{
	if (!c->servers[at.server].ports[at.port].packet_switch)
		return 0;
	for (unsigned int i = 0; i < c->n_links; i++) {
		const struct to_port_ref a = c->links[i].a, b = c->links[i].b;

		if (a.server == at.server && a.port == at.port)
			return b.server;
		if (b.server == at.server && b.port == at.port)
			return a.server;
	}
	return TO_SERVER_NONE;
}

/*
 * RoCEv2 that reached its server by another port than it is for leaves through the right
 * one, and its peer sends it back, if there is a link.
 */
static bool route_trace_passes(const struct route_trace *t, struct to_port_ref in,
			       struct to_nexthop *out)
{
	const struct to_port_ref right = { t->dst.server, t->dst.slot - 1 };
	struct to_port_ref end;

	if (!t->dst.slot || in.port == ROUTE_TRACE_OWN || in.port == right.port)
		return false;
	*out = (struct to_nexthop){ .port = right.port, .weight = 1,
				    .peer = route_trace_first(t->plan->cluster, right) };
	return out->peer != TO_SERVER_NONE && !to_plan_hop_end(t->plan, right.server, out, &end);
}

/* From a server on, where packets arrived at a port, or start. */
static json_t *route_trace_walk(struct route_trace *t, struct to_port_ref in)
{
	json_t *node = json_pack("{s:s}", "server", t->plan->cluster->servers[in.server].name);
	const struct to_nexthop *only;
	struct to_nexthop right;
	const struct to_group *group, round = { 1, &right };
	uint8_t *visit;

	if (in.server == t->dst.server) {
		if (!route_trace_passes(t, in, &right)) {
			json_object_set_new(node, "arrives", json_true());
			return node;
		}
		group = &round;
		only = &right;
	} else {
		group = route_trace_group(t->plan, in.server, t->src, t->dst);
		only = route_trace_alternate(t->plan, group, in);
	}
	visit = route_trace_visit(t, in, only);
	if (!group || *visit != NEW) {
		json_object_set_new(node, !group ? "unreachable" :
				    *visit == OPEN ? "loop" : "seen",
				    json_true());
		return node;
	}
	*visit = OPEN;
	json_object_set_new(node, "next", route_trace_next(t, in, group, only));
	*visit = DONE;
	return node;
}

/*
 * Where a queue pair at @from sends: the server that @hop names, for a port on a packet
 * switch. Packets for a node address, which no queue pair has, go by the table there.
 *
 * Return: 1; 0 when the table says; -ENOMEM.
 */
static int route_trace_queue_pair(const struct to_plan *plan, struct to_port_ref from,
				  struct to_route_end dst, struct to_nexthop *hop)
{
	const struct to_cluster *c = plan->cluster;
	uint16_t *distance;
	struct to_graph *g;
	uint32_t *order, arc = UINT32_MAX;

	*hop = (struct to_nexthop){ .port = from.port, .weight = 1 };
	if (!c->servers[from.server].ports[from.port].packet_switch)
		return 1;
	if (!dst.slot)
		return 0;
	g = to_graph_new(c->n_servers, c->links, c->n_links, c->link_mode);
	distance = calloc(c->n_servers, sizeof(*distance));
	order = calloc(c->n_servers, sizeof(*order));
	if (g && distance && order) {
		to_graph_port_distances(g, dst.server, dst.slot - 1, distance, order);
		arc = to_queue_pair_arc(g, from, dst.server, dst.slot - 1, distance);
	}
	if (arc != UINT32_MAX)
		hop->peer = g->to[arc];
	free(distance);
	free(order);
	to_graph_free(g);
	return !g || !distance || !order ? -ENOMEM : arc != UINT32_MAX;
}

json_t *to_route_trace(const struct to_plan *plan, uint32_t server,
		       struct to_route_end src, struct to_route_end dst)
{
	struct route_trace t = { .plan = plan, .src = src.server, .dst = dst };
	struct to_port_ref from = { server, src.slot - 1 };
	struct to_nexthop first;
	json_t *tree;
	int by_port = 0;

	if (src.server == server && src.slot && dst.server != server)
		by_port = route_trace_queue_pair(plan, from, dst, &first);
	t.visits = by_port < 0 ? NULL : calloc(plan->cluster->n_servers, plan->slots);
	if (!t.visits)
		return NULL;
	if (by_port)
		tree = json_pack("{s:s, s:[o]}", "server", plan->cluster->servers[server].name,
				 "next", route_trace_walk_link(&t, from, &first));
	else
		tree = route_trace_walk(&t, (struct to_port_ref){ server, ROUTE_TRACE_OWN });
	free(t.visits);
	return tree;
}

json_t *to_route_trace_shares(const struct to_plan *plan, uint32_t src, uint32_t dst)
{
	const struct to_server *server = &plan->cluster->servers[dst];
	size_t pair = (size_t)src * plan->cluster->n_servers + dst;
	json_t *shares = NULL;

	for (unsigned int q = 0; plan->port_shares && q < server->n_ports; q++) {
		unsigned int share = plan->port_shares[pair * (plan->slots - 1) + q];

		if (!share)
			continue;
		if (!shares)
			shares = json_object();
		json_object_set_new(shares, server->ports[q].name,
				    json_real((double)share / TO_PORT_SHARES));
	}
	return shares;
}
