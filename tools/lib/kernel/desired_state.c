// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/desired_state.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

#include "data/graph.h"
#include "routing/queue_pairs.h"

/*
 * A server's part of the plan, as table and entries both look it up.
 * @peer: other end of the first link of each port, of the only one on a cable
 */
struct view {
	const struct to_plan *plan;
	const struct to_cluster *cluster;
	const struct to_server *self;
	const struct to_table *table;
	unsigned int server;
	const uint32_t *ifindex;
	struct to_port_ref peer[TO_PORTS_MAX];
	bool linked[TO_PORTS_MAX];
};

static void desired_view_init(struct view *v, const struct to_plan *plan,
			      unsigned int server, const uint32_t *ifindex)
{
	v->plan = plan;
	v->cluster = plan->cluster;
	v->self = &plan->cluster->servers[server];
	v->table = &plan->tables[server];
	v->server = server;
	v->ifindex = ifindex;
	for (unsigned int p = 0; p < v->self->n_ports; p++)
		v->linked[p] = !to_plan_peer(plan, (struct to_port_ref){ server, p },
					     &v->peer[p]);
	for (unsigned int i = v->cluster->n_packet_switches ? v->cluster->n_links : 0; i--;) {
		struct to_port_ref a = v->cluster->links[i].a, b = v->cluster->links[i].b;

		if ((a.server != server && b.server != server) ||
		    !v->cluster->servers[a.server].ports[a.port].packet_switch)
			continue;
		v->linked[a.server == server ? a.port : b.port] = true;
		v->peer[a.server == server ? a.port : b.port] = a.server == server ? b : a;
	}
}

static const struct to_port *desired_port(const struct view *v, struct to_port_ref at)
{
	return &v->cluster->servers[at.server].ports[at.port];
}

/* Where @hop leads. */
static struct to_port_ref desired_hop_end(const struct view *v, const struct to_nexthop *hop)
{
	unsigned int on = v->self->ports[hop->port].packet_switch;

	if (!on)
		return v->peer[hop->port];
	return (struct to_port_ref){ hop->peer,
				     to_cluster_find_on(&v->cluster->servers[hop->peer], on) };
}

/* Whether @slot of @server is the port @at. */
static bool desired_is_port(struct to_port_ref at, uint32_t server, unsigned int slot)
{
	return slot && at.server == server && at.port == slot - 1;
}

/* Address of @slot of @server: its node address or that of a port; or NULL. */
static const struct to_address *desired_address_of(const struct to_cluster *cluster,
						   uint32_t server, unsigned int slot)
{
	const struct to_server *s = &cluster->servers[server];

	if (!slot)
		return &s->address;
	return slot <= s->n_ports ? &s->ports[slot - 1].address : NULL;
}

static bool desired_has_family(const struct to_address *a, int family)
{
	return a && (family == AF_INET ? a->has_v4 : a->has_v6);
}

static void desired_copy_address(uint8_t *to, const struct to_address *a, int family)
{
	if (family == AF_INET)
		memcpy(to, &a->v4, 4);
	else
		memcpy(to, &a->v6, 16);
}

static const int families[] = { AF_INET, AF_INET6 };

#define for_each_family(f) \
	for (const int *f = families; f < families + 2; f++)

/* The table of the topoopt device */

/*
 * Group of the table for a group of the plan whose next hops to @end are last ones.
 * @next: 1 + index of another one of the same group, 0 for none
 */
struct last {
	struct to_port_ref end;
	uint32_t group;
	unsigned int next;
};

struct builder {
	struct view v;
	struct to_kernel_table *out;
	unsigned int groups_room, routes_room, peers_room;
	struct last *last;
	unsigned int n_last, last_room;
	unsigned int *first_last;	/* per group of the plan, as @next */
	struct to_error *err;
};

static bool desired_same_port(struct to_port_ref a, struct to_port_ref b)
{
	return a.server == b.server && a.port == b.port;
}

static void desired_fill_nexthop(const struct view *v, const struct to_nexthop *hop,
				 const struct to_port_ref *last, struct to_kernel_nexthop *nh)
{
	struct to_port_ref end = desired_hop_end(v, hop);
	const struct to_port *peer = desired_port(v, end);

	nh->port = v->ifindex[hop->port];
	nh->ingress = hop->ingress ? v->ifindex[hop->ingress - 1] : 0;
	nh->weight = hop->weight;
	nh->backup = hop->backup;
	memcpy(nh->mac, last && desired_same_port(end, *last) ? peer->mac : peer->relay_mac, 6);
}

/* @last: port that next hops to get its RDMA MAC, NULL for none. */
static int desired_add_group(struct builder *b, const struct to_group *group,
			     const struct to_port_ref *last)
{
	struct to_kernel_table *out = b->out;
	struct to_kernel_nexthop *nh;
	struct to_kernel_group *g;

	if (out->n_groups == b->groups_room) {
		unsigned int room = b->groups_room ? 2 * b->groups_room : 64;

		g = realloc(out->groups, room * sizeof(*g));
		if (!g)
			return -ENOMEM;
		out->groups = g;
		b->groups_room = room;
	}
	g = &out->groups[out->n_groups];
	*g = (struct to_kernel_group){ .id = out->n_groups, .n = group->n };
	g->nexthops = calloc(group->n, sizeof(*g->nexthops));
	if (!g->nexthops)
		return -ENOMEM;
	/* In the order that the kernel gives them back in. */
	nh = g->nexthops;
	for (int kind = 0; kind < 3; kind++) {
		for (unsigned int i = 0; i < group->n; i++) {
			const struct to_nexthop *hop = &group->nexthops[i];

			if (kind == (hop->ingress ? 2 : hop->backup))
				desired_fill_nexthop(&b->v, hop, last, nh++);
		}
	}
	return out->n_groups++;
}

static int desired_check_group(const struct builder *b, unsigned int group)
{
	const struct to_group *g = &b->v.table->groups[group];
	unsigned int alternates = 0;
	int least;

	for (unsigned int i = 0; i < g->n; i++)
		alternates += !!g->nexthops[i].ingress;
	if (g->n == alternates || g->n - alternates > TOPOOPT_MAX_NEXTHOPS)
		return to_error_set(b->err, -EINVAL,
				    "server %s: group %u has %u next hops, expected 1 to %d",
				    b->v.self->name, group, g->n - alternates,
				    TOPOOPT_MAX_NEXTHOPS);
	for (unsigned int i = 0; i < g->n; i++) {
		unsigned int port = g->nexthops[i].port;

		if (port >= b->v.self->n_ports ||
		    g->nexthops[i].ingress > b->v.self->n_ports)
			return to_error_set(b->err, -EINVAL,
					    "server %s: group %u names port %u of %u",
					    b->v.self->name, group,
					    port < b->v.self->n_ports ?
					    g->nexthops[i].ingress - 1u : port,
					    b->v.self->n_ports);
		if (!b->v.linked[port])
			return to_error_set(b->err, -EINVAL,
					    "server %s: group %u leads through port %s, which has no link",
					    b->v.self->name, group,
					    b->v.self->ports[port].name);
	}
	least = to_group_least(g);
	if (least >= 0)
		return to_error_set(b->err, -EINVAL,
				    "server %s: group %u gives port %s less than 1/%d of what its %s carry",
				    b->v.self->name, group,
				    b->v.self->ports[g->nexthops[least].port].name, TO_GROUP_SHARES,
				    g->nexthops[least].backup ? "backups" : "primaries");
	return 0;
}

/* Group for group @group of the plan, of which next hops to @end are last ones, or -ENOMEM. */
static int desired_find_last(struct builder *b, unsigned int group, struct to_port_ref end)
{
	struct last *last;
	int ret;

	for (unsigned int i = b->first_last[group]; i; i = b->last[i - 1].next)
		if (desired_same_port(b->last[i - 1].end, end))
			return b->last[i - 1].group;
	if (b->n_last == b->last_room) {
		b->last_room = b->last_room ? 2 * b->last_room : 64;
		last = reallocarray(b->last, b->last_room, sizeof(*last));
		if (!last)
			return -ENOMEM;
		b->last = last;
	}
	ret = desired_add_group(b, &b->v.table->groups[group], &end);
	if (ret < 0)
		return ret;
	b->last[b->n_last++] = (struct last){ end, ret, b->first_last[group] };
	b->first_last[group] = b->n_last;
	return ret;
}

/* Group for a route of the plan to (@server, @slot), or a negative errno. */
static int desired_find_group(struct builder *b, unsigned int group, uint32_t server,
			      unsigned int slot)
{
	const struct to_group *g;
	int ret;

	if (group >= b->v.table->n_groups)
		return to_error_set(b->err, -EINVAL,
				    "server %s: route to server %s names next hop group %u of %u",
				    b->v.self->name,
				    b->v.cluster->servers[server].name, group,
				    b->v.table->n_groups);
	g = &b->v.table->groups[group];
	for (unsigned int i = 0; slot && i < g->n; i++) {
		struct to_port_ref end = desired_hop_end(&b->v, &g->nexthops[i]);
		const struct to_port *peer;

		if (!desired_is_port(end, server, slot))
			continue;
		peer = desired_port(&b->v, end);
		if (!memcmp(peer->mac, peer->relay_mac, 6))
			break;
		ret = desired_find_last(b, group, end);
		return ret < 0 ? to_error_set(b->err, ret, "out of memory") : ret;
	}
	return group;
}

static int desired_add_route(struct builder *b, int family, const struct to_address *dst,
			     const struct to_address *src, uint8_t type, uint32_t group,
			     uint32_t server)
{
	struct to_kernel_table *out = b->out;
	struct to_kernel_route *r;

	if (out->n_routes == b->routes_room) {
		unsigned int room = b->routes_room ? 2 * b->routes_room : 256;

		r = realloc(out->routes, room * sizeof(*r));
		if (!r)
			return to_error_set(b->err, -ENOMEM, "out of memory");
		out->routes = r;
		b->routes_room = room;
	}
	r = memset(&out->routes[out->n_routes++], 0, sizeof(*r));
	r->family = family;
	r->type = type;
	r->group = group;
	r->server = server;
	r->dst_len = family == AF_INET ? 32 : 128;
	desired_copy_address(r->dst, dst, family);
	if (src) {
		r->src_len = r->dst_len;
		desired_copy_address(r->src, src, family);
	}
	return 0;
}

/* Group for RoCEv2 to @port that arrived at another port: a peer there sends it back. */
static int desired_detour(struct builder *b, unsigned int port)
{
	struct to_nexthop peer = { .port = port, .weight = 1, .peer = b->v.peer[port].server };

	return desired_add_group(b, &(struct to_group){ .n = 1, .nexthops = &peer }, NULL);
}

static const uint32_t desired_intervals[] = {
	[TO_CONTINUITY_100MS] = TOPOOPT_CHECK_INTERVAL_100MS,
	[TO_CONTINUITY_OFF] = TOPOOPT_CHECK_INTERVAL_OFF,
	[TO_CONTINUITY_3MS] = TOPOOPT_CHECK_INTERVAL_3MS,
	[TO_CONTINUITY_10MS] = TOPOOPT_CHECK_INTERVAL_10MS,
	[TO_CONTINUITY_1S] = TOPOOPT_CHECK_INTERVAL_1S,
};

/* Expect @end at @port, unless no checks can come from there. */
static int desired_add_peer(struct builder *b, unsigned int port, struct to_port_ref end)
{
	const struct to_server *server = &b->v.cluster->servers[end.server];
	struct to_kernel_table *out = b->out;
	struct to_peer *p;

	if (server->unable || !b->v.ifindex[port])
		return 0;
	if (out->n_peers == b->peers_room) {
		unsigned int room = b->peers_room ? 2 * b->peers_room : 16;

		p = reallocarray(out->peers, room, sizeof(*p));
		if (!p)
			return to_error_set(b->err, -ENOMEM, "out of memory");
		out->peers = p;
		b->peers_room = room;
	}
	p = memset(&out->peers[out->n_peers++], 0, sizeof(*p));
	p->ifindex = b->v.ifindex[port];
	p->index = end.server;
	memcpy(p->mac, server->ports[end.port].relay_mac, sizeof(p->mac));
	strcpy(p->server, server->name);
	strcpy(p->server_port, server->ports[end.port].name);
	return 0;
}

/*
 * Expect the other end of @link; of a simplex link when another one leads back. A port of a
 * @dark link that has another link expects nobody else.
 */
static int desired_add_link_peer(struct builder *b, const struct to_link *link, bool dark)
{
	struct to_port_ref self = link->a, end = link->b, back;

	if (link->b.server == b->v.server && b->v.cluster->link_mode == TO_LINKS_DUPLEX) {
		self = link->b;
		end = link->a;
	}
	if (self.server != b->v.server || (dark && b->v.linked[self.port]))
		return 0;
	if (b->v.cluster->link_mode == TO_LINKS_SIMPLEX &&
	    (to_plan_peer(b->v.plan, end, &back) || !desired_same_port(back, self)))
		return 0;
	return desired_add_peer(b, self.port, end);
}

/* How links are checked, and the neighbours at those of the plan, dark ones with them. */
static int desired_add_checks(struct builder *b)
{
	const struct to_continuity *checks = &b->v.cluster->continuity;
	const struct to_plan *plan = b->v.plan;
	int ret = 0;

	if (checks->interval == TO_CONTINUITY_OFF || b->v.self->unable)
		return 0;
	b->out->check = (struct to_kernel_check){
		.interval = desired_intervals[checks->interval],
		.fabric = to_continuity_fabric(checks),
		.grace_ms = to_continuity_grace_ms(checks),
	};
	memcpy(b->out->check.key, checks->key, sizeof(checks->key));
	strcpy(b->out->check.server, b->v.self->name);
	for (unsigned int i = 0; !ret && i < b->v.cluster->n_links; i++)
		ret = desired_add_link_peer(b, &b->v.cluster->links[i], false);
	for (unsigned int i = 0; !ret && i < plan->n_dark; i++)
		ret = desired_add_link_peer(b, &plan->dark[i], true);
	return ret;
}

static int desired_add_destination(struct builder *b, uint32_t server, unsigned int slot)
{
	const struct to_address *dst = desired_address_of(b->v.cluster, server, slot);
	uint16_t planned = b->v.table->route[(size_t)server * b->v.plan->slots + slot];
	uint8_t type = TOPOOPT_ROUTE_TYPE_UNICAST;
	int64_t group = TO_KERNEL_GROUP_NONE;
	int ret = 0;

	if (!dst)
		return 0;
	if (server == b->v.server) {
		type = slot ? TOPOOPT_ROUTE_TYPE_LOCAL : TOPOOPT_ROUTE_TYPE_NODE;
		if (slot && b->v.linked[slot - 1])
			group = desired_detour(b, slot - 1);
		if (group < 0)
			return to_error_set(b->err, group, "out of memory");
	} else {
		if (planned == TO_GROUP_NONE)
			return 0;
		group = desired_find_group(b, planned, server, slot);
		if (group < 0)
			return group;
	}
	for_each_family(f)
		if (!ret && desired_has_family(dst, *f))
			ret = desired_add_route(b, *f, dst, NULL, type, group, server);
	return ret;
}

static int desired_add_pair(struct builder *b, const struct to_source_route *pair)
{
	const struct to_address *dst = desired_address_of(b->v.cluster, pair->dst, pair->slot);
	unsigned int first = pair->slot ? 1 : 0;
	unsigned int last = pair->slot ? b->v.cluster->servers[pair->src].n_ports : 0;
	int group, ret = 0;

	/* What ends here is node or local, whoever sent it. */
	if (!dst || pair->dst == b->v.server)
		return 0;
	group = desired_find_group(b, pair->group, pair->dst, pair->slot);
	if (group < 0)
		return group;
	for (unsigned int slot = first; slot <= last; slot++) {
		const struct to_address *src = desired_address_of(b->v.cluster, pair->src, slot);

		for_each_family(f)
			if (!ret && desired_has_family(dst, *f) && desired_has_family(src, *f))
				ret = desired_add_route(b, *f, dst, src,
							TOPOOPT_ROUTE_TYPE_UNICAST,
							group, pair->dst);
	}
	return ret;
}

int to_desired_state_table(const struct to_plan *plan, unsigned int server,
			   const uint32_t *ifindex, struct to_kernel_table *table,
			   struct to_error *err)
{
	struct builder b = { .out = table, .err = err };
	int ret = 0;

	memset(table, 0, sizeof(*table));
	desired_view_init(&b.v, plan, server, ifindex);
	b.first_last = calloc(b.v.table->n_groups + 1, sizeof(*b.first_last));
	if (!b.first_last)
		return to_error_set(err, -ENOMEM, "out of memory");
	ret = desired_add_checks(&b);
	for (unsigned int g = 0; !ret && g < b.v.table->n_groups; g++) {
		ret = desired_check_group(&b, g);
		if (!ret && desired_add_group(&b, &b.v.table->groups[g], NULL) < 0)
			ret = to_error_set(err, -ENOMEM, "out of memory");
	}
	for (uint32_t s = 0; !ret && s < b.v.cluster->n_servers; s++)
		for (unsigned int slot = 0; !ret && slot < plan->slots; slot++)
			ret = desired_add_destination(&b, s, slot);
	for (unsigned int i = 0; !ret && i < b.v.table->n_pairs; i++)
		ret = desired_add_pair(&b, &b.v.table->pairs[i]);
	free(b.last);
	free(b.first_last);
	if (ret)
		to_kernel_table_free(table);
	return ret;
}

/* Addresses, neighbours, routes and rules */

static int desired_prefix_compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(((struct to_prefix *)0)->address));
}

/* Whether @b is the other half of the prefix one bit shorter than @a. */
static bool desired_prefix_halves(const struct to_prefix *a, const struct to_prefix *b)
{
	struct to_prefix sibling = *a;
	unsigned int bit = a->len - 1;

	if (!a->len || a->len != b->len || a->address[bit / 8] & 0x80 >> bit % 8)
		return false;
	sibling.address[bit / 8] |= 0x80 >> bit % 8;
	return !memcmp(sibling.address, b->address, sizeof(sibling.address));
}

unsigned int to_prefix_cover(struct to_prefix *prefixes, unsigned int n,
			     unsigned int size)
{
	unsigned int top = 0;

	if (n)
		qsort(prefixes, n, sizeof(*prefixes), desired_prefix_compare);
	for (unsigned int i = 0; i < n; i++) {
		if (i && !desired_prefix_compare(&prefixes[i], &prefixes[i - 1]))
			continue;
		prefixes[top] = prefixes[i];
		prefixes[top].len = 8 * size;
		for (top++; top > 1 && desired_prefix_halves(&prefixes[top - 2],
							     &prefixes[top - 1]); top--)
			prefixes[top - 2].len--;
	}
	return top;
}

struct writer {
	struct view v;
	struct to_entries *out;
	uint32_t device;
	int family;
	unsigned int size;		/* bytes of an address */
	struct to_prefix *cover;	/* room for all addresses of the plan */
	/* NULL without packet switches */
	struct to_graph *graph;
	uint16_t *distance;
	uint32_t *order;
};

static struct to_entry *desired_add_entry(struct writer *w, enum to_entry_kind kind,
					  const uint8_t *dst, unsigned int len,
					  uint32_t ifindex)
{
	struct to_entry *e = to_entries_add(w->out);

	if (!e)
		return NULL;
	e->kind = kind;
	e->family = w->family;
	memcpy(e->dst, dst, w->size);
	e->dst_len = len;
	e->ifindex = ifindex;
	if (kind == TO_ENTRY_ADDRESS || kind == TO_ENTRY_NEIGHBOUR)
		e->key_ifindex = ifindex;
	return e;
}

static int desired_add_neighbour(struct writer *w, uint32_t ifindex, const uint8_t *dst,
				 const uint8_t *mac)
{
	struct to_entry *e = desired_add_entry(w, TO_ENTRY_NEIGHBOUR, dst, 8 * w->size,
					       ifindex);

	if (!e)
		return -ENOMEM;
	memcpy(e->mac, mac, 6);
	return 0;
}

static int desired_add_ip_route(struct writer *w, uint32_t table, const uint8_t *dst,
				unsigned int len, uint32_t ifindex, const uint8_t *via,
				const struct to_address *source)
{
	struct to_entry *e = desired_add_entry(w, TO_ENTRY_ROUTE, dst, len, ifindex);

	if (!e)
		return -ENOMEM;
	e->table = table;
	if (via) {
		memcpy(e->via, via, w->size);
		e->has_via = true;
	}
	desired_copy_address(e->source, source, w->family);
	e->has_source = true;
	return 0;
}

/*
 * Next hop at @end: its relay. As an address it is the server's IPv4 node address, or
 * the IPv6 link-local one that its relay MAC makes (a route cannot have an IPv6 gateway
 * that another route reaches by another device).
 */
static bool desired_relay_address(const struct writer *w, struct to_port_ref end, uint8_t *via)
{
	const struct to_address *node = &w->v.cluster->servers[end.server].address;
	const uint8_t *mac = desired_port(&w->v, end)->relay_mac;

	if (w->family == AF_INET) {
		desired_copy_address(via, node, AF_INET);
		return node->has_v4;
	}
	memcpy(via, (uint8_t[16]){ 0xfe, 0x80, [8] = mac[0] ^ 2, mac[1], mac[2],
				   0xff, 0xfe, mac[3], mac[4], mac[5] }, 16);
	return true;
}

/* Addresses of the plan, node addresses or those of ports, but @self's nodes. */
static unsigned int desired_gather(struct writer *w, bool ports)
{
	unsigned int n = 0;

	for (uint32_t s = 0; s < w->v.cluster->n_servers; s++) {
		unsigned int last = ports ? w->v.cluster->servers[s].n_ports : 0;

		if (!ports && s == w->v.server)
			continue;
		for (unsigned int slot = ports; slot <= last; slot++) {
			const struct to_address *a = desired_address_of(w->v.cluster, s, slot);

			if (!desired_has_family(a, w->family))
				continue;
			memset(&w->cover[n], 0, sizeof(*w->cover));
			desired_copy_address(w->cover[n++].address, a, w->family);
		}
	}
	return to_prefix_cover(w->cover, n, w->size);
}

static int desired_write_node(struct writer *w)
{
	const struct to_address *node = &w->v.self->address;
	uint8_t address[16] = {};
	unsigned int n;

	if (!desired_has_family(node, w->family))
		return 0;
	desired_copy_address(address, node, w->family);
	if (!desired_add_entry(w, TO_ENTRY_ADDRESS, address, 8 * w->size, w->device))
		return -ENOMEM;
	n = desired_gather(w, false);
	for (unsigned int i = 0; i < n; i++)
		if (desired_add_ip_route(w, RT_TABLE_MAIN, w->cover[i].address,
					 w->cover[i].len, w->device, NULL, node))
			return -ENOMEM;
	return 0;
}

/* The neighbours that @end is behind @port, and the route to its address. */
static int desired_write_peer(struct writer *w, unsigned int port, struct to_port_ref end)
{
	uint32_t ifindex = w->v.ifindex[port], table = TO_RTNL_TABLE(ifindex);
	const struct to_port *peer = desired_port(&w->v, end);
	uint8_t address[16] = {}, via[16] = {};

	if (desired_has_family(&peer->address, w->family)) {
		desired_copy_address(address, &peer->address, w->family);
		if (desired_add_neighbour(w, ifindex, address, peer->mac) ||
		    desired_add_ip_route(w, table, address, 8 * w->size, ifindex, NULL,
					 &w->v.self->ports[port].address))
			return -ENOMEM;
	}
	if (!desired_relay_address(w, end, via))
		return 0;
	return desired_add_neighbour(w, ifindex, via, peer->relay_mac);
}

/* All that share the packet switch of @port. */
static int desired_write_peers(struct writer *w, unsigned int port)
{
	const struct to_graph *g = w->graph;
	int ret = 0;

	for (uint32_t a = g->out[w->v.server]; !ret && a < g->out[w->v.server + 1]; a++)
		if (g->port[a] == port)
			ret = desired_write_peer(w, port, (struct to_port_ref){ g->to[a],
										g->peer_port[a] });
	return ret;
}

/* Routes by all own ports on packet switches to port address (@server, @slot). */
static int desired_write_shared(struct writer *w, uint32_t server, unsigned int slot)
{
	const struct to_address *dst = desired_address_of(w->v.cluster, server, slot);
	const struct to_graph *g = w->graph;
	int ret = 0;

	if (server == w->v.server || !desired_has_family(dst, w->family))
		return 0;
	to_graph_port_distances(g, server, slot - 1, w->distance, w->order);
	for (unsigned int p = 0; !ret && p < w->v.self->n_ports; p++) {
		const struct to_address *own = &w->v.self->ports[p].address;
		uint8_t address[16] = {}, via[16] = {};
		struct to_port_ref end;
		uint32_t a;

		if (!w->v.self->ports[p].packet_switch || !desired_has_family(own, w->family))
			continue;
		a = to_queue_pair_arc(g, (struct to_port_ref){ w->v.server, p }, server, slot - 1,
				      w->distance);
		if (a == UINT32_MAX)
			continue;
		end = (struct to_port_ref){ g->to[a], g->peer_port[a] };
		if (desired_is_port(end, server, slot) || !desired_relay_address(w, end, via))
			continue;
		desired_copy_address(address, dst, w->family);
		ret = desired_add_ip_route(w, TO_RTNL_TABLE(w->v.ifindex[p]), address, 8 * w->size,
					   w->v.ifindex[p], via, own);
	}
	return ret;
}

/* @n prefixes of w->cover reach all ports. */
static int desired_write_port(struct writer *w, unsigned int port, unsigned int n)
{
	uint32_t ifindex = w->v.ifindex[port], table = TO_RTNL_TABLE(ifindex);
	const struct to_address *own = &w->v.self->ports[port].address;
	const struct to_port *peer;
	uint8_t address[16] = {}, via[16] = {};
	struct to_entry *e;

	if (!ifindex || !desired_has_family(own, w->family))
		return 0;
	desired_copy_address(address, own, w->family);
	if (!desired_add_entry(w, TO_ENTRY_ADDRESS, address, 8 * w->size, ifindex))
		return -ENOMEM;
	if (!w->v.linked[port])
		return 0;
	e = desired_add_entry(w, TO_ENTRY_RULE, address, 8 * w->size, 0);
	if (!e)
		return -ENOMEM;
	e->table = table;
	if (w->v.self->ports[port].packet_switch)
		return desired_write_peers(w, port);
	if (desired_write_peer(w, port, w->v.peer[port]))
		return -ENOMEM;
	if (!desired_relay_address(w, w->v.peer[port], via))
		return 0;
	peer = desired_port(&w->v, w->v.peer[port]);
	if (desired_has_family(&peer->address, w->family))
		desired_copy_address(address, &peer->address, w->family);
	for (unsigned int i = 0; i < n; i++) {
		/* The peer's own address has its route already. */
		if (w->cover[i].len == 8 * w->size &&
		    desired_has_family(&peer->address, w->family) &&
		    !memcmp(w->cover[i].address, address, w->size))
			continue;
		if (desired_add_ip_route(w, table, w->cover[i].address, w->cover[i].len,
					 ifindex, via, own))
			return -ENOMEM;
	}
	return 0;
}

/* Next hop that the plan prefers in @group: the heaviest primary, then the first. */
static const struct to_nexthop *desired_preferred(const struct view *v, unsigned int group)
{
	const struct to_group *g = &v->table->groups[group];
	const struct to_nexthop *best = NULL;

	for (unsigned int i = 0; i < g->n; i++)
		if (to_nexthop_primary(&g->nexthops[i]) &&
		    (!best || g->nexthops[i].weight > best->weight))
			best = &g->nexthops[i];
	return best;
}

/* Main-table route to the port address (@server, @slot). */
static int desired_write_destination(struct writer *w, uint32_t server,
				     unsigned int slot, uint16_t group)
{
	const struct to_address *dst = desired_address_of(w->v.cluster, server, slot);
	uint8_t address[16] = {}, via[16] = {};
	const struct to_nexthop *hop;
	const struct to_port *port;
	struct to_port_ref end;

	if (group == TO_GROUP_NONE || server == w->v.server ||
	    !desired_has_family(dst, w->family))
		return 0;
	hop = desired_preferred(&w->v, group);
	if (!hop)
		return 0;
	port = &w->v.self->ports[hop->port];
	if (!desired_has_family(&port->address, w->family))
		return 0;
	desired_copy_address(address, dst, w->family);
	end = desired_hop_end(&w->v, hop);
	if (desired_is_port(end, server, slot))
		return desired_add_ip_route(w, RT_TABLE_MAIN, address, 8 * w->size,
					    w->v.ifindex[hop->port], NULL, &port->address);
	if (!desired_relay_address(w, end, via))
		return 0;
	return desired_add_ip_route(w, RT_TABLE_MAIN, address, 8 * w->size,
				    w->v.ifindex[hop->port], via, &port->address);
}

static int desired_write_family(struct writer *w)
{
	const struct to_plan *plan = w->v.plan;
	const struct to_table *table = w->v.table;
	size_t n = (size_t)w->v.cluster->n_servers * plan->slots;
	uint16_t *group;
	int ret;

	ret = desired_write_node(w);
	if (!ret) {
		unsigned int n_cover = desired_gather(w, true);

		for (unsigned int p = 0; !ret && p < w->v.self->n_ports; p++)
			ret = desired_write_port(w, p, n_cover);
	}
	group = malloc(n * sizeof(*group));
	if (!group || ret) {
		free(group);
		return -ENOMEM;
	}
	/* What starts here goes by the pair's route where there is one. */
	memcpy(group, table->route, n * sizeof(*group));
	for (unsigned int i = 0; i < table->n_pairs; i++)
		if (table->pairs[i].src == w->v.server)
			group[(size_t)table->pairs[i].dst * plan->slots +
			      table->pairs[i].slot] = table->pairs[i].group;
	for (size_t i = 0; !ret && i < n; i++) {
		if (!(i % plan->slots))
			continue;
		ret = desired_write_destination(w, i / plan->slots, i % plan->slots, group[i]);
		if (!ret && w->graph)
			ret = desired_write_shared(w, i / plan->slots, i % plan->slots);
	}
	free(group);
	return ret;
}

int to_desired_state_entries(const struct to_plan *plan, unsigned int server,
			     const uint32_t *ifindex, uint32_t device,
			     struct to_entries *entries, struct to_error *err)
{
	const struct to_cluster *c = plan->cluster;
	struct writer w = { .out = entries, .device = device };
	int ret = 0;

	desired_view_init(&w.v, plan, server, ifindex);
	w.cover = calloc((size_t)c->n_servers * plan->slots + 1, sizeof(*w.cover));
	if (c->n_packet_switches) {
		w.graph = to_graph_new(c->n_servers, c->links, c->n_links, c->link_mode);
		w.distance = calloc(c->n_servers, sizeof(*w.distance));
		w.order = calloc(c->n_servers, sizeof(*w.order));
		if (!w.graph || !w.distance || !w.order)
			ret = -ENOMEM;
	}
	if (!w.cover)
		ret = -ENOMEM;
	for_each_family(f) {
		w.family = *f;
		w.size = *f == AF_INET ? 4 : 16;
		if (!ret)
			ret = desired_write_family(&w);
	}
	to_graph_free(w.graph);
	free(w.distance);
	free(w.order);
	free(w.cover);
	return ret ? to_error_set(err, ret, "out of memory") : 0;
}
