// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "graph/matching.h"
#include "graph/ring.h"
#include "topology/builder.h"

int to_builder_init(struct to_builder *b, const struct to_cluster *cluster,
		    const struct to_demand *demand, unsigned int reserve,
		    const struct to_planner_knobs *knobs)
{
	unsigned int n = cluster->n_servers, ports = 0, x;
	uint32_t *left = calloc(3 * (size_t)n, sizeof(*left));

	*b = (struct to_builder){ .cluster = cluster, .demand = demand, .n = n,
				  .knobs = *knobs, .duplex = cluster->link_mode == TO_LINKS_DUPLEX };
	if (!left)
		return -ENOMEM;
	b->transmit = left;
	b->receive = b->duplex ? left : left + n;
	b->reserved = left + 2 * n;
	for (x = 0; x < n; x++) {
		unsigned int d = cluster->servers[x].n_ports;

		d = d < knobs->degree ? d : knobs->degree;
		b->transmit[x] = b->receive[x] = d;
		b->reserved[x] = d < reserve ? d : reserve;
		ports += d;
	}
	b->layout.links = calloc(ports + 1, sizeof(*b->layout.links));
	/* every ring has a port of its own, or its group has no other ring */
	b->layout.rings = calloc(ports + demand->n_groups + 1, sizeof(*b->layout.rings));
	return b->layout.links && b->layout.rings ? 0 : -ENOMEM;
}

void to_builder_free(struct to_builder *b)
{
	free(b->transmit);
	to_layout_free(&b->layout);
}

void to_builder_link(struct to_builder *b, uint32_t x, uint32_t y,
		     enum to_link_use use, int ring)
{
	b->layout.links[b->layout.n_links++] = (struct to_link){
		.a = { .server = x }, .b = { .server = y }, .use = use, .ring = ring, .tree = -1 };
	b->transmit[x]--;
	b->receive[y]--;
}

/* Links of the ring @order; two servers share one duplex link. */
static void builder_ring_links(struct to_builder *b, const uint32_t *order, unsigned int n,
			       enum to_link_use use, int ring)
{
	unsigned int n_links = n == 2 && b->duplex ? 1 : n, i;

	for (i = 0; i < n_links; i++)
		to_builder_link(b, order[i], order[(i + 1) % n], use, ring);
}

void to_builder_ring(struct to_builder *b, uint32_t *order, unsigned int n, unsigned int jump,
		     int group)
{
	struct to_layout *layout = &b->layout;

	if (group < 0) {
		builder_ring_links(b, order, n, TO_LINK_REPAIR, -1);
		free(order);
		return;
	}
	builder_ring_links(b, order, n, TO_LINK_ALLREDUCE, layout->n_rings);
	layout->rings[layout->n_rings++] = (struct to_ring){
		.group = group, .jump = jump, .n = n, .order = order,
		.reverse = b->duplex && n > 2 };
}

/* Ports that one ring over n servers takes of each. */
static unsigned int builder_ring_ports(const struct to_builder *b, unsigned int n)
{
	return b->duplex && n > 2 ? 2 : 1;
}

/* The group of all servers that reduces most, -1 when there is none. */
static int builder_spanning(const struct to_builder *b)
{
	const struct to_demand *d = b->demand;
	unsigned int g;
	int best = -1;

	for (g = 0; g < d->n_groups; g++)
		if (d->groups[g].n_members == b->n && d->groups[g].bytes &&
		    (best < 0 || d->groups[g].bytes > d->groups[best].bytes))
			best = g;
	return best;
}

static int builder_backbone(struct to_builder *b, unsigned int n_rings, to_builder_lay *lay)
{
	uint32_t *members = calloc(b->n, sizeof(*members));
	unsigned int n = 0, ports = builder_ring_ports(b, b->n), i;
	uint32_t x;
	int ret = 0;

	if (!members)
		return -ENOMEM;
	/* a server with a port too few is joined by to_builder_connect() */
	for (x = 0; x < b->n; x++)
		if (b->reserved[x] >= ports * n_rings)
			members[n++] = x;
	if (n >= 2 && n_rings) {
		int group = n == b->n ? builder_spanning(b) : -1;

		ret = lay(b, group < 0 ? members : b->demand->groups[group].members, n, n_rings,
			  group);
		for (i = 0; i < n; i++)
			b->reserved[members[i]] -= builder_ring_ports(b, n) * n_rings;
	}
	free(members);
	return ret;
}

static double builder_share_of(const struct to_allreduce *group)
{
	return group->n_members < 2 ? 0 :
	       (double)group->bytes * (group->n_members - 1) / group->n_members;
}

/* The largest first: the last may go without. */
static int builder_compare_groups(const void *a, const void *b, void *data)
{
	const struct to_demand *d = data;
	const uint32_t *x = a, *y = b;
	double of_x = builder_share_of(&d->groups[*x]), of_y = builder_share_of(&d->groups[*y]);

	if (of_x != of_y)
		return of_x > of_y ? -1 : 1;
	return (*x > *y) - (*x < *y);
}

static int builder_allreduce(struct to_builder *b, to_builder_lay *lay)
{
	const struct to_demand *d = b->demand;
	double *open = calloc(b->n, sizeof(*open));	/* bytes without ports yet */
	bool *done = calloc(d->n_groups + 1, sizeof(*done));
	uint32_t *order = calloc(d->n_groups + 1, sizeof(*order));
	unsigned int round, g, i;
	int ret = open && done && order ? 0 : -ENOMEM;

	/* the group that has the backbone has its part */
	for (i = 0; !ret && i < b->layout.n_rings; i++)
		done[b->layout.rings[i].group] = true;
	for (i = 0; !ret && i < b->layout.n_trees; i++)
		done[b->layout.trees[i].group] = true;
	for (g = 0; !ret && g < d->n_groups; g++)
		for (i = 0; !done[g] && i < d->groups[g].n_members; i++)
			open[d->groups[g].members[i]] += builder_share_of(&d->groups[g]);
	for (g = 0; !ret && g < d->n_groups; g++)
		order[g] = g;
	if (!ret && d->n_groups)
		qsort_r(order, d->n_groups, sizeof(*order), builder_compare_groups, (void *)d);
	for (round = 0; !ret && round < d->n_groups; round++) {
		unsigned int ports = UINT32_MAX, per_ring, most = UINT32_MAX, n_rings, at = order[round];
		const struct to_allreduce *group = &d->groups[at];
		double share = builder_share_of(group);

		if (done[at] || share <= 0)
			continue;
		for (i = 0; i < group->n_members; i++) {
			uint32_t x = group->members[i];
			double part = ceil(b->reserved[x] * (share / open[x]) - 1e-9);

			ports = part < ports ? part : ports;
			most = b->reserved[x] < most ? b->reserved[x] : most;
			open[x] -= share;
		}
		per_ring = builder_ring_ports(b, group->n_members);
		n_rings = (ports + per_ring - 1) / per_ring;
		if (n_rings > most / per_ring)
			n_rings = most / per_ring;
		if (!n_rings)
			continue;
		for (i = 0; i < group->n_members; i++)
			b->reserved[group->members[i]] -= n_rings * per_ring;
		ret = lay(b, group->members, group->n_members, n_rings, at);
	}
	free(open);
	free(done);
	free(order);
	return ret;
}

int to_builder_lay_all(struct to_builder *b, unsigned int backbone, to_builder_lay *lay)
{
	int ret = builder_backbone(b, backbone, lay);

	return ret ? ret : builder_allreduce(b, lay);
}

static uint32_t builder_part(uint32_t *part, uint32_t x)
{
	while (part[x] != x)
		x = part[x] = part[part[x]];
	return x;
}

/*
 * The part with most free ports grows by the next one until there is only one.
 * Simplex links would have to close a cycle, which the backbone does.
 */
int to_builder_connect(struct to_builder *b)
{
	uint32_t *part = calloc(2 * (size_t)b->n, sizeof(*part));
	uint32_t *spare = part ? part + b->n : NULL;
	uint32_t x, main_part, i;
	int ret = 0;

	if (!part)
		return -ENOMEM;
	for (x = 0; x < b->n; x++)
		part[x] = x;
	for (i = 0; i < b->layout.n_links; i++)
		part[builder_part(part, b->layout.links[i].a.server)] =
			builder_part(part, b->layout.links[i].b.server);
	for (x = 0; x < b->n; x++)
		spare[builder_part(part, x)] += b->transmit[x];
	main_part = builder_part(part, 0);
	for (x = 0; x < b->n; x++)
		if (part[x] == x && spare[x] > spare[main_part])
			main_part = x;
	for (;;) {
		uint32_t next = TO_SERVER_NONE, here = TO_SERVER_NONE, there = TO_SERVER_NONE;
		uint64_t most = 0;

		for (x = 0; x < b->n; x++)
			if (part[x] == x && x != main_part &&
			    (next == TO_SERVER_NONE || spare[x] > spare[next]))
				next = x;
		if (next == TO_SERVER_NONE)
			break;
		if (!b->duplex || !spare[main_part] || !spare[next]) {
			ret = -ENOSPC;
			break;
		}
		for (x = 0; x < b->n; x++) {
			if (!b->transmit[x])
				continue;
			if (builder_part(part, x) == main_part &&
			    (here == TO_SERVER_NONE || b->transmit[x] > b->transmit[here]))
				here = x;
		}
		/* of the part to join, the server that talks most to @here */
		for (x = 0; x < b->n; x++) {
			uint64_t bytes = b->demand->mp[(size_t)x * b->n + here] +
					 b->demand->mp[(size_t)here * b->n + x];

			if (!b->transmit[x] || builder_part(part, x) != next)
				continue;
			if (there == TO_SERVER_NONE || bytes > most) {
				there = x;
				most = bytes;
			}
		}
		to_builder_link(b, here, there, TO_LINK_REPAIR, -1);
		part[next] = main_part;
		spare[main_part] += spare[next] - 2;
	}
	free(part);
	return ret;
}

/*
 * Demand by pair: T + T^T in the upper triangle when a link carries both
 * directions. Halved once for every link that is there already (Eq. 2).
 */
static uint64_t *builder_residual(const struct to_builder *b)
{
	size_t n = b->n, x, y;
	uint64_t *left = calloc(n * n, sizeof(*left));

	for (x = 0; left && x < n; x++) {
		for (y = 0; y < n; y++) {
			uint64_t bytes = b->demand->mp[x * n + y];

			if (x == y || !bytes)
				continue;
			left[b->duplex && y < x ? y * n + x : x * n + y] += bytes;
		}
	}
	return left;
}

static void builder_halve(const struct to_builder *b, uint64_t *left, uint32_t x, uint32_t y)
{
	left[b->duplex && y < x ? (size_t)y * b->n + x : (size_t)x * b->n + y] /= 2;
}

int to_builder_match(struct to_builder *b)
{
	unsigned int n = b->n, n_vertices = b->duplex ? n : 2 * n, n_edges, i;
	struct to_matching_edge *edges = NULL, *more;
	uint64_t *left = builder_residual(b);
	uint32_t *mate = calloc(n_vertices, sizeof(*mate));
	unsigned int room = 0, before;
	uint32_t x, y;
	int ret = left && mate ? 0 : -ENOMEM;

	for (i = 0; !ret && i < b->layout.n_links; i++)
		builder_halve(b, left, b->layout.links[i].a.server,
			      b->layout.links[i].b.server);
	while (!ret) {
		before = b->layout.n_links;
		n_edges = 0;
		for (x = 0; x < n; x++) {
			for (y = b->duplex ? x + 1 : 0; b->transmit[x] && y < n; y++) {
				if (!left[(size_t)x * n + y] || !b->receive[y])
					continue;
				if (n_edges == room) {
					room = room ? 2 * room : 1024;
					more = reallocarray(edges, room, sizeof(*edges));
					if (!more) {
						ret = -ENOMEM;
						goto out;
					}
					edges = more;
				}
				/* simplex: from transmitters to receivers */
				edges[n_edges++] = (struct to_matching_edge){
					.a = x, .b = b->duplex ? y : n + y,
					.weight = left[(size_t)x * n + y] };
			}
		}
		if (!n_edges)
			break;
		ret = to_matching_solve(n_vertices, edges, n_edges, mate);
		for (x = 0; !ret && x < n; x++) {
			if (mate[x] == TO_UNMATCHED || (b->duplex && mate[x] < x))
				continue;
			y = b->duplex ? mate[x] : mate[x] - n;
			to_builder_link(b, x, y, TO_LINK_MP, -1);
			builder_halve(b, left, x, y);
		}
		if (b->layout.n_links == before)
			break;
	}
out:
	free(edges);
	free(left);
	free(mate);
	return ret;
}

/* The farthest server from @x that can take a link in this sweep. */
static uint32_t builder_farthest(const struct to_builder *b, const bool *taken, uint32_t x,
				 const uint16_t *distance, uint64_t *random)
{
	uint32_t best = TO_SERVER_NONE, y, start = to_random_below(random, b->n), i;

	for (i = 0; i < b->n; i++) {
		y = (start + i) % b->n;
		if (y != x && b->receive[y] && !taken[y] &&
		    (best == TO_SERVER_NONE || distance[y] > distance[best]))
			best = y;
	}
	return best;
}

int to_builder_shorten(struct to_builder *b)
{
	uint16_t *distance = calloc(b->n, sizeof(*distance));
	uint32_t *queue = calloc(b->n, sizeof(*queue));
	bool *taken = calloc(b->n, sizeof(*taken));
	uint64_t random = b->knobs.seed;
	unsigned int before;
	int ret = distance && queue && taken ? 0 : -ENOMEM;

	/* one link per server and sweep, then the distances are new */
	do {
		struct to_graph *graph;
		uint32_t x, y;

		before = b->layout.n_links;
		for (x = 0; x < b->n && !b->transmit[x]; x++)
			;
		if (ret || x == b->n)
			break;
		graph = to_graph_new(b->n, b->layout.links, b->layout.n_links,
				     b->cluster->link_mode);
		if (!graph) {
			ret = -ENOMEM;
			break;
		}
		memset(taken, 0, b->n * sizeof(*taken));
		for (x = 0; x < b->n; x++) {
			if (!b->transmit[x] || (b->duplex && taken[x]))
				continue;
			to_graph_distances(graph, x, TO_SERVER_NONE, distance, queue);
			y = builder_farthest(b, taken, x, distance, &random);
			if (y == TO_SERVER_NONE)
				continue;
			to_builder_link(b, x, y, TO_LINK_MP, -1);
			taken[y] = true;
			if (b->duplex)
				taken[x] = true;
		}
		to_graph_free(graph);
	} while (b->layout.n_links > before);
	free(distance);
	free(queue);
	free(taken);
	return ret;
}

int to_builder_share(struct to_builder *b, const struct to_graph *graph)
{
	const struct to_demand *d = b->demand;
	struct to_layout *layout = &b->layout;
	unsigned int g, r, k, own = layout->n_rings;

	for (g = 0; g < d->n_groups; g++) {
		const struct to_allreduce *group = &d->groups[g];
		struct to_ring *ring = &layout->rings[layout->n_rings];

		for (r = 0; r < own && layout->rings[r].group != g; r++)
			;
		for (k = 0; k < layout->n_trees && layout->trees[k].group != g; k++)
			;
		if (r < own || k < layout->n_trees || group->n_members < 2)
			continue;
		*ring = (struct to_ring){ .group = g, .n = group->n_members,
					  .reverse = b->duplex && group->n_members > 2 };
		ring->order = calloc(ring->n, sizeof(*ring->order));
		if (!ring->order)
			return -ENOMEM;
		layout->n_rings++;
		if (to_ring_nearest(graph, group->members, ring->n, ring->order))
			return -ENOMEM;
	}
	return 0;
}
