// SPDX-License-Identifier: GPL-2.0-or-later
#include "verify/route_trace.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

const struct to_group *to_route_trace_group(const struct to_plan *plan, uint32_t server,
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

static json_t *route_trace_walk(const struct to_plan *plan, uint32_t server, uint32_t src,
				struct to_route_end dst, uint8_t *visits);

/* Over the link of a port, and on from the other end. */
static json_t *route_trace_walk_link(const struct to_plan *plan, struct to_port_ref port,
				     const struct to_nexthop *nh, uint32_t src,
				     struct to_route_end dst, uint8_t *visits)
{
	const struct to_server *self = &plan->cluster->servers[port.server], *to;
	struct to_port_ref peer;
	json_t *hop;

	hop = json_pack("{s:s, s:i, s:b}", "port", self->ports[port.port].name,
			"weight", nh->weight, "backup", nh->backup);
	if (to_plan_peer(plan, port, &peer))
		return hop;
	to = &plan->cluster->servers[peer.server];
	json_object_set_new(hop, "peer",
			    json_sprintf("%s:%s", to->name, to->ports[peer.port].name));
	if (!nh->backup)
		json_object_set_new(hop, "then", route_trace_walk(plan, peer.server, src, dst, visits));
	return hop;
}

static json_t *route_trace_walk(const struct to_plan *plan, uint32_t server, uint32_t src,
				struct to_route_end dst, uint8_t *visits)
{
	const struct to_server *self = &plan->cluster->servers[server];
	json_t *node = json_pack("{s:s}", "server", self->name), *next;
	const struct to_group *group;

	if (server == dst.server) {
		json_object_set_new(node, "arrives", json_true());
		return node;
	}
	group = to_route_trace_group(plan, server, src, dst);
	if (!group || visits[server] != NEW) {
		json_object_set_new(node, !group ? "unreachable" :
				    visits[server] == OPEN ? "loop" : "seen",
				    json_true());
		return node;
	}
	visits[server] = OPEN;
	next = json_array();
	for (unsigned int i = 0; i < group->n; i++) {
		const struct to_nexthop *nh = &group->nexthops[i];

		json_array_append_new(
			next, route_trace_walk_link(plan, (struct to_port_ref){ server, nh->port },
						    nh, src, dst, visits));
	}
	json_object_set_new(node, "next", next);
	visits[server] = DONE;
	return node;
}

json_t *to_route_trace(const struct to_plan *plan, uint32_t server,
		       struct to_route_end src, struct to_route_end dst)
{
	uint8_t *visits = calloc(plan->cluster->n_servers, 1);
	json_t *tree;

	if (!visits)
		return NULL;
	if (src.server == server && src.slot && dst.server != server)
		tree = json_pack("{s:s, s:[o]}", "server", plan->cluster->servers[server].name,
				 "next", route_trace_walk_link(plan, (struct to_port_ref){ server, src.slot - 1 },
							       &(struct to_nexthop){ .weight = 1 },
							       src.server, dst, visits));
	else
		tree = route_trace_walk(plan, server, src.server, dst, visits);
	free(visits);
	return tree;
}
