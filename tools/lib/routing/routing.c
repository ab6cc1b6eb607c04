// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/effort.h"
#include "data/allreduce.h"
#include "graph/spf.h"
#include "routing/alternates.h"
#include "routing/forwarding.h"
#include "routing/ingress.h"
#include "routing/routing.h"
#include "routing/source_routes.h"
#include "routing/up_down.h"
#include "routing/wcmp.h"

#define ROUTING_EQUAL 2		/* equal-cost next hops where there is no demand */
#define ROUTING_STEPS 4e6	/* arcs looked at while balancing, with these limits: */
#define ROUTING_PASSES_MIN 32
#define ROUTING_PASSES_MAX 96
#define ROUTING_ROUND 3		/* passes of to_wcmp_round() */
#define ROUTING_BATCH 8		/* destinations that are put into tables together */
#define ROUTING_UNBOUNDED 1e9	/* stretch of any path */
#define ROUTING_GAIN 1.01	/* over the bound, for routes of pairs to be worth a look */

/*
 * Next hops as arcs counted from the first of the server, unused ones zero, so
 * that nine million routes are compared as numbers, by the words that @n next
 * hops take; no next hop is no route.
 */
struct hop {
	uint8_t arc, weight;
};

struct hops {
	uint16_t n;
	struct hop hop[TO_WCMP_NEXT_HOPS];
	uint8_t zero[6];
};

union hops_key {
	struct hops hops;
	uint64_t word[sizeof(struct hops) / sizeof(uint64_t)];
};

_Static_assert(sizeof(struct hops) % sizeof(uint64_t) == 0, "zero[] fills the last word");

struct group_slot {
	union hops_key key;
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
	uint64_t *routed;		/* MP transfers, and hops of rings without links */
	struct to_spf spf;
	struct to_wcmp wcmp;
	double least_time;		/* that any routes take */
	struct to_ingress ingress;
	struct group_cache *caches;	/* per server */
	/*
	 * Routes of all servers to ROUTING_BATCH destinations, in the order of
	 * to_table.route: trees come by destination, tables go by server
	 */
	struct hops *hops;
};

static unsigned int routing_words(const union hops_key *key)
{
	return key->hops.n * sizeof(struct hop) / sizeof(*key->word) + 1;
}

static bool routing_same(const union hops_key *a, const union hops_key *b)
{
	unsigned int n = routing_words(a), i;

	for (i = 0; i < n && a->word[i] == b->word[i]; i++)
		;
	return i == n;
}

/* The slot that has @key, or the empty one where it belongs. */
static struct group_slot *routing_slot(struct group_slot *slots, unsigned int room,
				       const union hops_key *key)
{
	unsigned int n = routing_words(key), i, at;
	uint64_t hash = 0;

	for (i = 0; i < n; i++)
		hash = ((hash ^ hash >> 29) + key->word[i]) * 0x9e3779b97f4a7c15;
	at = (hash ^ hash >> 29) & (room - 1);
	while (slots[at].key.hops.n && !routing_same(&slots[at].key, key))
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
		if (cache->slots[i].key.hops.n)
			*routing_slot(slots, room, &cache->slots[i].key) = cache->slots[i];
	free(cache->slots);
	cache->slots = slots;
	cache->room = room;
	return 0;
}

/* Return: index of the group of @x with these next hops, or a negative errno. */
static int routing_group(struct routing *r, uint32_t x, const struct hops *hops)
{
	struct group_cache *cache = &r->caches[x];
	struct to_nexthop nexthops[TO_WCMP_NEXT_HOPS];
	union hops_key key = { *hops };
	unsigned int n = hops->n, i;
	struct group_slot *slot;
	int group;

	if (2 * cache->n >= cache->room && routing_cache_grow(cache))
		return -ENOMEM;
	slot = routing_slot(cache->slots, cache->room, &key);
	if (slot->key.hops.n)
		return slot->group;
	for (i = 0; i < n; i++) {
		struct hop hop = hops->hop[i];

		nexthops[i] = to_nexthop_on(r->plan, r->graph, r->graph->out[x] + hop.arc);
		nexthops[i].weight = hop.weight;
	}
	group = to_plan_new_group(&r->plan->tables[x], nexthops, n);
	slot->key = key;
	slot->group = group;
	cache->n++;
	return group;
}

static struct hops *routing_entry(struct routing *r, uint32_t x, uint32_t dst, unsigned int slot)
{
	return &r->hops[((size_t)x * ROUTING_BATCH + dst % ROUTING_BATCH) * r->plan->slots + slot];
}

/* Routes of the batch that ends before destination @end into the tables. */
static int routing_flush(struct routing *r, uint32_t end)
{
	unsigned int slots = r->plan->slots, n_routes, i;
	uint32_t first = (end - 1) / ROUTING_BATCH * ROUTING_BATCH, x;

	n_routes = (end - first) * slots;
	for (x = 0; x < r->graph->n; x++) {
		uint16_t *route = &r->plan->tables[x].route[(size_t)first * slots];
		struct hops *hops = routing_entry(r, x, first, 0);

		for (i = 0; i < n_routes; i++) {
			int group;

			if (!hops[i].n)
				continue;
			group = routing_group(r, x, &hops[i]);
			if (group < 0)
				return group;
			route[i] = group;
			hops[i].n = 0;
		}
	}
	return 0;
}

/* Equal next hops out of @choices. */
static struct hops routing_equal(uint64_t choices)
{
	struct hops hops = { 0 };

	for (; choices && hops.n < ROUTING_EQUAL; choices &= choices - 1)
		hops.hop[hops.n++] = (struct hop){ __builtin_ctzll(choices), 1 };
	return hops;
}

/* Those of @choices, by their weights. */
static struct hops routing_weighted(uint64_t choices, const uint8_t *weight)
{
	struct hops hops = { 0 };

	for (; choices; choices &= choices - 1) {
		unsigned int arc = __builtin_ctzll(choices);

		hops.hop[hops.n++] = (struct hop){ arc, weight[arc] };
	}
	if (hops.n == 1)
		hops.hop[0].weight = 1;
	return hops;
}

/*
 * Routes to an address of @dst along the shortest-path DAG, whose root needs none here.
 * Servers that carry demand use the next hops that balance it instead.
 * @weight: per arc, NULL when there is no demand
 */
static void routing_fill_address(struct routing *r, uint32_t dst, unsigned int slot,
				 const uint8_t *weight)
{
	const struct to_graph *g = r->graph;
	const struct to_spf *spf = &r->spf;
	unsigned int i;
	uint32_t a;

	for (i = 1; i < spf->n_reached; i++) {
		uint32_t x = spf->order[i];
		uint64_t used = 0;

		for (a = g->out[x]; weight && a < g->out[x + 1]; a++)
			used |= weight[a] ? 1ull << (a - g->out[x]) : 0;
		*routing_entry(r, x, dst, slot) = used ?
			routing_weighted(used, weight + g->out[x]) :
			routing_equal(spf->choices[x]);
	}
}

/* Paths to port number @k that arcs enter @dst by, which is @port. */
static void routing_fill_port(struct routing *r, uint32_t dst, unsigned int k, unsigned int port)
{
	bool demand = r->wcmp.row[dst] != UINT32_MAX;

	if (demand)
		to_ingress_take(&r->ingress, k);
	to_spf_grow_port(&r->spf, r->graph, dst, port);
	routing_fill_address(r, dst, 1 + port, demand ? r->ingress.weight : NULL);
}

/* How the MP transfers to @dst divide over its ports when they are RDMA. */
static void routing_share_ports(struct routing *r, uint32_t dst)
{
	const struct to_graph *g = r->graph;
	unsigned int ports = r->plan->slots - 1, parts[TO_PORTS_MAX], k;
	uint32_t x;

	for (x = 0; x < g->n; x++) {
		size_t pair = (size_t)x * g->n + dst;

		if (!r->plan->demand->mp[pair] || !(r->ingress.bytes[x] > 0))
			continue;
		to_ingress_divide(&r->ingress, x, TO_PORT_SHARES, parts);
		for (k = 0; k < r->ingress.n_in; k++)
			r->plan->port_shares[pair * ports + r->ingress.port[k]] = parts[k];
	}
}

static void routing_fill_server(struct routing *r, uint32_t dst)
{
	const struct to_graph *g = r->graph;
	uint32_t row = r->wcmp.row[dst];
	unsigned int port[TO_PORTS_MAX], n = to_ingress_ports(g, dst, port), k;

	to_spf_grow(&r->spf, g, dst, TO_SERVER_NONE);
	routing_fill_address(r, dst, 0, row == UINT32_MAX ? NULL :
			     r->wcmp.weight + (size_t)row * g->n_arcs);
	if (row != UINT32_MAX) {
		to_ingress_resolve(&r->ingress, row);
		routing_share_ports(r, dst);
	}
	for (k = 0; k < n; k++)
		routing_fill_port(r, dst, k, port[k]);
}

static int routing_fill_tables(struct routing *r)
{
	const struct to_graph *g = r->graph;
	size_t n = g->n, slots = r->plan->slots;
	uint32_t dst;
	int ret = -ENOMEM;

	r->hops = calloc(n * ROUTING_BATCH * slots, sizeof(*r->hops));
	r->plan->port_shares = calloc(n * n * (slots - 1) + 1, sizeof(*r->plan->port_shares));
	if (r->hops && r->plan->port_shares)
		ret = to_ingress_init(&r->ingress, &r->wcmp);
	for (dst = 0; !ret && dst < g->n; dst++) {
		routing_fill_server(r, dst);
		if ((dst + 1) % ROUTING_BATCH == 0 || dst + 1 == g->n)
			ret = routing_flush(r, dst + 1);
	}
	return ret;
}

static int routing_split(struct to_wcmp *wcmp, const struct to_cluster *cluster,
			 const struct to_graph *graph, const struct to_rings *rings,
			 const uint64_t *routed, double stretch)
{
	double *base = calloc(graph->n_arcs + 1, sizeof(*base));
	int ret;

	if (!base)
		return -ENOMEM;
	to_allreduce_link_bytes(rings, graph, base);
	ret = to_wcmp_init(wcmp, graph, cluster, routed, base, stretch);
	free(base);
	return ret;
}

/* Small plans get more passes: with few paths loads are coarse, and passes are quick. */
static unsigned int routing_passes(const struct routing *r, unsigned int effort)
{
	double steps = (double)r->wcmp.n_roots * r->graph->n_arcs;
	double passes = steps > 0 ? ROUTING_STEPS / steps : 0;

	passes = fmin(fmax(passes, ROUTING_PASSES_MIN), ROUTING_PASSES_MAX);
	return ceil(to_effort_steps(passes, effort));
}

static void routing_free(struct routing *r)
{
	unsigned int i;

	free(r->routed);
	if (!r->graph)
		return;
	for (i = 0; r->caches && i < r->graph->n; i++)
		free(r->caches[i].slots);
	free(r->caches);
	free(r->hops);
	to_ingress_free(&r->ingress);
	to_wcmp_free(&r->wcmp);
	to_spf_free(&r->spf);
	to_graph_free(r->graph);
}

static int routing_error(struct to_error *err, int ret)
{
	if (ret == -ENOMEM)
		to_error_set(err, ret, "out of memory");
	else if (ret)
		to_error_set(err, ret, "a table has more than 65534 groups of next hops");
	return ret;
}

/* Route the demand over the links. Return: 0 or -ENOMEM. */
static int routing_balance(struct routing *r, unsigned int effort, double stretch)
{
	const struct to_plan *plan = r->plan;
	const struct to_cluster *cluster = plan->cluster;
	struct to_rings rings = to_allreduce_of(plan);
	int ret = -ENOMEM;

	r->graph = to_graph_new(cluster->n_servers, cluster->links, cluster->n_links,
				cluster->link_mode);
	if (r->graph)
		r->routed = to_allreduce_and_mp_routed(&rings, r->graph);
	if (r->routed)
		ret = routing_split(&r->wcmp, cluster, r->graph, &rings, r->routed, stretch);
	if (ret)
		return ret;
	to_wcmp_balance(&r->wcmp, routing_passes(r, effort));
	/* weights that are rounded make the prices, and so the bound, worse */
	r->least_time = effort > TO_EFFORT_MIN ? to_wcmp_bound(&r->wcmp) : 0;
	return to_wcmp_round(&r->wcmp, ROUTING_ROUND);
}

static int routing_tables(struct routing *r)
{
	r->caches = calloc(r->graph->n, sizeof(*r->caches));
	if (!r->caches || to_spf_init(&r->spf, r->graph) || to_plan_alloc_tables(r->plan))
		return -ENOMEM;
	return routing_fill_tables(r);
}

int to_routing_primaries(struct to_plan *plan, unsigned int effort, struct to_error *err)
{
	struct routing r = { .plan = plan };
	int ret;

	if (plan->no_buffer_cycles)
		return to_up_down_fill(plan, err);
	ret = routing_balance(&r, effort, plan->max_stretch ?: TO_STRETCH_DEFAULT);
	if (!ret)
		ret = routing_tables(&r);
	if (!ret && effort > TO_EFFORT_MIN &&
	    to_wcmp_busiest(&r.wcmp) > ROUTING_GAIN * to_wcmp_bound(&r.wcmp))
		ret = to_source_routes_relieve(plan, r.graph);
	plan->least_time = r.least_time;
	routing_free(&r);
	return routing_error(err, ret);
}

int to_routing_backups(struct to_plan *plan, struct to_error *err)
{
	const struct to_cluster *cluster = plan->cluster;
	struct to_graph *graph = to_graph_new(cluster->n_servers, cluster->links, cluster->n_links,
					      cluster->link_mode);
	int ret = graph ? to_alternates_fill(plan, graph) : -ENOMEM;

	to_graph_free(graph);
	return routing_error(err, ret);
}

int to_routing_fill(struct to_plan *plan, unsigned int effort, struct to_error *err)
{
	int ret = to_routing_primaries(plan, effort, err);

	return ret ? ret : to_routing_backups(plan, err);
}

int to_routing_unbounded(struct to_plan *plan, unsigned int effort, double *seconds)
{
	struct routing r = { .plan = plan };
	int ret = routing_balance(&r, effort, ROUTING_UNBOUNDED);

	if (!ret)
		*seconds = to_wcmp_busiest(&r.wcmp);
	routing_free(&r);
	return ret;
}
