// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/allreduce.h"
#include "data/allreduce_steps.h"

#define SHARES_ERROR 1e-6	/* of the shares of a group's trees, which add up to 1 */

struct to_rings to_allreduce_of(const struct to_plan *plan)
{
	return (struct to_rings){ to_plan_layout(plan), plan->demand };
}

/* Walk from every member to the root. @seen: per member, 1 + the first walk there. */
static int allreduce_climb(const struct to_allreduce_tree *tree, const uint32_t *members,
			   const uint32_t *place, uint32_t *seen, struct to_error *err)
{
	unsigned int i, at;

	for (i = 0; i < tree->n; i++) {
		for (at = i; !seen[at]; at = place[tree->parents[at]]) {
			seen[at] = i + 1;
			if (tree->parents[at] == TO_SERVER_NONE)
				break;
		}
		/* back where this walk has been, and that is not its end */
		if (seen[at] == i + 1 && tree->parents[at] != TO_SERVER_NONE)
			return to_error_set(err, -ELOOP, "server %u is on a cycle of parents",
					    members[at]);
	}
	return 0;
}

int to_allreduce_shares_check(const struct to_rings *rings, unsigned int group,
			      struct to_error *err)
{
	double sum = 0;
	unsigned int trees = 0, i;

	for (i = 0; i < rings->layout.n_trees; i++) {
		if (rings->layout.trees[i].group != group)
			continue;
		if (!(rings->layout.trees[i].share > 0))
			return to_error_set(err, -EINVAL, "a tree of AllReduce group %u has no share",
					    group);
		sum += rings->layout.trees[i].share;
		trees++;
	}
	if (!trees || fabs(sum - 1) <= SHARES_ERROR)
		return 0;
	return to_error_set(err, -EINVAL,
			    "the shares of AllReduce group %u's trees add up to %g, not to 1", group,
			    sum);
}

int to_allreduce_tree_check(const struct to_allreduce_tree *tree,
			    const struct to_demand *demand, struct to_error *err)
{
	const struct to_allreduce *group = &demand->groups[tree->group];
	uint32_t *place, *seen, root = TO_SERVER_NONE;
	unsigned int i;
	int ret = 0;

	if (tree->n != group->n_members)
		return to_error_set(err, -EINVAL,
				    "expected %u parents, for each member of AllReduce group %u",
				    group->n_members, tree->group);
	place = malloc((demand->n + 1) * sizeof(*place));
	seen = calloc(tree->n + 1, sizeof(*seen));
	if (!place || !seen) {
		ret = to_error_set(err, -ENOMEM, "out of memory");
		goto out;
	}
	memset(place, 0xff, demand->n * sizeof(*place));
	for (i = 0; i < tree->n; i++)
		place[group->members[i]] = i;
	for (i = 0; !ret && i < tree->n; i++) {
		uint32_t parent = tree->parents[i];

		if (parent == TO_SERVER_NONE && root != TO_SERVER_NONE)
			ret = to_error_set(err, -EINVAL, "servers %u and %u are both a root", root,
					   group->members[i]);
		else if (parent == TO_SERVER_NONE)
			root = group->members[i];
		else if (parent >= demand->n || place[parent] == UINT32_MAX)
			ret = to_error_set(err, -ENOENT,
					   "server %u is no member of AllReduce group %u", parent,
					   tree->group);
	}
	if (!ret)
		ret = allreduce_climb(tree, group->members, place, seen, err);
out:
	free(place);
	free(seen);
	return ret;
}

bool to_allreduce_ring_linked(const struct to_rings *rings, unsigned int index)
{
	unsigned int i;

	for (i = 0; i < rings->layout.n_links && rings->layout.links[i].ring != (int)index; i++)
		;
	return i < rings->layout.n_links;
}

bool to_allreduce_tree_linked(const struct to_rings *rings, unsigned int index)
{
	unsigned int i;

	for (i = 0; i < rings->layout.n_links && rings->layout.links[i].tree != (int)index; i++)
		;
	return i < rings->layout.n_links;
}

/* Arcs of @graph from @x to @y. */
static unsigned int allreduce_arcs(const struct to_graph *graph, uint32_t x, uint32_t y)
{
	unsigned int arcs = 0;
	uint32_t a;

	for (a = graph->out[x]; a < graph->out[x + 1]; a++)
		arcs += graph->to[a] == y;
	return arcs;
}

unsigned int to_allreduce_tree_routed(const struct to_rings *rings, const struct to_graph *graph,
				      const struct to_allreduce_tree *tree)
{
	const uint32_t *members = rings->demand->groups[tree->group].members;
	unsigned int routed = 0, i;

	for (i = 0; i < tree->n; i++)
		routed += tree->parents[i] != TO_SERVER_NONE &&
			  !(allreduce_arcs(graph, members[i], tree->parents[i]) &&
			    allreduce_arcs(graph, tree->parents[i], members[i]));
	return routed;
}

/* @directions: in which the rings of its group go round, in all */
static double allreduce_hop_bytes(const struct to_rings *rings, const struct to_ring *ring,
				  unsigned int directions)
{
	return to_allreduce_steps_ring_share(ring->n) *
	       rings->demand->groups[ring->group].bytes / directions;
}

double to_allreduce_hop_bytes(const struct to_rings *rings, const struct to_ring *ring)
{
	unsigned int directions = 0, i;

	for (i = 0; i < rings->layout.n_rings; i++)
		if (rings->layout.rings[i].group == ring->group)
			directions += rings->layout.rings[i].reverse ? 2 : 1;
	return allreduce_hop_bytes(rings, ring, directions);
}

double to_allreduce_tree_bytes(const struct to_rings *rings,
			       const struct to_allreduce_tree *tree)
{
	return rings->demand->groups[tree->group].bytes * tree->share;
}

/* Bytes of the ring or tree that owns @arc, 0 else. */
static double allreduce_owner_bytes(const struct to_rings *rings, const struct to_graph *graph,
				    uint32_t arc)
{
	const struct to_link *link = &rings->layout.links[graph->link[arc]];
	const struct to_ring *ring;

	if (link->tree >= 0)
		return to_allreduce_tree_bytes(rings, &rings->layout.trees[link->tree]);
	if (link->ring < 0)
		return 0;
	ring = &rings->layout.rings[link->ring];
	/* two servers: one duplex link is both hops of the ring */
	if (graph->from[arc] == link->a.server || ring->reverse || ring->n == 2)
		return to_allreduce_hop_bytes(rings, ring);
	return 0;
}

/* One hop of AllReduce: @bytes from @x to @y. */
typedef void allreduce_hop(void *data, uint32_t x, uint32_t y, double bytes);

/*
 * Per group, in how many directions its rings go round. NULL without memory; then each
 * ring counts for itself.
 */
static unsigned int *allreduce_count(const struct to_rings *rings)
{
	unsigned int *counts = calloc(rings->demand->n_groups + 1, sizeof(*counts)), i;

	for (i = 0; counts && i < rings->layout.n_rings; i++)
		counts[rings->layout.rings[i].group] += rings->layout.rings[i].reverse ? 2 : 1;
	return counts;
}

/* Hops of rings of @group, or of all groups where it is -1; @linked: also with own links. */
static void allreduce_each_ring_hop(const struct to_rings *rings, int group, bool linked,
				    allreduce_hop *hop, void *data)
{
	unsigned int *counts = group < 0 ? allreduce_count(rings) : NULL, i, k;

	for (i = 0; i < rings->layout.n_rings; i++) {
		const struct to_ring *ring = &rings->layout.rings[i];
		double bytes;

		if ((group >= 0 && ring->group != (unsigned int)group) ||
		    (!linked && to_allreduce_ring_linked(rings, i)))
			continue;
		bytes = counts ? allreduce_hop_bytes(rings, ring, counts[ring->group]) :
				 to_allreduce_hop_bytes(rings, ring);
		for (k = 0; k < ring->n; k++) {
			const struct to_allreduce_send send =
				to_allreduce_steps_ring_send(ring->n, false, 0, k);
			const uint32_t x = ring->order[send.from], y = ring->order[send.to];

			hop(data, x, y, bytes);
			if (ring->reverse)
				hop(data, y, x, bytes);
		}
	}
	free(counts);
}

/* The same of trees. */
static void allreduce_each_tree_hop(const struct to_rings *rings, int group, bool linked,
				    allreduce_hop *hop, void *data)
{
	unsigned int i, k;

	for (i = 0; i < rings->layout.n_trees; i++) {
		const struct to_allreduce_tree *tree = &rings->layout.trees[i];
		const uint32_t *members = rings->demand->groups[tree->group].members;
		double bytes = to_allreduce_tree_bytes(rings, tree);

		if ((group >= 0 && tree->group != (unsigned int)group) ||
		    (!linked && to_allreduce_tree_linked(rings, i)))
			continue;
		for (k = 0; k < tree->n; k++) {
			if (tree->parents[k] == TO_SERVER_NONE)
				continue;
			hop(data, members[k], tree->parents[k], bytes);
			hop(data, tree->parents[k], members[k], bytes);
		}
	}
}

static void allreduce_each_hop(const struct to_rings *rings, int group, allreduce_hop *hop,
			       void *data)
{
	allreduce_each_ring_hop(rings, group, true, hop, data);
	allreduce_each_tree_hop(rings, group, true, hop, data);
}

struct allreduce_sum {
	size_t n;
	double times;
	uint64_t *bytes;
};

static void allreduce_add_hop(void *data, uint32_t x, uint32_t y, double bytes)
{
	const struct allreduce_sum *sum = data;

	sum->bytes[x * sum->n + y] += ceil(bytes * sum->times);
}

void to_allreduce_add(const struct to_rings *rings, double times, uint64_t *bytes)
{
	struct allreduce_sum sum = { rings->demand->n, times, bytes };

	allreduce_each_hop(rings, -1, allreduce_add_hop, &sum);
}

/*
 * Where hops without links of their own go.
 * @on_arcs: per arc, or NULL; @routed: n x n, or NULL
 * @whole: n x n, gets @routed, rounded up; or NULL
 * @any: whether a hop is routed
 */
struct allreduce_direct {
	const struct to_graph *graph;
	size_t n;
	double *on_arcs, *routed;
	uint64_t *whole;
	bool any;
};

static void allreduce_route(struct allreduce_direct *to, uint32_t x, uint32_t y, double bytes)
{
	const size_t pair = x * to->n + y;

	to->any = true;
	if (!to->routed)
		return;
	if (to->whole)
		to->whole[pair] += ceil(to->routed[pair] + bytes) - ceil(to->routed[pair]);
	to->routed[pair] += bytes;
}

static void allreduce_add_direct(void *data, uint32_t x, uint32_t y, double bytes)
{
	struct allreduce_direct *to = data;
	const struct to_graph *g = to->graph;
	unsigned int arcs = g ? allreduce_arcs(g, x, y) : 0;
	uint32_t a;

	for (a = arcs && to->on_arcs ? g->out[x] : 0; arcs && to->on_arcs && a < g->out[x + 1]; a++)
		if (g->to[a] == y)
			to->on_arcs[a] += bytes / arcs;
	if (!arcs)
		allreduce_route(to, x, y, bytes);
}

/* Rings without links are routed, also between neighbours. */
static void allreduce_add_routed(void *data, uint32_t x, uint32_t y, double bytes)
{
	allreduce_route(data, x, y, bytes);
}

void to_allreduce_link_bytes(const struct to_rings *rings, const struct to_graph *graph,
			     double *bytes)
{
	struct allreduce_direct direct = { .graph = graph, .on_arcs = bytes };
	uint32_t a;

	for (a = 0; a < graph->n_arcs; a++)
		bytes[a] = allreduce_owner_bytes(rings, graph, a);
	allreduce_each_tree_hop(rings, -1, false, allreduce_add_direct, &direct);
}

static void allreduce_route_all(const struct to_rings *rings, struct allreduce_direct *to)
{
	allreduce_each_ring_hop(rings, -1, false, allreduce_add_routed, to);
	allreduce_each_tree_hop(rings, -1, false, allreduce_add_direct, to);
}

bool to_allreduce_is_routed(const struct to_rings *rings, const struct to_graph *graph)
{
	struct allreduce_direct direct = { .graph = graph, .n = rings->demand->n };

	allreduce_route_all(rings, &direct);
	return direct.any;
}

double *to_allreduce_routed(const struct to_rings *rings, const struct to_graph *graph)
{
	const size_t n = rings->demand->n;
	struct allreduce_direct direct = { .graph = graph, .n = n };

	direct.routed = calloc(n * n, sizeof(*direct.routed));
	if (direct.routed)
		allreduce_route_all(rings, &direct);
	return direct.routed;
}

uint64_t *to_allreduce_and_mp_routed(const struct to_rings *rings, const struct to_graph *graph)
{
	const size_t n = rings->demand->n;
	struct allreduce_direct direct = { .graph = graph, .n = n };

	direct.routed = calloc(n * n, sizeof(*direct.routed));
	direct.whole = malloc(n * n * sizeof(*direct.whole) + 1);
	if (direct.routed && direct.whole) {
		/* few pairs have hops, so few pages of the sums are ever touched */
		memcpy(direct.whole, rings->demand->mp, n * n * sizeof(*direct.whole));
		allreduce_route_all(rings, &direct);
	} else {
		free(direct.whole);
		direct.whole = NULL;
	}
	free(direct.routed);
	return direct.whole;
}

/* One group's AllReduce in measured bytes. */
struct allreduce_share {
	size_t n;
	uint64_t *bytes;
	double *hop;		/* n x n, of one AllReduce */
	double times;		/* how many AllReduces the bytes account for */
};

static void allreduce_gather(void *data, uint32_t x, uint32_t y, double bytes)
{
	struct allreduce_share *share = data;

	share->hop[x * share->n + y] += bytes;
}

static void allreduce_fit(void *data, uint32_t x, uint32_t y, double bytes)
{
	struct allreduce_share *share = data;
	size_t pair = x * share->n + y;

	(void)bytes;
	if (share->hop[pair] > 0)
		share->times = fmin(share->times, share->bytes[pair] / share->hop[pair]);
}

static void allreduce_take_out(void *data, uint32_t x, uint32_t y, double bytes)
{
	struct allreduce_share *share = data;
	size_t pair = x * share->n + y;
	double taken = floor(share->hop[pair] * share->times);

	(void)bytes;
	share->bytes[pair] -= taken < share->bytes[pair] ? taken : share->bytes[pair];
	share->hop[pair] = 0;
}

int to_allreduce_take(const struct to_rings *rings, uint64_t *bytes, uint64_t *buffers)
{
	struct to_demand unit = *rings->demand;
	struct to_rings of_unit = *rings;
	struct allreduce_share share = { .n = unit.n, .bytes = bytes };
	unsigned int g;

	share.hop = calloc(share.n * share.n, sizeof(*share.hop));
	unit.groups = calloc(unit.n_groups + 1, sizeof(*unit.groups));
	if (!share.hop || !unit.groups) {
		free(share.hop);
		free(unit.groups);
		return -ENOMEM;
	}
	of_unit.demand = &unit;
	for (g = 0; g < unit.n_groups; g++) {
		unit.groups[g] = rings->demand->groups[g];
		unit.groups[g].bytes = 1ull << 40;
	}
	for (g = 0; g < unit.n_groups; g++) {
		share.times = INFINITY;
		allreduce_each_hop(&of_unit, g, allreduce_gather, &share);
		allreduce_each_hop(&of_unit, g, allreduce_fit, &share);
		if (isinf(share.times))
			share.times = 0;
		allreduce_each_hop(&of_unit, g, allreduce_take_out, &share);
		buffers[g] = share.times * unit.groups[g].bytes;
	}
	free(share.hop);
	free(unit.groups);
	return 0;
}

void to_allreduce_and_mp(const struct to_plan *plan, double iterations,
		       uint64_t *bytes)
{
	const struct to_demand *demand = plan->demand;
	struct to_rings rings = to_allreduce_of(plan);
	const size_t n = demand->n;

	for (size_t i = 0; i < n * n; i++)
		bytes[i] = demand->mp[i] * iterations;
	to_allreduce_add(&rings, iterations, bytes);
}
