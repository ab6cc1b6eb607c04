// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "allreduce.h"
#include "effort.h"
#include "load.h"
#include "pair.h"
#include "routing.h"
#include "tree.h"

#define ROUTING_WAYS 2		/* equal next hops where there is no demand */
#define ROUTING_WAYS_MAX 3	/* weighted next hops */
#define ROUTING_WEIGHTS 8	/* what they add up to, about; every mix is a group */
#define ROUTING_SETTLED 0.99	/* a pass must take this much off the busiest link */
#define ROUTING_PASSES 8
#define ROUTING_PARTS 4		/* shares of the demand, per server on average */
#define ROUTING_BATCH 8		/* destinations that are put into tables together */
#define ROUTING_NOTICED 0.002	/* of what the busiest link carries */

/*
 * Next hops as a number: how many in 2 bits, per next hop 4 bits of weight and
 * 6 of arc (counted from the first of the server), then the backup. Nine
 * million routes then need no comparison of next hops; 0 is no route.
 */
typedef uint64_t hops_key;

struct group_slot {
	hops_key key;
	uint16_t group;
};

/* Group numbers of one server by content. */
struct group_cache {
	unsigned int n, room;	/* room is a power of two */
	struct group_slot *slots;
};

struct routing {
	struct to_plan *plan;
	struct to_graph *graph;
	struct to_tree tree;
	struct group_cache *caches;	/* per server */
	/*
	 * Routes of all servers to ROUTING_BATCH destinations, in the order of
	 * to_table.route: trees come by destination, tables go by server
	 */
	hops_key *keys;
	/* trees of all node addresses, n x n, row = root */
	uint32_t *order;
	unsigned int *n_reached;
	uint64_t *choices;
	/*
	 * shares of the demand for each root: how many, the first of them, and
	 * per share the choices it took, n each
	 */
	unsigned int *parts, *first_part;
	uint8_t *taken, *taken_best;
	struct to_load load;
};

/* The slot that has @key, or the empty one where it belongs. */
static struct group_slot *routing_slot(struct group_slot *slots, unsigned int room, hops_key key)
{
	uint64_t hash = key * 0x9e3779b97f4a7c15;
	unsigned int at = (hash ^ hash >> 29) & (room - 1);

	while (slots[at].key && slots[at].key != key)
		at = (at + 1) & (room - 1);
	return &slots[at];
}

static int routing_cache_grow(struct group_cache *cache)
{
	unsigned int room = cache->room ? 2 * cache->room : 64, i;
	struct group_slot *slots = calloc(room, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (i = 0; i < cache->room; i++)
		if (cache->slots[i].key)
			*routing_slot(slots, room, cache->slots[i].key) = cache->slots[i];
	free(cache->slots);
	cache->slots = slots;
	cache->room = room;
	return 0;
}

/* Next hops of a group as arcs counted from the first of the server. */
struct hops {
	unsigned int n;
	uint8_t arc[ROUTING_WAYS_MAX], weight[ROUTING_WAYS_MAX], backup;
};

static hops_key routing_key(const struct hops *hops)
{
	hops_key key = hops->backup;
	unsigned int i;

	for (i = hops->n; i--;)
		key = key << 10 | hops->arc[i] << 4 | hops->weight[i];
	return key << 2 | hops->n;
}

/* Return: index of the group of @x with these next hops, or a negative errno. */
static int routing_group(struct routing *r, uint32_t x, hops_key key)
{
	const uint32_t *port = &r->graph->port[r->graph->out[x]];
	struct group_cache *cache = &r->caches[x];
	struct to_nexthop hops[ROUTING_WAYS_MAX + 1];
	unsigned int n = key & 3, i;
	struct group_slot *slot;
	int group;

	if (2 * cache->n >= cache->room && routing_cache_grow(cache))
		return -ENOMEM;
	slot = routing_slot(cache->slots, cache->room, key);
	if (slot->key)
		return slot->group;
	slot->key = key;
	for (i = 0, key >>= 2; i < n; i++, key >>= 10)
		hops[i] = (struct to_nexthop){ port[key >> 4 & 63], key & 15, false };
	if (key != TO_ARC_NONE)
		hops[n++] = (struct to_nexthop){ port[key], 1, true };
	group = to_plan_add_group(&r->plan->tables[x], hops, n);
	slot->group = group;
	cache->n++;
	return group;
}

static hops_key *routing_entry(struct routing *r, uint32_t x, uint32_t dst, unsigned int slot)
{
	return &r->keys[((size_t)x * ROUTING_BATCH + dst % ROUTING_BATCH) * r->plan->slots + slot];
}

/* Routes of the batch that ends before destination @end into the tables. */
static int routing_flush(struct routing *r, uint32_t end)
{
	unsigned int slots = r->plan->slots, n_routes, i;
	uint32_t first = (end - 1) / ROUTING_BATCH * ROUTING_BATCH, x;

	n_routes = (end - first) * slots;
	for (x = 0; x < r->graph->n; x++) {
		uint16_t *route = &r->plan->tables[x].route[(size_t)first * slots];
		hops_key *keys = routing_entry(r, x, first, 0);

		for (i = 0; i < n_routes; i++) {
			int group;

			if (!keys[i])
				continue;
			group = routing_group(r, x, keys[i]);
			if (group < 0)
				return group;
			route[i] = group;
			keys[i] = 0;
		}
	}
	return 0;
}

/* Equal next hops out of @choices; one that is alone gets a backup. */
static struct hops routing_equal(uint64_t choices, uint8_t backup)
{
	struct hops hops = { .backup = TO_ARC_NONE };

	for (; choices && hops.n < ROUTING_WAYS; choices &= choices - 1) {
		hops.arc[hops.n] = __builtin_ctzll(choices);
		hops.weight[hops.n++] = 1;
	}
	if (hops.n == 1)
		hops.backup = backup;
	return hops;
}

/*
 * Choices weighted by the bytes that took them in all shares together, which is
 * what puts the same load on the links. One alone gets a backup.
 */
static struct hops routing_weighted(uint64_t choices, uint8_t backup, const uint8_t *taken,
				    const double *flow, size_t stride, unsigned int n_parts)
{
	double bytes[64] = { 0 }, all = 0;
	struct hops hops = { .backup = TO_ARC_NONE };
	unsigned int i, divisor;

	for (i = 0; i < n_parts; i++)
		if (choices >> taken[i * stride] & 1)
			bytes[taken[i * stride]] += flow[i * stride];
	while (choices && hops.n < ROUTING_WAYS_MAX) {
		unsigned int most = __builtin_ctzll(choices);
		uint64_t left;

		for (left = choices; left; left &= left - 1)
			if (bytes[__builtin_ctzll(left)] > bytes[most])
				most = __builtin_ctzll(left);
		/* less than half a weight is not worth a next hop */
		if (hops.n && bytes[most] * 2 * ROUTING_WEIGHTS < all)
			break;
		all += bytes[most];
		hops.arc[hops.n++] = most;
		choices &= ~(1ull << most);
	}
	for (i = 0; i < hops.n; i++) {
		double weight = all > 0 ? round(bytes[hops.arc[i]] * ROUTING_WEIGHTS / all) : 1;

		hops.weight[i] = weight < 1 ? 1 : weight;
	}
	for (divisor = ROUTING_WEIGHTS; divisor > 1; divisor--) {
		for (i = 0; i < hops.n && hops.weight[i] % divisor == 0; i++)
			;
		if (i < hops.n)
			continue;
		for (i = 0; i < hops.n; i++)
			hops.weight[i] /= divisor;
	}
	if (hops.n == 1)
		hops.backup = choices ? __builtin_ctzll(choices) : backup;
	return hops;
}

static struct to_tree routing_tree(const struct routing *r, uint32_t root)
{
	size_t row = (size_t)root * r->graph->n;

	return (struct to_tree){ .n_reached = r->n_reached[root], .order = r->order + row,
				 .choices = r->choices + row };
}

static int routing_grow_trees(struct routing *r)
{
	size_t n = r->graph->n;
	uint32_t root;

	r->order = calloc(n * n, sizeof(*r->order));
	r->n_reached = calloc(n, sizeof(*r->n_reached));
	r->choices = calloc(n * n, sizeof(*r->choices));
	if (!r->order || !r->n_reached || !r->choices)
		return -ENOMEM;
	for (root = 0; root < n; root++) {
		struct to_tree row = routing_tree(r, root);

		to_tree_grow(&r->tree, r->graph, root, TO_SERVER_NONE);
		r->n_reached[root] = r->tree.n_reached;
		memcpy(row.order, r->tree.order, n * sizeof(*row.order));
		memcpy(row.choices, r->tree.choices, n * sizeof(*row.choices));
	}
	return 0;
}

/* Send every share, after taking back where it went before if it did. */
static void routing_pass(struct routing *r, bool again)
{
	struct to_load *load = &r->load;
	size_t n = r->graph->n;
	unsigned int part, a;
	uint32_t root;

	for (part = 0; part < TO_LOAD_PARTS_MAX; part++) {
		for (root = 0; root < n; root++) {
			struct to_tree tree = routing_tree(r, root);
			uint8_t *taken = r->taken + (r->first_part[root] + part) * n;

			if (part >= r->parts[root])
				continue;
			if (again)
				to_load_follow(load, &tree, taken, -1.0 / r->parts[root]);
			to_load_spread(load, &tree, 1.0 / r->parts[root]);
			memcpy(taken, load->choice, n);
		}
	}
	load->busiest = 0;
	for (a = 0; a < r->graph->n_arcs; a++)
		to_load_add(load, a, 0);
}

/*
 * Send the demand in shares, then send each again at the loads of all others
 * while that helps.
 */
static int routing_balance(struct routing *r, unsigned int effort)
{
	size_t n = r->graph->n, n_parts = 0;
	unsigned int pass, passes = ceil(to_effort_steps(ROUTING_PASSES, effort));
	double best = r->load.busiest;
	uint32_t root;

	r->parts = calloc(2 * n, sizeof(*r->parts));
	if (!r->parts)
		return -ENOMEM;
	r->first_part = r->parts + n;
	to_load_parts(&r->load, ROUTING_PARTS, r->parts);
	for (root = 0; root < n; root++) {
		r->first_part[root] = n_parts;
		n_parts += r->parts[root];
	}
	r->taken = malloc(n_parts * n + 1);
	r->taken_best = malloc(n_parts * n + 1);
	if (!r->taken || !r->taken_best)
		return -ENOMEM;
	routing_pass(r, false);
	for (pass = 1; pass <= passes; pass++) {
		best = r->load.busiest;
		memcpy(r->taken_best, r->taken, n_parts * n);
		routing_pass(r, true);
		if (r->load.busiest > best * ROUTING_SETTLED)
			break;
	}
	if (r->load.busiest > best)
		memcpy(r->taken, r->taken_best, n_parts * n);
	return 0;
}

/* Bytes of every share of the demand for the root through every server. */
static void routing_flows(const struct routing *r, const struct to_tree *tree,
			  const uint8_t *taken, double *flow)
{
	const struct to_graph *g = r->graph;
	uint32_t root = tree->order[0];
	unsigned int parts = r->parts[root], part, i;

	memset(flow, 0, parts * g->n * sizeof(*flow));
	for (part = 0; part < parts; part++, flow += g->n, taken += g->n) {
		for (i = tree->n_reached; i-- > 1;) {
			uint32_t x = tree->order[i];

			flow[x] += (double)r->load.demand[(size_t)x * g->n + root] / parts;
			if (flow[x] > 0)
				flow[g->to[g->out[x] + taken[x]]] += flow[x];
		}
	}
}

/*
 * What carries demand has the next hops that balance it. Where the busiest
 * link would not notice, it makes way for backups, as what carries none does.
 */
static void routing_fill_node(struct routing *r, uint32_t root, bool *busy, bool *keep,
			      double *flow)
{
	const struct to_graph *g = r->graph;
	struct to_tree *tree = &r->tree;
	size_t n = g->n;
	const uint8_t *taken = r->taken + r->first_part[root] * n;
	unsigned int parts = r->parts[root], i, part;

	to_tree_grow(tree, g, root, TO_SERVER_NONE);
	routing_flows(r, tree, taken, flow);
	for (i = 1; i < tree->n_reached; i++) {
		uint32_t x = tree->order[i];
		uint64_t used = 0;
		double bytes = 0;

		for (part = 0; part < parts; part++) {
			if (flow[part * n + x] > 0)
				used |= 1ull << taken[part * n + x];
			bytes += flow[part * n + x];
		}
		if (used)
			tree->choices[x] = used;
		busy[x] = used;
		keep[x] = bytes * r->load.seconds_per_byte[g->out[x]] >
			  r->load.busiest * ROUTING_NOTICED;
	}
	to_tree_protect(tree, g, keep);
	for (i = 1; i < tree->n_reached; i++) {
		uint32_t x = tree->order[i];
		struct hops hops = busy[x] ?
			routing_weighted(tree->choices[x], tree->backup[x], taken + x, flow + x, n,
					 parts) :
			routing_equal(tree->choices[x], tree->backup[x]);

		*routing_entry(r, x, root, 0) = routing_key(&hops);
	}
}

/* Ways to the port that @arc enters: to its peer, without the server itself. */
static void routing_fill_port(struct routing *r, uint32_t arc)
{
	const struct to_graph *g = r->graph;
	struct to_tree *tree = &r->tree;
	unsigned int i;

	to_tree_grow(tree, g, g->from[arc], g->to[arc]);
	to_tree_protect(tree, g, NULL);
	for (i = 0; i < tree->n_reached; i++) {
		uint32_t x = tree->order[i];
		/* the peer has no other way into this port */
		struct hops hops = i ? routing_equal(tree->choices[x], tree->backup[x]) :
			routing_equal(1ull << (arc - g->out[x]), TO_ARC_NONE);

		*routing_entry(r, x, g->to[arc], 1 + g->peer_port[arc]) = routing_key(&hops);
	}
}

static int routing_fill_tables(struct routing *r)
{
	const struct to_graph *g = r->graph;
	bool *busy = calloc(2 * (size_t)g->n, sizeof(*busy));
	double *flow = calloc((size_t)g->n * TO_LOAD_PARTS_MAX, sizeof(*flow));
	uint32_t dst, i;
	int ret = -ENOMEM;

	r->keys = calloc((size_t)g->n * ROUTING_BATCH * r->plan->slots, sizeof(*r->keys));
	if (busy && flow && r->keys)
		ret = 0;
	for (dst = 0; !ret && dst < g->n; dst++) {
		routing_fill_node(r, dst, busy, busy + g->n, flow);
		for (i = g->in[dst]; i < g->in[dst + 1]; i++)
			routing_fill_port(r, g->in_arc[i]);
		if ((dst + 1) % ROUTING_BATCH == 0 || dst + 1 == g->n)
			ret = routing_flush(r, dst + 1);
	}
	free(busy);
	free(flow);
	return ret;
}

static void routing_free(struct routing *r)
{
	unsigned int i;

	for (i = 0; r->caches && i < r->graph->n; i++)
		free(r->caches[i].slots);
	free(r->caches);
	free(r->keys);
	free(r->order);
	free(r->n_reached);
	free(r->choices);
	free(r->parts);
	free(r->taken);
	free(r->taken_best);
	to_load_free(&r->load);
	to_tree_free(&r->tree);
	to_graph_free(r->graph);
}

int to_routing_fill(struct to_plan *plan, unsigned int effort,
		    struct to_error *err)
{
	struct to_cluster *cluster = plan->cluster;
	struct to_rings rings = to_allreduce_of(plan);
	uint64_t *routed = to_allreduce_routed(&rings, true);
	struct routing r = { .plan = plan };
	uint32_t a;
	int ret = -ENOMEM;

	r.graph = to_graph_new(cluster->n_servers, cluster->links, cluster->n_links,
			       cluster->link_mode);
	if (!routed || !r.graph)
		goto out;
	r.caches = calloc(r.graph->n, sizeof(*r.caches));
	if (!r.caches || to_tree_init(&r.tree, r.graph) ||
	    to_load_init(&r.load, r.graph, cluster, routed) || to_plan_alloc_tables(plan))
		goto out;
	for (a = 0; a < r.graph->n_arcs; a++)
		to_load_add(&r.load, a, to_allreduce_arc_bytes(&rings, r.graph, a));
	ret = routing_grow_trees(&r);
	if (!ret)
		ret = routing_balance(&r, effort);
	if (!ret)
		ret = routing_fill_tables(&r);
	if (!ret)
		ret = to_pair_relieve(plan, r.graph);
out:
	if (ret == -ENOMEM)
		to_error_set(err, ret, "out of memory");
	else if (ret)
		to_error_set(err, ret, "a table has more than 65534 groups of next hops");
	if (r.graph)
		routing_free(&r);
	free(routed);
	return ret;
}
