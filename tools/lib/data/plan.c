// SPDX-License-Identifier: GPL-2.0-or-later
#include "data/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "data/down.h"

#define GROUPS_MAX 65534

const char *const to_collective_algorithms[] = { "plan", "ring", "ps", "bml", NULL };

static void plan_table_free(struct to_table *t)
{
	for (unsigned int g = 0; g < t->n_groups; g++)
		free(t->groups[g].nexthops);
	free(t->groups);
	free(t->route);
	free(t->pairs);
}

struct to_layout to_plan_layout(const struct to_plan *plan)
{
	return (struct to_layout){
		.n_links = plan->cluster->n_links, .links = plan->cluster->links,
		.n_rings = plan->n_rings, .rings = plan->rings,
		.n_trees = plan->n_trees, .trees = plan->trees };
}

static void plan_drop_tables(struct to_plan *plan)
{
	for (unsigned int i = 0; plan->tables && i < plan->cluster->n_servers; i++)
		plan_table_free(&plan->tables[i]);
	free(plan->tables);
	plan->tables = NULL;
}

/* Drop the layout and all that follows from it. */
static void plan_clear(struct to_plan *plan)
{
	struct to_layout layout = to_plan_layout(plan);

	plan_drop_tables(plan);
	to_layout_free(&layout);
	free(plan->cross_connects);
	free(plan->peers);
	free(plan->port_shares);
	json_decref(plan->predictions);
	plan->n_cross_connects = 0;
	plan->cross_connects = NULL;
	plan->peers = NULL;
	plan->port_shares = NULL;
	plan->least_time = 0;
	plan->predictions = NULL;
}

void to_plan_set_layout(struct to_plan *plan, struct to_layout *layout)
{
	struct to_layout taken = to_layout_take(layout);

	plan_clear(plan);
	plan->cluster->n_links = taken.n_links;
	plan->cluster->links = taken.links;
	plan->n_rings = taken.n_rings;
	plan->rings = taken.rings;
	plan->n_trees = taken.n_trees;
	plan->trees = taken.trees;
}

/* What to_plan_set_layout() would drop. */
static void plan_take_layout(struct to_plan *to, const struct to_plan *from)
{
	to->slots = from->slots;
	to->n_rings = from->n_rings;
	to->rings = from->rings;
	to->n_trees = from->n_trees;
	to->trees = from->trees;
	to->n_cross_connects = from->n_cross_connects;
	to->cross_connects = from->cross_connects;
	to->tables = from->tables;
	to->port_shares = from->port_shares;
	to->least_time = from->least_time;
	to->peers = from->peers;
	to->predictions = from->predictions;
}

void to_plan_swap_layouts(struct to_plan *a, struct to_plan *b)
{
	const struct to_layout links = to_plan_layout(a);
	const struct to_plan was = *a;

	plan_take_layout(a, b);
	plan_take_layout(b, &was);
	a->cluster->n_links = b->cluster->n_links;
	a->cluster->links = b->cluster->links;
	b->cluster->n_links = links.n_links;
	b->cluster->links = links.links;
}

void to_plan_free(struct to_plan *plan)
{
	if (!plan || __atomic_fetch_sub(&plan->held, 1, __ATOMIC_ACQ_REL))
		return;
	if (plan->cluster)
		to_plan_set_layout(plan, &(struct to_layout){ 0 });
	free(plan->candidates);
	free(plan->down);
	free(plan->dark);
	to_demand_free(plan->demand);
	to_cluster_free(plan->cluster);
	free(plan);
}

struct to_plan *to_plan_hold(const struct to_plan *plan)
{
	struct to_plan *held = (struct to_plan *)plan;

	__atomic_fetch_add(&held->held, 1, __ATOMIC_RELAXED);
	return held;
}

int to_plan_alloc_tables(struct to_plan *plan)
{
	const struct to_cluster *c = plan->cluster;
	size_t routes;

	plan->slots = 1;
	for (unsigned int i = 0; i < c->n_servers; i++)
		if (plan->slots < c->servers[i].n_ports + 1)
			plan->slots = c->servers[i].n_ports + 1;
	routes = (size_t)c->n_servers * plan->slots;
	plan->tables = calloc(c->n_servers, sizeof(*plan->tables));
	if (!plan->tables)
		return -ENOMEM;
	for (unsigned int i = 0; i < c->n_servers; i++) {
		struct to_table *t = &plan->tables[i];

		t->route = malloc(routes * sizeof(*t->route));
		if (!t->route)
			return -ENOMEM;
		memset(t->route, 0xff, routes * sizeof(*t->route));
	}
	return 0;
}

int to_plan_renew_tables(struct to_plan *plan)
{
	plan_drop_tables(plan);
	return to_plan_alloc_tables(plan);
}

static int plan_pair_compare(const void *a, const void *b)
{
	const struct to_source_route *x = a, *y = b;

	if (x->dst != y->dst)
		return x->dst > y->dst ? 1 : -1;
	if (x->slot != y->slot)
		return x->slot - y->slot;
	return (x->src > y->src) - (x->src < y->src);
}

void to_plan_sort_pairs(struct to_table *t)
{
	if (t->n_pairs)
		qsort(t->pairs, t->n_pairs, sizeof(*t->pairs), plan_pair_compare);
}

int to_group_least(const struct to_group *group)
{
	uint32_t total[2] = { 0, 0 };	/* of primaries, of backups */

	for (unsigned int i = 0; i < group->n; i++)
		if (!group->nexthops[i].ingress)
			total[group->nexthops[i].backup] += group->nexthops[i].weight;
	for (unsigned int i = 0; i < group->n; i++) {
		const struct to_nexthop *hop = &group->nexthops[i];

		if (!hop->ingress && hop->weight * TO_GROUP_SHARES < total[hop->backup])
			return i;
	}
	return -1;
}

static bool plan_same_nexthops(const struct to_nexthop *a, const struct to_nexthop *b,
			       unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (a[i].port != b[i].port || a[i].weight != b[i].weight ||
		    a[i].backup != b[i].backup || a[i].ingress != b[i].ingress ||
		    a[i].peer != b[i].peer)
			return false;
	return true;
}

int to_plan_add_group(struct to_table *t, const struct to_nexthop *nexthops,
		      unsigned int n)
{
	for (unsigned int g = 0; g < t->n_groups; g++)
		if (t->groups[g].n == n &&
		    plan_same_nexthops(t->groups[g].nexthops, nexthops, n))
			return g;
	return to_plan_new_group(t, nexthops, n);
}

int to_plan_new_group(struct to_table *t, const struct to_nexthop *nexthops,
		      unsigned int n)
{
	struct to_nexthop *own;
	struct to_group *groups;

	if (t->n_groups == GROUPS_MAX)
		return -ENOSPC;
	/* The array doubles: it is full whenever the count is a power of two. */
	if (!(t->n_groups & (t->n_groups - 1))) {
		groups = reallocarray(t->groups, t->n_groups ? 2 * t->n_groups : 1,
				      sizeof(*groups));
		if (!groups)
			return -ENOMEM;
		t->groups = groups;
	}
	own = calloc(n, sizeof(*own));
	if (!own)
		return -ENOMEM;
	memcpy(own, nexthops, n * sizeof(*own));
	t->groups[t->n_groups] = (struct to_group){ n, own };
	return t->n_groups++;
}

int to_plan_index(struct to_plan *plan)
{
	const struct to_cluster *c = plan->cluster;
	size_t ports = plan->slots - 1;

	free(plan->peers);
	plan->peers = malloc(c->n_servers * ports * sizeof(*plan->peers));
	if (!plan->peers)
		return -ENOMEM;
	memset(plan->peers, 0xff, c->n_servers * ports * sizeof(*plan->peers));
	for (unsigned int i = 0; i < c->n_links; i++) {
		struct to_port_ref a = c->links[i].a, b = c->links[i].b;

		if (c->servers[a.server].ports[a.port].packet_switch)
			continue;
		plan->peers[a.server * ports + a.port] = b;
		if (c->link_mode == TO_LINKS_DUPLEX)
			plan->peers[b.server * ports + b.port] = a;
	}
	return 0;
}

int to_plan_peer(const struct to_plan *plan, struct to_port_ref at,
		 struct to_port_ref *peer)
{
	*peer = plan->peers[(size_t)at.server * (plan->slots - 1) + at.port];
	return peer->server == UINT32_MAX ? -ENOLINK : 0;
}

bool to_plan_does_without(const struct to_plan *plan, struct to_port_ref at)
{
	for (unsigned int i = 0; i < plan->n_down; i++)
		if (plan->down[i].server == at.server &&
		    (plan->down[i].port == at.port || plan->down[i].port == TO_DOWN_SERVER))
			return true;
	return false;
}

bool to_plan_leads(const struct to_plan *plan, struct to_port_ref at, uint32_t to)
{
	const struct to_server *servers = plan->cluster->servers;
	const unsigned int on = servers[at.server].ports[at.port].packet_switch;
	struct to_port_ref peer;

	if (on)
		return at.server != to && to_cluster_find_on(&servers[to], on) >= 0;
	return !to_plan_peer(plan, at, &peer) && peer.server == to;
}

int to_plan_hop_end(const struct to_plan *plan, uint32_t server, const struct to_nexthop *hop,
		    struct to_port_ref *end)
{
	const struct to_server *servers = plan->cluster->servers;
	const unsigned int on = servers[server].ports[hop->port].packet_switch;
	int port;

	if (!on)
		return to_plan_peer(plan, (struct to_port_ref){ server, hop->port }, end);
	port = to_cluster_find_on(&servers[hop->peer], on);
	*end = (struct to_port_ref){ hop->peer, port };
	return port < 0 ? -ENOLINK : 0;
}
