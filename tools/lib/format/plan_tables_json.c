// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/plan_tables_json.h"

#include <errno.h>
#include <stdlib.h>
#include <linux/topoopt.h>

#include "base/set.h"

/* The table that is being read. */
struct table_in {
	const struct to_plan *plan;
	struct to_table *table;
	uint32_t server;
	bool *done;		/* servers that have a table */
	unsigned int room;	/* of table->pairs */
};

static int table_read_table_server(const struct to_json *at, void *to)
{
	struct table_in *in = to;
	const char *name;
	int ret, server;

	ret = to_json_string(at, &name);
	if (ret)
		return ret;
	server = to_cluster_find_server(in->plan->cluster, name);
	if (server < 0)
		return to_json_error(at, -ENOENT, "no server is called \"%s\"", name);
	if (in->done[server])
		return to_json_error(at, -EEXIST, "second table of server \"%s\"", name);
	in->done[server] = true;
	in->server = server;
	in->table = &in->plan->tables[server];
	return 0;
}

struct nexthop_in {
	const char *port, *peer, *ingress;
	unsigned int weight;
	bool backup;
};

static const struct to_json_field nexthop_fields[] = {
	{ "port", to_json_string, offsetof(struct nexthop_in, port), false },
	{ "peer", to_json_string, offsetof(struct nexthop_in, peer), true },
	{ "weight", to_json_u32, offsetof(struct nexthop_in, weight), true },
	{ "backup", to_json_bool, offsetof(struct nexthop_in, backup), true },
	{ "ingress", to_json_string, offsetof(struct nexthop_in, ingress), true },
	{}
};

static int table_find_port(const struct to_json *at, const char *key, const char *name,
			   const struct to_server *server)
{
	int port = to_cluster_find_port(server, name);

	if (port < 0)
		return to_json_error_at(at, key, -ENOENT, "server \"%s\" has no port \"%s\"",
					server->name, name);
	return port;
}

/* The server that @name is, on the packet switch of @port, or 0 when that is on none. */
static int table_find_peer(const struct to_json *at, const struct table_in *in,
			   const struct to_port *port, const char *name)
{
	const struct to_cluster *c = in->plan->cluster;
	int peer;

	if (!port->packet_switch != !name)
		return to_json_error_at(at, name ? "peer" : "port", -EINVAL, name ?
					"port \"%s\" is on a cable, which has one end" :
					"port \"%s\" is on a packet switch: \"peer\" is missing",
					port->name);
	if (!name)
		return 0;
	peer = to_cluster_find_server(c, name);
	if (peer < 0 || peer == (int)in->server ||
	    to_cluster_find_on(&c->servers[peer], port->packet_switch) < 0)
		return to_json_error_at(at, "peer", -ENOENT,
					"packet switch \"%s\" joins port \"%s\" to no server \"%s\"",
					to_port_packet_switch(c, port)->name, port->name, name);
	return peer;
}

static int table_read_nexthop(const struct to_json *at, const struct table_in *table,
			      struct to_nexthop *hop)
{
	const struct to_server *server = &table->plan->cluster->servers[table->server];
	struct nexthop_in in = { .weight = 1 };
	int ret, port, peer, ingress = -1;

	ret = to_json_object(at, nexthop_fields, &in);
	if (ret)
		return ret;
	port = table_find_port(at, "port", in.port, server);
	if (port < 0)
		return port;
	peer = table_find_peer(at, table, &server->ports[port], in.peer);
	if (peer < 0)
		return peer;
	if (!in.weight || in.weight > UINT16_MAX)
		return to_json_error_at(at, "weight", -ERANGE, "expected 1 to %u",
					UINT16_MAX);
	if (in.ingress) {
		ingress = table_find_port(at, "ingress", in.ingress, server);
		if (ingress < 0)
			return ingress;
		if (in.backup || in.weight != 1)
			return to_json_error_at(at, "ingress", -EINVAL,
						"an alternate has no weight and is no backup");
	}
	*hop = (struct to_nexthop){ port, in.weight, in.backup, 1 + ingress, peer };
	return 0;
}

/* Whether one of the first @n next hops of @group, not alternates, sends where @hop does. */
static bool table_has(const struct to_group *group, unsigned int n, const struct to_nexthop *hop)
{
	for (unsigned int i = 0; i < n; i++)
		if (!group->nexthops[i].ingress && group->nexthops[i].port == hop->port &&
		    group->nexthops[i].peer == hop->peer)
			return true;
	return false;
}

static int table_read_group(const struct to_json *at, const struct table_in *in,
			    struct to_group *group)
{
	const struct to_server *server = &in->plan->cluster->servers[in->server];
	unsigned int n_alternates = 0;
	uint64_t turned = 0;
	int ret;

	ret = to_json_array(at, sizeof(*group->nexthops), &group->nexthops,
			    &group->n);
	if (ret)
		return ret;
	for (unsigned int i = 0; i < group->n; i++) {
		struct to_json child = to_json_element(at, i);
		struct to_nexthop *hop = &group->nexthops[i];

		ret = table_read_nexthop(&child, in, hop);
		if (ret)
			return ret;
		if (hop->ingress) {
			if (turned & 1ULL << (hop->ingress - 1))
				return to_json_error_at(&child, "ingress", -EEXIST,
							"port \"%s\" has an alternate already",
							server->ports[hop->ingress - 1].name);
			turned |= 1ULL << (hop->ingress - 1);
			n_alternates++;
			continue;
		}
		if (!table_has(group, i, hop))
			continue;
		if (server->ports[hop->port].packet_switch)
			return to_json_error_at(&child, "peer", -EEXIST,
						"port \"%s\" and server \"%s\" are in the group already",
						server->ports[hop->port].name,
						in->plan->cluster->servers[hop->peer].name);
		return to_json_error_at(&child, "port", -EEXIST,
					"port \"%s\" is in the group already",
					server->ports[hop->port].name);
	}
	if (group->n == n_alternates || group->n - n_alternates > TOPOOPT_MAX_NEXTHOPS)
		return to_json_error(at, -ERANGE, "expected 1 to %u next hops besides alternates",
				     TOPOOPT_MAX_NEXTHOPS);
	return 0;
}

static int table_read_groups(const struct to_json *at, void *to)
{
	struct table_in *in = to;
	struct to_table *t = in->table;
	int ret;

	ret = to_json_array(at, sizeof(*t->groups), &t->groups, &t->n_groups);
	if (!ret && t->n_groups >= TO_GROUP_NONE)
		ret = to_json_error(at, -E2BIG, "expected fewer than %u groups",
				    TO_GROUP_NONE);
	for (unsigned int i = 0; i < t->n_groups && !ret; i++) {
		struct to_json child = to_json_element(at, i);

		ret = table_read_group(&child, in, &t->groups[i]);
	}
	return ret;
}

/* One element of "routes" or "pairs"; sources only in the latter. */
struct routes_in {
	struct table_in *table;
	unsigned int group;
	uint32_t *from;
	unsigned int n_from;
};

static int table_read_group_index(const struct to_json *at, void *to)
{
	struct routes_in *in = to;
	int ret = to_json_u32(at, &in->group);

	if (!ret && in->group >= in->table->table->n_groups)
		ret = to_json_error(at, -ENOENT, "the table has %u groups",
				    in->table->table->n_groups);
	return ret;
}

static int table_read_from(const struct to_json *at, void *to)
{
	struct routes_in *in = to;
	struct to_error err;
	const char *text;
	int ret;

	ret = to_json_string(at, &text);
	if (ret)
		return ret;
	ret = to_set_parse(text, in->table->plan->cluster->n_servers, &in->from,
			   &in->n_from, &err);
	if (ret)
		return to_json_error(at, ret, "%s", err.text);
	if (!in->n_from)
		return to_json_error(at, -EINVAL, "expected a server or more");
	return 0;
}

static int table_add_pair(const struct to_json *at, struct table_in *in,
			  struct to_source_route pair)
{
	struct to_table *t = in->table;
	struct to_source_route *more;

	if (pair.src == pair.dst)
		return to_json_error(at, -EINVAL, "server %u sends nothing to itself",
				     pair.src);
	if (t->n_pairs == in->room) {
		in->room = in->room ? 2 * in->room : 64;
		more = reallocarray(t->pairs, in->room, sizeof(*more));
		if (!more)
			return to_json_error(at, -ENOMEM, "out of memory");
		t->pairs = more;
	}
	t->pairs[t->n_pairs++] = pair;
	return 0;
}

static int table_add_route(const struct to_json *at, const struct routes_in *in,
			   uint32_t dst, unsigned int slot)
{
	const struct to_plan *plan = in->table->plan;
	const struct to_server *server = &plan->cluster->servers[dst];
	uint16_t *route = &in->table->table->route[(size_t)dst * plan->slots + slot];
	int ret = 0;

	if (dst == in->table->server)
		return to_json_error(at, -EINVAL,
				     "server %u is the table's own, it needs no route",
				     dst);
	if (slot > server->n_ports)
		return to_json_error(at, -ENOENT, "server %u has %u ports", dst,
				     server->n_ports);
	for (unsigned int i = 0; i < in->n_from && !ret; i++)
		ret = table_add_pair(at, in->table, (struct to_source_route){
				in->from[i], dst, slot, in->group });
	if (in->from)
		return ret;
	if (*route != TO_GROUP_NONE)
		return to_json_error(at, -EEXIST,
				     "server %u has a route already, group %u", dst,
				     *route);
	*route = in->group;
	return 0;
}

static int table_read_destinations(const struct to_json *at, struct routes_in *in,
				   unsigned int slot)
{
	struct to_range range;
	struct to_error err;
	const char *text;
	int ret, more;

	ret = to_json_string(at, &text);
	if (ret)
		return ret;
	while ((more = to_set_next(&text, in->table->plan->cluster->n_servers,
				   &range, &err)) > 0)
		for (uint32_t dst = range.first; dst <= range.last; dst++) {
			ret = table_add_route(at, in, dst, slot);
			if (ret)
				return ret;
		}
	return more ? to_json_error(at, more, "%s", err.text) : 0;
}

static int table_read_nodes(const struct to_json *at, void *to)
{
	return table_read_destinations(at, to, 0);
}

static int table_read_route_ports(const struct to_json *at, void *to)
{
	struct routes_in *in = to;
	unsigned int n;
	int ret;

	ret = to_json_array(at, 0, NULL, &n);
	if (!ret && n > in->table->plan->slots - 1)
		return to_json_error(at, -ERANGE, "servers have at most %u ports",
				     in->table->plan->slots - 1);
	for (unsigned int q = 0; q < n && !ret; q++) {
		struct to_json child = to_json_element(at, q);

		ret = table_read_destinations(&child, in, 1 + q);
	}
	return ret;
}

static const struct to_json_field route_fields[] = {
	{ "group", table_read_group_index, 0, false },
	{ "nodes", table_read_nodes, 0, true },
	{ "ports", table_read_route_ports, 0, true },
	{}
};

static const struct to_json_field pair_fields[] = {
	{ "group", table_read_group_index, 0, false },
	{ "from", table_read_from, 0, false },
	{ "nodes", table_read_nodes, 0, true },
	{ "ports", table_read_route_ports, 0, true },
	{}
};

static int table_read_route_array(const struct to_json *at, struct table_in *table,
				  const struct to_json_field *fields)
{
	unsigned int n;
	int ret;

	ret = to_json_array(at, 0, NULL, &n);
	for (unsigned int i = 0; i < n && !ret; i++) {
		struct to_json child = to_json_element(at, i);
		struct routes_in in = { .table = table };

		ret = to_json_object(&child, fields, &in);
		free(in.from);
	}
	return ret;
}

static int table_read_routes(const struct to_json *at, void *to)
{
	return table_read_route_array(at, to, route_fields);
}

static int table_read_pairs(const struct to_json *at, void *to)
{
	struct table_in *in = to;
	struct to_table *t = in->table;
	int ret = table_read_route_array(at, in, pair_fields);

	to_plan_sort_pairs(t);
	for (unsigned int i = 1; i < t->n_pairs && !ret; i++) {
		const struct to_source_route *a = &t->pairs[i - 1], *b = &t->pairs[i];

		if (a->dst != b->dst || a->slot != b->slot || a->src != b->src)
			continue;
		if (a->slot)
			ret = to_json_error(at, -EEXIST,
					    "two routes from server %u to port %u of server %u",
					    a->src, a->slot - 1U, a->dst);
		else
			ret = to_json_error(at, -EEXIST,
					    "two routes from server %u to server %u",
					    a->src, a->dst);
	}
	return ret;
}

static const struct to_json_field table_fields[] = {
	{ "server", table_read_table_server, 0, false },
	{ "groups", table_read_groups, 0, false },
	{ "routes", table_read_routes, 0, false },
	{ "pairs", table_read_pairs, 0, true },
	{}
};

int to_plan_read_table(const struct to_json *at, const struct to_plan *plan, bool *done)
{
	struct table_in in = { .plan = plan, .done = done };

	return to_json_object(at, table_fields, &in);
}

int to_plan_read_tables(const struct to_json *at, void *to)
{
	struct to_plan *plan = to;
	unsigned int n_servers = plan->cluster->n_servers;
	struct to_json_iter iter = {};
	struct to_json child;
	bool *done;
	int ret;

	if (!json_is_array(at->value))
		return to_json_error(at, -EINVAL, "expected an array");
	done = calloc(n_servers, sizeof(*done));
	if (!done)
		return to_json_error(at, -ENOMEM, "out of memory");
	while ((ret = to_json_next(at, &iter, &child)) > 0) {
		ret = to_plan_read_table(&child, plan, done);
		if (ret)
			break;
	}
	to_json_stop(&iter);
	for (unsigned int i = 0; i < n_servers && !ret; i++)
		if (!done[i])
			ret = to_json_error(at, -ENOENT,
					    "server \"%s\" has no table",
					    plan->cluster->servers[i].name);
	free(done);
	return ret;
}
