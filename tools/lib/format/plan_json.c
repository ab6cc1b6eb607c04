// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading of plan.json. */

#include "format/plan_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/topoopt.h>

#include "base/file.h"
#include "base/json.h"
#include "base/set.h"
#include "data/allreduce.h"
#include "data/plan.h"
#include "format/cluster_json.h"
#include "format/demand_json.h"

static int plan_read_format(const struct to_json *at, void *to)
{
	(void)to;
	return to_json_format(at, "topoopt-plan");
}

/* Readers with a struct to_plan at offset 0; its parts exist already. */

static int plan_read_job(const struct to_json *at, void *to)
{
	struct to_plan *plan = to;

	return to_json_label(at, plan->demand->name);
}

static int plan_read_link_mode(const struct to_json *at, void *to)
{
	struct to_plan *plan = to;

	return to_cluster_read_link_mode(at, plan->cluster);
}

static int plan_read_switches(const struct to_json *at, void *to)
{
	struct to_plan *plan = to;

	return to_cluster_read_switches(at, plan->cluster);
}

static int plan_read_servers(const struct to_json *at, void *to)
{
	struct to_plan *plan = to;
	int ret = to_cluster_read_servers(at, plan->cluster);

	if (!ret && to_plan_alloc_tables(plan))
		ret = to_json_error(at, -ENOMEM, "out of memory");
	return ret;
}

static int plan_read_demand(const struct to_json *at, void *to)
{
	struct to_plan *plan = to;
	int ret = to_demand_read(at, plan->demand);

	if (!ret && plan->demand->n != plan->cluster->n_servers)
		ret = to_json_error_at(at, "servers", -EINVAL,
				       "expected %u, the plan's servers",
				       plan->cluster->n_servers);
	return ret;
}

struct ring_in {
	unsigned int group, jump;
	bool reverse;
	const char *order;
};

static const struct to_json_field ring_fields[] = {
	{ "group", to_json_u32, offsetof(struct ring_in, group), false },
	{ "jump", to_json_u32, offsetof(struct ring_in, jump), false },
	{ "reverse", to_json_bool, offsetof(struct ring_in, reverse), true },
	{ "order", to_json_string, offsetof(struct ring_in, order), false },
	{}
};

/* Are @order and @members, both without repetition, the same set? */
static bool plan_same_members(const uint32_t *order, const uint32_t *members,
			      unsigned int n, unsigned int n_servers)
{
	bool *seen = calloc(n_servers, sizeof(*seen));
	bool same = seen;

	for (unsigned int i = 0; i < n && same; i++)
		seen[members[i]] = true;
	for (unsigned int i = 0; i < n && same; i++)
		same = seen[order[i]];
	free(seen);
	return same;
}

static int plan_read_ring(const struct to_json *at, struct to_plan *plan)
{
	struct to_ring *ring = &plan->rings[plan->n_rings];
	const struct to_allreduce *group;
	struct ring_in in = {};
	struct to_error err;
	int ret;

	ret = to_json_object(at, ring_fields, &in);
	if (ret)
		return ret;
	if (in.group >= plan->demand->n_groups)
		return to_json_error_at(at, "group", -ENOENT,
					"the demand has %u AllReduce groups",
					plan->demand->n_groups);
	group = &plan->demand->groups[in.group];
	if (in.jump >= group->n_members)
		return to_json_error_at(at, "jump", -ERANGE,
					"expected less than %u, the members of the group",
					group->n_members);
	if (in.reverse && plan->cluster->link_mode == TO_LINKS_SIMPLEX)
		return to_json_error_at(at, "reverse", -EINVAL,
					"simplex links carry no ring backwards");
	ret = to_set_parse(in.order, plan->demand->n, &ring->order, &ring->n, &err);
	if (ret)
		return to_json_error_at(at, "order", ret, "%s", err.text);
	plan->n_rings++;
	ring->group = in.group;
	ring->jump = in.jump;
	ring->reverse = in.reverse;
	if (ring->n != group->n_members ||
	    !plan_same_members(ring->order, group->members, ring->n, plan->demand->n))
		return to_json_error_at(at, "order", -EINVAL,
					"expected every member of AllReduce group %u once",
					in.group);
	return 0;
}

static int plan_read_rings(const struct to_json *at, void *to)
{
	struct to_plan *plan = to;
	unsigned int n;
	int ret;

	ret = to_json_array(at, sizeof(*plan->rings), &plan->rings, &n);
	for (unsigned int i = 0; i < n && !ret; i++) {
		struct to_json child = to_json_element(at, i);

		ret = plan_read_ring(&child, plan);
	}
	return ret;
}

static int plan_read_parent(const struct to_json *at, uint32_t *parent)
{
	int ret;

	if (json_is_null(at->value)) {
		*parent = TO_SERVER_NONE;
		return 0;
	}
	ret = to_json_u32(at, parent);
	if (!ret && *parent >= TO_SERVERS_MAX)
		ret = to_json_error(at, -ERANGE, "expected less than %u", TO_SERVERS_MAX);
	return ret;
}

static int plan_read_parents(const struct to_json *at, void *to)
{
	struct to_allreduce_tree *tree = to;
	int ret = to_json_array(at, sizeof(*tree->parents), &tree->parents, &tree->n);

	for (unsigned int i = 0; i < tree->n && !ret; i++) {
		struct to_json child = to_json_element(at, i);

		ret = plan_read_parent(&child, &tree->parents[i]);
	}
	return ret;
}

static const struct to_json_field tree_fields[] = {
	{ "group", to_json_u32, offsetof(struct to_allreduce_tree, group), false },
	{ "parents", plan_read_parents, 0, false },
	{}
};

static int plan_read_trees(const struct to_json *at, void *to)
{
	struct to_plan *plan = to;
	int ret = to_json_array(at, sizeof(*plan->trees), &plan->trees, &plan->n_trees);

	for (unsigned int i = 0; i < plan->n_trees && !ret; i++) {
		struct to_allreduce_tree *tree = &plan->trees[i];
		struct to_json child = to_json_element(at, i);
		struct to_error err;

		ret = to_json_object(&child, tree_fields, tree);
		if (!ret && tree->group >= plan->demand->n_groups)
			ret = to_json_error_at(&child, "group", -ENOENT,
					       "the demand has %u AllReduce groups",
					       plan->demand->n_groups);
		if (!ret) {
			ret = to_allreduce_tree_check(tree, plan->demand, &err);
			if (ret)
				to_json_error_at(&child, "parents", ret, "%s", err.text);
		}
	}
	return ret;
}

static int plan_read_use(const struct to_json *at, void *to)
{
	int use = to_json_choice(at, to_plan_link_uses);

	if (use < 0)
		return use;
	*(enum to_link_use *)to = use;
	return 0;
}

static int plan_read_link_owner(const struct to_json *at, void *to)
{
	unsigned int owner;
	int ret = to_json_u32(at, &owner);

	if (!ret && owner > INT32_MAX)
		return to_json_error(at, -ERANGE, "no such %s", at->key);
	*(int *)to = owner;
	return ret;
}

static const struct to_json_field link_fields[] = {
	{ "a", to_cluster_read_port_ref, offsetof(struct to_link, a), false },
	{ "b", to_cluster_read_port_ref, offsetof(struct to_link, b), false },
	{ "use", plan_read_use, offsetof(struct to_link, use), false },
	{ "ring", plan_read_link_owner, offsetof(struct to_link, ring), true },
	{ "tree", plan_read_link_owner, offsetof(struct to_link, tree), true },
	{}
};

static int plan_read_links(const struct to_json *at, void *to)
{
	struct to_plan *plan = to;
	struct to_cluster *c = plan->cluster;
	int ret = to_cluster_read_links(at, link_fields, c);

	for (unsigned int i = 0; i < c->n_links && !ret; i++) {
		struct to_json child = to_json_element(at, i);
		const struct to_link *link = &c->links[i];

		if (link->ring >= 0 && link->use != TO_LINK_ALLREDUCE)
			ret = to_json_error_at(&child, "ring", -EINVAL,
					       "only a link for \"allreduce\" has a ring");
		else if (link->ring >= (int)plan->n_rings)
			ret = to_json_error_at(&child, "ring", -ENOENT,
					       "the plan has %u rings", plan->n_rings);
		else if (link->tree >= 0 && (link->use != TO_LINK_ALLREDUCE || link->ring >= 0))
			ret = to_json_error_at(&child, "tree", -EINVAL,
					       "only a link for \"allreduce\" without a ring has a tree");
		else if (link->tree >= (int)plan->n_trees)
			ret = to_json_error_at(&child, "tree", -ENOENT,
					       "the plan has %u trees", plan->n_trees);
	}
	if (!ret && to_plan_index(plan))
		ret = to_json_error(at, -ENOMEM, "out of memory");
	return ret;
}

struct cross_connect_in {
	const char *optical_switch;
	unsigned int a, b;
};

static const struct to_json_field cross_connect_fields[] = {
	{ "optical_switch", to_json_string,
	  offsetof(struct cross_connect_in, optical_switch), false },
	{ "a", to_json_u32, offsetof(struct cross_connect_in, a), false },
	{ "b", to_json_u32, offsetof(struct cross_connect_in, b), false },
	{}
};

static int plan_read_cross_connect(const struct to_json *at, const struct to_cluster *c,
				   struct to_cross_connect *x)
{
	struct cross_connect_in in;
	unsigned int s;
	int ret;

	ret = to_json_object(at, cross_connect_fields, &in);
	if (ret)
		return ret;
	for (s = 0; s < c->n_switches; s++)
		if (!strcmp(c->switches[s].name, in.optical_switch))
			break;
	if (s == c->n_switches)
		return to_json_error_at(at, "optical_switch", -ENOENT,
					"no optical switch is called \"%s\"",
					in.optical_switch);
	if (!in.a || in.a > c->switches[s].n_ports)
		return to_json_error_at(at, "a", -ERANGE, "\"%s\" has the ports 1 to %u",
					c->switches[s].name, c->switches[s].n_ports);
	if (!in.b || in.b > c->switches[s].n_ports)
		return to_json_error_at(at, "b", -ERANGE, "\"%s\" has the ports 1 to %u",
					c->switches[s].name, c->switches[s].n_ports);
	*x = (struct to_cross_connect){ s, in.a, in.b };
	return 0;
}

static int plan_read_cross_connects(const struct to_json *at, void *to)
{
	struct to_plan *plan = to;
	int ret;

	ret = to_json_array(at, sizeof(*plan->cross_connects),
			    &plan->cross_connects, &plan->n_cross_connects);
	for (unsigned int i = 0; i < plan->n_cross_connects && !ret; i++) {
		struct to_json child = to_json_element(at, i);

		ret = plan_read_cross_connect(&child, plan->cluster,
					      &plan->cross_connects[i]);
	}
	return ret;
}

/* The table that is being read. */
struct table_in {
	const struct to_plan *plan;
	struct to_table *table;
	uint32_t server;
	bool *done;		/* servers that have a table */
	unsigned int room;	/* of table->pairs */
};

static int plan_read_table_server(const struct to_json *at, void *to)
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
	const char *port;
	unsigned int weight;
	bool backup;
};

static const struct to_json_field nexthop_fields[] = {
	{ "port", to_json_string, offsetof(struct nexthop_in, port), false },
	{ "weight", to_json_u32, offsetof(struct nexthop_in, weight), true },
	{ "backup", to_json_bool, offsetof(struct nexthop_in, backup), true },
	{}
};

static int plan_read_nexthop(const struct to_json *at, const struct to_server *server,
			     struct to_nexthop *hop)
{
	struct nexthop_in in = { .weight = 1 };
	int ret, port;

	ret = to_json_object(at, nexthop_fields, &in);
	if (ret)
		return ret;
	port = to_cluster_find_port(server, in.port);
	if (port < 0)
		return to_json_error_at(at, "port", -ENOENT,
					"server \"%s\" has no port \"%s\"",
					server->name, in.port);
	if (!in.weight || in.weight > UINT16_MAX)
		return to_json_error_at(at, "weight", -ERANGE, "expected 1 to %u",
					UINT16_MAX);
	*hop = (struct to_nexthop){ port, in.weight, in.backup };
	return 0;
}

static int plan_read_group(const struct to_json *at, const struct to_server *server,
			   struct to_group *group)
{
	uint64_t used = 0;
	int ret;

	ret = to_json_array(at, sizeof(*group->nexthops), &group->nexthops,
			    &group->n);
	if (ret)
		return ret;
	if (!group->n || group->n > TOPOOPT_MAX_NEXTHOPS)
		return to_json_error(at, -ERANGE, "expected 1 to %u next hops",
				     TOPOOPT_MAX_NEXTHOPS);
	for (unsigned int i = 0; i < group->n; i++) {
		struct to_json child = to_json_element(at, i);
		struct to_nexthop *hop = &group->nexthops[i];

		ret = plan_read_nexthop(&child, server, hop);
		if (ret)
			return ret;
		if (used & 1ULL << hop->port)
			return to_json_error_at(&child, "port", -EEXIST,
						"port \"%s\" is in the group already",
						server->ports[hop->port].name);
		used |= 1ULL << hop->port;
	}
	return 0;
}

static int plan_read_groups(const struct to_json *at, void *to)
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

		ret = plan_read_group(&child, &in->plan->cluster->servers[in->server],
				      &t->groups[i]);
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

static int plan_read_group_index(const struct to_json *at, void *to)
{
	struct routes_in *in = to;
	int ret = to_json_u32(at, &in->group);

	if (!ret && in->group >= in->table->table->n_groups)
		ret = to_json_error(at, -ENOENT, "the table has %u groups",
				    in->table->table->n_groups);
	return ret;
}

static int plan_read_from(const struct to_json *at, void *to)
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

static int plan_add_pair(const struct to_json *at, struct table_in *in,
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

static int plan_add_route(const struct to_json *at, const struct routes_in *in,
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
		ret = plan_add_pair(at, in->table, (struct to_source_route){
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

static int plan_read_destinations(const struct to_json *at, struct routes_in *in,
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
			ret = plan_add_route(at, in, dst, slot);
			if (ret)
				return ret;
		}
	return more ? to_json_error(at, more, "%s", err.text) : 0;
}

static int plan_read_nodes(const struct to_json *at, void *to)
{
	return plan_read_destinations(at, to, 0);
}

static int plan_read_route_ports(const struct to_json *at, void *to)
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

		ret = plan_read_destinations(&child, in, 1 + q);
	}
	return ret;
}

static const struct to_json_field route_fields[] = {
	{ "group", plan_read_group_index, 0, false },
	{ "nodes", plan_read_nodes, 0, true },
	{ "ports", plan_read_route_ports, 0, true },
	{}
};

static const struct to_json_field pair_fields[] = {
	{ "group", plan_read_group_index, 0, false },
	{ "from", plan_read_from, 0, false },
	{ "nodes", plan_read_nodes, 0, true },
	{ "ports", plan_read_route_ports, 0, true },
	{}
};

static int plan_read_route_array(const struct to_json *at, struct table_in *table,
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

static int plan_read_routes(const struct to_json *at, void *to)
{
	return plan_read_route_array(at, to, route_fields);
}

static int plan_read_pairs(const struct to_json *at, void *to)
{
	struct table_in *in = to;
	struct to_table *t = in->table;
	int ret = plan_read_route_array(at, in, pair_fields);

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
	{ "server", plan_read_table_server, 0, false },
	{ "groups", plan_read_groups, 0, false },
	{ "routes", plan_read_routes, 0, false },
	{ "pairs", plan_read_pairs, 0, true },
	{}
};

int to_plan_read_table(const struct to_json *at, const struct to_plan *plan, bool *done)
{
	struct table_in in = { .plan = plan, .done = done };

	return to_json_object(at, table_fields, &in);
}

static int plan_read_tables(const struct to_json *at, void *to)
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

static int plan_read_predictions(const struct to_json *at, void *to)
{
	struct to_plan *plan = to;

	if (!json_is_object(at->value))
		return to_json_error(at, -EINVAL, "expected an object");
	plan->predictions = json_incref(at->value);
	return 0;
}

static const struct to_json_field candidate_fields[] = {
	{ "family", to_json_name, offsetof(struct to_candidate, family), false },
	{ "ports", to_json_u32, offsetof(struct to_candidate, ports), false },
	{ "estimated_time_s", to_json_real, offsetof(struct to_candidate, estimated_time), false },
	{ "comm_time_s", to_json_real, offsetof(struct to_candidate, comm_time), true },
	{ "chosen", to_json_bool, offsetof(struct to_candidate, chosen), true },
	{}
};

static int plan_read_candidates(const struct to_json *at, void *to)
{
	struct to_plan *plan = to;
	int ret = to_json_array(at, sizeof(*plan->candidates), &plan->candidates,
				&plan->n_candidates);

	for (unsigned int i = 0; i < plan->n_candidates && !ret; i++) {
		struct to_json child = to_json_element(at, i);

		ret = to_json_object(&child, candidate_fields, &plan->candidates[i]);
	}
	return ret;
}

struct port_shares_in {
	unsigned int src, dst, n;
	uint32_t *shares;
};

static int plan_read_shares(const struct to_json *at, void *to)
{
	struct port_shares_in *in = to;
	int ret = to_json_array(at, sizeof(*in->shares), &in->shares, &in->n);

	for (unsigned int q = 0; q < in->n && !ret; q++) {
		struct to_json child = to_json_element(at, q);

		ret = to_json_u32(&child, &in->shares[q]);
		if (!ret && in->shares[q] > TO_PORT_SHARES)
			ret = to_json_error(&child, -ERANGE, "expected 0 to %u", TO_PORT_SHARES);
	}
	return ret;
}

static const struct to_json_field port_shares_fields[] = {
	{ "src", to_json_u32, offsetof(struct port_shares_in, src), false },
	{ "dst", to_json_u32, offsetof(struct port_shares_in, dst), false },
	{ "shares", plan_read_shares, 0, false },
	{}
};

static int plan_read_pair_shares(const struct to_json *at, struct to_plan *plan)
{
	unsigned int n = plan->cluster->n_servers;
	struct port_shares_in in = {};
	int ret = to_json_object(at, port_shares_fields, &in);

	if (!ret && (in.src >= n || in.dst >= n))
		ret = to_json_error_at(at, in.src >= n ? "src" : "dst", -ERANGE,
				       "expected a server, 0 to %u", n - 1);
	else if (!ret && in.n != plan->cluster->servers[in.dst].n_ports)
		ret = to_json_error_at(at, "shares", -EINVAL, "expected %u, the ports of server %u",
				       plan->cluster->servers[in.dst].n_ports, in.dst);
	for (unsigned int q = 0; q < in.n && !ret; q++)
		plan->port_shares[((size_t)in.src * n + in.dst) * (plan->slots - 1) + q] =
			in.shares[q];
	free(in.shares);
	return ret;
}

static int plan_read_port_shares(const struct to_json *at, void *to)
{
	struct to_plan *plan = to;
	size_t n = plan->cluster->n_servers;
	unsigned int pairs;
	int ret = to_json_array(at, 0, NULL, &pairs);

	if (ret)
		return ret;
	plan->port_shares = calloc(n * n * (plan->slots - 1) + 1, sizeof(*plan->port_shares));
	if (!plan->port_shares)
		return to_json_error(at, -ENOMEM, "out of memory");
	for (unsigned int i = 0; i < pairs && !ret; i++) {
		struct to_json child = to_json_element(at, i);

		ret = plan_read_pair_shares(&child, plan);
	}
	return ret;
}

/* In reading order: later ones refer to earlier ones. */
static const struct to_json_field plan_fields[] = {
	{ "format", plan_read_format, 0, false },
	{ "version", to_json_version, 0, false },
	{ "comment", to_json_comment, 0, true },
	{ "job", plan_read_job, 0, false },
	{ "seed", to_json_u64, offsetof(struct to_plan, seed), true },
	{ "link_mode", plan_read_link_mode, 0, false },
	{ "optical_switches", plan_read_switches, 0, true },
	{ "servers", plan_read_servers, 0, false },
	{ "demand", plan_read_demand, 0, false },
	{ "rings", plan_read_rings, 0, true },
	{ "trees", plan_read_trees, 0, true },
	{ "links", plan_read_links, 0, false },
	{ "cross_connects", plan_read_cross_connects, 0, true },
	{ "tables", plan_read_tables, 0, false },
	{ "port_shares", plan_read_port_shares, 0, true },
	{ "candidates", plan_read_candidates, 0, true },
	{ "predictions", plan_read_predictions, 0, true },
	{}
};

struct to_plan *to_plan_parse(const char *data, size_t len, const char *name,
			      struct to_error *err)
{
	struct to_plan *plan = calloc(1, sizeof(*plan));
	struct to_json_doc doc;
	struct to_json at;
	int ret;

	if (plan) {
		plan->cluster = calloc(1, sizeof(*plan->cluster));
		plan->demand = calloc(1, sizeof(*plan->demand));
	}
	if (!plan || !plan->cluster || !plan->demand) {
		to_error_set(err, -ENOMEM, "%s: out of memory", name);
		to_plan_free(plan);
		return NULL;
	}
	ret = to_json_open_deferred(&doc, &at, data, len, name, "tables",
				    plan->cluster, err);
	if (!ret)
		ret = to_json_object(&at, plan_fields, plan);
	to_json_close(&doc);
	if (ret) {
		to_plan_free(plan);
		return NULL;
	}
	return plan;
}

struct to_plan *to_plan_load(const char *path, struct to_error *err)
{
	struct to_plan *plan;
	char *data;
	size_t len;

	if (to_file_read(path, &data, &len, err))
		return NULL;
	plan = to_plan_parse(data, len, path, err);
	free(data);
	return plan;
}
