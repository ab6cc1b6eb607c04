// SPDX-License-Identifier: GPL-2.0-or-later
#include "routing/up_down.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "data/allreduce.h"
#include "data/port_loads.h"
#include "routing/forwarding.h"

#define UP_DOWN_STEPS 2e8	/* arcs looked at for all roots that are tried */
#define UP_DOWN_NEXT_HOPS 8

/*
 * @rank: of each server in the order; @order: servers by it
 * @hops: per server, to the address that is looked at, TO_DISTANCE_NONE: no route
 * @down: it can go down all the way
 * @next: its next hops, bit k is arc graph.out[x] + k
 * @pairs: of servers with a path
 * @sends: n x n, what is routed; @base: per arc, what is there without routes
 * @load, @flow: of the root that is tried: per arc, and per server to one address
 * @ports: gets @load
 * @groups, @n_groups: per server, next hops that it has a group for
 */
struct up_down {
	struct to_plan *plan;
	struct to_graph *graph;
	uint32_t *rank, *order, *queue;
	uint16_t *hops, *distance;
	bool *down;
	uint64_t *next, *sends, pairs;
	double *base, *load, *flow;
	struct to_port_loads ports;
	uint64_t **groups;
	unsigned int *n_groups;
	struct to_arena arena;
};

/* After the first @n, the servers that reach @root, by hops. Return: how many that makes. */
static unsigned int up_down_rank_part(struct up_down *u, uint32_t root, unsigned int n)
{
	/* the search may write behind what it finds, so it gets room for all */
	const unsigned int found = to_graph_distances(u->graph, root, TO_SERVER_NONE, u->distance,
						      u->queue);

	for (unsigned int i = 0; i < found; i++, n++) {
		u->order[n] = u->queue[i];
		u->rank[u->order[n]] = n;
	}
	return n;
}

/*
 * Servers by hops to @root, then those of each other part to its first one. Return: whether
 * all have a place; on simplex links only when all reach the root.
 */
static bool up_down_rank(struct up_down *u, uint32_t root)
{
	unsigned int n;

	memset(u->rank, 0xff, u->graph->n * sizeof(*u->rank));
	n = up_down_rank_part(u, root, 0);
	if (u->plan->cluster->link_mode == TO_LINKS_DUPLEX)
		for (uint32_t s = 0; s < u->graph->n; s++)
			if (u->rank[s] == TO_SERVER_NONE)
				n = up_down_rank_part(u, s, n);
	return n == u->graph->n;
}

static bool up_down_is_down(const struct up_down *u, uint32_t arc)
{
	return u->rank[u->graph->to[arc]] > u->rank[u->graph->from[arc]];
}

/*
 * Next hops of @x, which goes @down or up, to @dst, by its port @slot - 1 if @slot is not 0.
 * Servers after it on the way have theirs.
 */
static void up_down_choose(struct up_down *u, uint32_t x, uint32_t dst, unsigned int slot, bool down)
{
	const struct to_graph *g = u->graph;
	unsigned int hops, n = 0;

	for (uint32_t a = g->out[x]; a < g->out[x + 1]; a++) {
		const uint32_t to = g->to[a];

		if (up_down_is_down(u, a) != down || (to == dst && slot && g->peer_port[a] != slot - 1))
			continue;
		if (to != dst && (u->hops[to] == TO_DISTANCE_NONE || (down && !u->down[to])))
			continue;
		hops = to == dst ? 1 : u->hops[to] + 1;
		if (hops > u->hops[x] || (hops == u->hops[x] && n == UP_DOWN_NEXT_HOPS))
			continue;
		if (hops < u->hops[x])
			u->next[x] = n = 0;
		u->hops[x] = hops;
		u->next[x] |= 1ull << (a - g->out[x]);
		n++;
	}
	if (n)
		u->down[x] = down;
}

/* Routes of all servers to address @slot of @dst. Return: how many have one. */
static unsigned int up_down_resolve(struct up_down *u, uint32_t dst, unsigned int slot)
{
	const unsigned int n = u->graph->n;
	unsigned int reached = 0;

	memset(u->hops, 0xff, n * sizeof(*u->hops));
	memset(u->down, 0, n * sizeof(*u->down));
	memset(u->next, 0, n * sizeof(*u->next));
	for (unsigned int i = n; i-- > 0;)
		if (u->order[i] != dst)
			up_down_choose(u, u->order[i], dst, slot, true);
	for (unsigned int i = 0; i < n; i++)
		if (u->order[i] != dst && !u->down[u->order[i]])
			up_down_choose(u, u->order[i], dst, slot, false);
	for (uint32_t x = 0; x < n; x++)
		reached += u->hops[x] != TO_DISTANCE_NONE;
	return reached;
}

/* What is sent to @dst goes up, those at the end of the order first, then down. */
static void up_down_send(struct up_down *u, uint32_t dst, bool down)
{
	const struct to_graph *g = u->graph;

	for (unsigned int i = 0; i < g->n; i++) {
		const uint32_t x = u->order[down ? i : g->n - 1 - i];
		const double share = u->next[x] ? u->flow[x] / __builtin_popcountll(u->next[x]) : 0;

		if (x == dst || u->down[x] != down || !(share > 0))
			continue;
		for (uint64_t left = u->next[x]; left; left &= left - 1) {
			const uint32_t arc = g->out[x] + __builtin_ctzll(left);

			u->load[arc] += share;
			u->flow[g->to[arc]] += share;
		}
	}
}

/*
 * What @root is worth. Return: seconds that the busiest cable or PCIe link is busy, below 0
 * when not all pairs with a path have a route; @hops: of all pairs
 */
static double up_down_try(struct up_down *u, uint32_t root, uint64_t *hops)
{
	const struct to_graph *g = u->graph;
	uint64_t routed = 0;

	*hops = 0;
	memcpy(u->load, u->base, g->n_arcs * sizeof(*u->load));
	if (!up_down_rank(u, root))
		return -1;
	for (uint32_t dst = 0; dst < g->n; dst++) {
		routed += up_down_resolve(u, dst, 0);
		for (uint32_t x = 0; x < g->n; x++) {
			*hops += u->next[x] ? u->hops[x] : 0;
			u->flow[x] = u->sends[(size_t)x * g->n + dst];
		}
		up_down_send(u, dst, false);
		up_down_send(u, dst, true);
	}
	if (routed < u->pairs)
		return -1;
	to_port_loads_set(&u->ports, u->load);
	return to_port_loads_seconds(&u->ports);
}

/* Return: the best root, TO_SERVER_NONE when there is none. */
static uint32_t up_down_root(struct up_down *u)
{
	const double steps = (double)u->graph->n * (u->graph->n_arcs + u->graph->n);
	const unsigned int n = u->graph->n, tries = UP_DOWN_STEPS / steps < n ? UP_DOWN_STEPS / steps + 1 : n;
	uint32_t best = TO_SERVER_NONE;
	uint64_t hops, fewest = 0;
	double least = 0, seconds;

	for (unsigned int i = 0; i < tries; i++) {
		const uint32_t root = (uint64_t)i * n / tries;

		seconds = up_down_try(u, root, &hops);
		if (seconds < 0 || (best != TO_SERVER_NONE &&
				    (seconds > least || (seconds == least && hops >= fewest))))
			continue;
		best = root;
		least = seconds;
		fewest = hops;
	}
	return best;
}

/* Return: index of the group of @x with its next hops, or a negative errno. */
static int up_down_group(struct up_down *u, uint32_t x)
{
	struct to_nexthop nexthops[UP_DOWN_NEXT_HOPS];
	struct to_table *table = &u->plan->tables[x];
	unsigned int n = 0;
	uint64_t *groups;

	for (unsigned int i = 0; i < u->n_groups[x]; i++)
		if (u->groups[x][i] == u->next[x])
			return i;
	groups = reallocarray(u->groups[x], u->n_groups[x] + 1, sizeof(*groups));
	if (!groups)
		return -ENOMEM;
	u->groups[x] = groups;
	groups[u->n_groups[x]++] = u->next[x];
	for (uint64_t left = u->next[x]; left; left &= left - 1)
		nexthops[n++] = to_nexthop_on(u->plan, u->graph, u->graph->out[x] + __builtin_ctzll(left));
	return to_plan_new_group(table, nexthops, n);
}

/* The address that was resolved into the tables. */
static int up_down_install(struct up_down *u, uint32_t dst, unsigned int slot)
{
	struct to_plan *plan = u->plan;
	double stretch;
	int group;

	if (slot)
		to_graph_port_distances(u->graph, dst, slot - 1, u->distance, u->queue);
	else
		to_graph_distances(u->graph, dst, TO_SERVER_NONE, u->distance, u->queue);
	for (uint32_t x = 0; x < u->graph->n; x++) {
		if (!u->next[x])
			continue;
		group = up_down_group(u, x);
		if (group < 0)
			return group;
		plan->tables[x].route[(size_t)dst * plan->slots + slot] = group;
		stretch = (double)u->hops[x] / u->distance[x];
		if (stretch > plan->max_stretch)
			plan->max_stretch = stretch;
	}
	return 0;
}

/* RDMA from @src to @dst divides alike over the ports that it reaches. */
static void up_down_share(struct up_down *u, uint32_t src, uint32_t dst)
{
	const struct to_plan *plan = u->plan;
	const uint16_t *route = &plan->tables[src].route[(size_t)dst * plan->slots];
	uint16_t *shares = &plan->port_shares[((size_t)src * u->graph->n + dst) * (plan->slots - 1)];
	unsigned int ports = 0, at = 0;

	for (unsigned int q = 1; q < plan->slots; q++)
		ports += route[q] != TO_GROUP_NONE;
	for (unsigned int q = 1; q < plan->slots; q++)
		if (route[q] != TO_GROUP_NONE) {
			shares[q - 1] = (at + 1) * TO_PORT_SHARES / ports - at * TO_PORT_SHARES / ports;
			at++;
		}
}

static int up_down_fill(struct up_down *u, uint32_t root)
{
	const struct to_graph *g = u->graph;
	struct to_plan *plan = u->plan;
	int ret = to_plan_renew_tables(plan);

	free(plan->port_shares);
	plan->port_shares = calloc((size_t)g->n * g->n * (plan->slots - 1) + 1, sizeof(*plan->port_shares));
	if (ret || !plan->port_shares)
		return -ENOMEM;
	up_down_rank(u, root);
	for (uint32_t dst = 0; dst < g->n && !ret; dst++)
		for (unsigned int slot = 0; slot < plan->slots && !ret; slot++) {
			up_down_resolve(u, dst, slot);
			ret = up_down_install(u, dst, slot);
		}
	for (uint32_t src = 0; src < g->n && !ret; src++)
		for (uint32_t dst = 0; dst < g->n; dst++)
			if (plan->demand->mp[(size_t)src * g->n + dst])
				up_down_share(u, src, dst);
	return ret;
}

static int up_down_init(struct up_down *u)
{
	const struct to_cluster *c = u->plan->cluster;
	const struct to_rings rings = to_allreduce_of(u->plan);
	struct to_arena *arena = &u->arena;
	unsigned int n;

	u->graph = to_graph_new(c->n_servers, c->links, c->n_links, c->link_mode);
	if (!u->graph)
		return -ENOMEM;
	n = u->graph->n;
	u->sends = to_allreduce_and_mp_routed(&rings, u->graph);
	u->rank = to_arena_array(arena, n, sizeof(*u->rank));
	u->order = to_arena_array(arena, n, sizeof(*u->order));
	u->queue = to_arena_array(arena, n, sizeof(*u->queue));
	u->hops = to_arena_array(arena, n, sizeof(*u->hops));
	u->distance = to_arena_array(arena, n, sizeof(*u->distance));
	u->down = to_arena_array(arena, n, sizeof(*u->down));
	u->next = to_arena_array(arena, n, sizeof(*u->next));
	u->base = to_arena_array(arena, u->graph->n_arcs + 1, sizeof(*u->base));
	u->load = to_arena_array(arena, u->graph->n_arcs + 1, sizeof(*u->load));
	u->flow = to_arena_array(arena, n, sizeof(*u->flow));
	u->groups = to_arena_array(arena, n, sizeof(*u->groups));
	u->n_groups = to_arena_array(arena, n, sizeof(*u->n_groups));
	if (!u->sends || arena->failed || to_port_loads_init(&u->ports, u->graph, c))
		return -ENOMEM;
	to_allreduce_link_bytes(&rings, u->graph, u->base);
	for (uint32_t dst = 0; dst < n; dst++)
		u->pairs += to_graph_distances(u->graph, dst, TO_SERVER_NONE, u->distance, u->order) - 1;
	return 0;
}

int to_up_down_fill(struct to_plan *plan, struct to_error *err)
{
	struct up_down u = { .plan = plan };
	uint32_t root;
	int ret;

	if (plan->cluster->n_packet_switches)
		return to_error_set(err, -EOPNOTSUPP,
				    "packet switches have buffers that routes up and routes down share: no order of servers keeps these apart");
	ret = up_down_init(&u);
	if (!ret) {
		root = up_down_root(&u);
		ret = root == TO_SERVER_NONE ? -EOPNOTSUPP : up_down_fill(&u, root);
	}
	for (uint32_t x = 0; u.groups && u.n_groups && x < u.graph->n; x++)
		free(u.groups[x]);
	free(u.sends);
	to_port_loads_free(&u.ports);
	to_arena_free(&u.arena);
	to_graph_free(u.graph);
	plan->no_buffer_cycles = !ret;
	if (ret == -EOPNOTSUPP)
		return to_error_set(err, ret,
				    "on these links, no order of servers joins all of them by routes that go up, then down%s",
				    plan->cluster->link_mode == TO_LINKS_DUPLEX ? "" : ": duplex links have one");
	return !ret ? 0 : to_error_set(err, ret, ret == -ENOMEM ? "out of memory" :
				       "a table has more than 65534 groups of next hops");
}
