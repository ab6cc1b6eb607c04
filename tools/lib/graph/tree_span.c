// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/tree_span.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

int to_span_init(struct to_span *s, const struct to_packing *in, struct to_arena *arena)
{
	uint32_t e, x;

	*s = (struct to_span){
		.in = in,
		.price = to_arena_array(arena, in->n_edges, sizeof(*s->price)),
		.keys = to_arena_array(arena, in->n_edges, sizeof(*s->keys)),
		.out_edge = to_arena_array(arena, 2 * (size_t)in->n_edges, sizeof(*s->out_edge)),
		.out = to_arena_array(arena, in->n + 2, sizeof(*s->out)),
		.far = to_arena_array(arena, in->n, sizeof(*s->far)),
		.near = to_arena_array(arena, in->n, sizeof(*s->near)),
		.via = to_arena_array(arena, in->n, sizeof(*s->via)),
		.part = to_arena_array(arena, in->n, sizeof(*s->part)),
		.heap = to_arena_array(arena, in->n, sizeof(*s->heap)),
		.heap_place = to_arena_array(arena, in->n, sizeof(*s->heap_place)) };
	if (arena->failed)
		return -ENOMEM;
	for (e = 0; e < in->n_edges; e++) {
		s->out[in->edges[e].a + 2]++;
		s->out[in->edges[e].b + 2]++;
	}
	for (x = 2; x < in->n + 2; x++)
		s->out[x] += s->out[x - 1];
	for (e = 0; e < in->n_edges; e++) {
		s->out_edge[s->out[in->edges[e].a + 1]++] = e;
		s->out_edge[s->out[in->edges[e].b + 1]++] = e;
	}
	return 0;
}

static uint32_t span_part(uint32_t *part, uint32_t x)
{
	while (part[x] != x)
		x = part[x] = part[part[x]];
	return x;
}

static void span_sift(struct to_span *s, uint32_t i, uint32_t x)
{
	for (; i && s->far[s->heap[(i - 1) / 2]] > s->far[x]; i = (i - 1) / 2) {
		s->heap[i] = s->heap[(i - 1) / 2];
		s->heap_place[s->heap[i]] = i;
	}
	s->heap[i] = x;
	s->heap_place[x] = i;
}

static uint32_t span_pop(struct to_span *s, uint32_t *n)
{
	uint32_t top = s->heap[0], x = s->heap[--*n], i = 0, k;

	for (; (k = 2 * i + 1) < *n; i = k) {
		if (k + 1 < *n && s->far[s->heap[k + 1]] < s->far[s->heap[k]])
			k++;
		if (s->far[s->heap[k]] >= s->far[x])
			break;
		s->heap[i] = s->heap[k];
		s->heap_place[s->heap[i]] = i;
	}
	s->heap[i] = x;
	s->heap_place[x] = i;
	return top;
}

/* The member nearest to each vertex, itself for a member (Dijkstra). */
static void span_nearest(struct to_span *s, const struct to_packing_group *group)
{
	const struct to_packing_edge *edges = s->in->edges;
	uint32_t n = 0, x, i;

	for (x = 0; x < s->in->n; x++) {
		s->near[x] = s->via[x] = s->heap_place[x] = NONE;
		s->far[x] = INFINITY;
	}
	for (i = 0; i < group->n_members; i++) {
		x = group->members[i];
		s->near[x] = i;
		s->far[x] = 0;
		span_sift(s, n++, x);
	}
	if (group->n_members == s->in->n)
		return;
	while (n) {
		x = span_pop(s, &n);
		for (i = s->out[x]; i < s->out[x + 1]; i++) {
			uint32_t e = s->out_edge[i], y = edges[e].a ^ edges[e].b ^ x;
			double far = s->far[x] + s->price[e];

			if (far >= s->far[y])
				continue;
			s->far[y] = far;
			s->near[y] = s->near[x];
			s->via[y] = e;
			span_sift(s, s->heap_place[y] == NONE ? n++ : s->heap_place[y], y);
		}
	}
}

static int span_compare(const void *a, const void *b)
{
	const struct to_span_key *x = a, *y = b;

	if (x->price != y->price)
		return x->price > y->price ? 1 : -1;
	return (x->edge > y->edge) - (x->edge < y->edge);
}

static int span_use(struct to_tree *tree, uint32_t edge)
{
	if (tree->n_uses == tree->room) {
		unsigned int room = 2 * tree->room + 16;
		uint32_t *more = reallocarray(tree->uses, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		tree->uses = more;
		tree->room = room;
	}
	tree->uses[tree->n_uses++] = edge;
	return 0;
}

/* Take the edges from @x to its nearest member. */
static int span_walk(struct to_span *s, struct to_tree *tree, uint32_t x)
{
	int ret = 0;

	while (!ret && s->via[x] != NONE) {
		uint32_t e = s->via[x];

		ret = span_use(tree, e);
		x ^= s->in->edges[e].a ^ s->in->edges[e].b;
	}
	return ret;
}

/* Is @e a detour between the nearest members of its ends, which another edge joins? */
static bool span_detour(const struct to_span *s, const struct to_packing_group *group,
			   uint32_t e)
{
	const struct to_packing_edge *edges = s->in->edges;
	uint32_t x = group->members[s->near[edges[e].a]];
	uint32_t y = group->members[s->near[edges[e].b]], i;

	if ((edges[e].a == x && edges[e].b == y) || group->n_members == s->in->n)
		return false;
	for (i = s->out[x]; i < s->out[x + 1]; i++)
		if ((edges[s->out_edge[i]].a ^ edges[s->out_edge[i]].b ^ x) == y)
			return true;
	return false;
}

int to_span_tree(struct to_span *s, const struct to_packing_group *group, struct to_tree *tree,
			double *price)
{
	const struct to_packing_edge *edges = s->in->edges;
	unsigned int n = 0, joined = 1, i;
	int ret = 0;

	span_nearest(s, group);
	for (i = 0; i < s->in->n_edges; i++) {
		uint32_t a = edges[i].a, b = edges[i].b;

		if (s->near[a] != s->near[b] && s->near[a] != NONE && s->near[b] != NONE &&
		    !(tree && span_detour(s, group, i)))
			s->keys[n++] = (struct to_span_key){
				s->far[a] + s->price[i] + s->far[b], i };
	}
	qsort(s->keys, n, sizeof(*s->keys), span_compare);
	for (i = 0; i < group->n_members; i++)
		s->part[i] = i;
	*price = 0;
	if (tree)
		tree->n_uses = tree->n_hops = 0;
	for (i = 0; !ret && i < n && joined < group->n_members; i++) {
		uint32_t e = s->keys[i].edge, a = edges[e].a, b = edges[e].b;
		uint32_t u = span_part(s->part, s->near[a]);
		uint32_t v = span_part(s->part, s->near[b]);

		if (u == v)
			continue;
		s->part[u] = v;
		joined++;
		*price += s->keys[i].price;
		if (!tree)
			continue;
		tree->hops[2 * tree->n_hops] = s->near[a];
		tree->hops[2 * tree->n_hops++ + 1] = s->near[b];
		ret = span_use(tree, e);
		if (!ret)
			ret = span_walk(s, tree, a);
		if (!ret)
			ret = span_walk(s, tree, b);
	}
	return ret || joined == group->n_members ? ret : -ENOTCONN;
}

/* The cheapest edge between @x and @y, NONE where there is none. */
static uint32_t span_edge(const struct to_span *s, uint32_t x, uint32_t y)
{
	const struct to_packing_edge *edges = s->in->edges;
	uint32_t best = NONE, i;

	for (i = s->out[x]; i < s->out[x + 1]; i++) {
		uint32_t e = s->out_edge[i];

		if ((edges[e].a ^ edges[e].b ^ x) == y &&
		    (best == NONE || s->price[e] < s->price[best]))
			best = e;
	}
	return best;
}

/* How a member would join a tree. */
struct span_join {
	double price;
	uint32_t via;		/* member, NONE once it has joined */
};

/* What it costs all others to join by member @via, whence s->far are. */
static void span_offer(const struct to_span *s, const struct to_packing_group *group,
		       struct span_join *joins, uint32_t via)
{
	uint32_t i, e;

	for (i = 0; i < group->n_members; i++) {
		double price;

		if (joins[i].via == NONE)
			continue;
		e = span_edge(s, group->members[via], group->members[i]);
		price = e == NONE ? s->far[group->members[i]] : s->price[e];
		if (price < joins[i].price)
			joins[i] = (struct span_join){ price, via };
	}
}

/* The hop by which member @i joins, whence s->via lead. Return: 0 or -ENOMEM. */
static int span_join_hop(struct to_span *s, const struct to_packing_group *group,
			 struct to_tree *tree, uint32_t i, uint32_t via)
{
	uint32_t e = span_edge(s, group->members[i], group->members[via]);

	tree->hops[2 * tree->n_hops] = i;
	tree->hops[2 * tree->n_hops++ + 1] = via;
	return e == NONE ? span_walk(s, tree, group->members[via]) : span_use(tree, e);
}

int to_span_linked_tree(struct to_span *s, const struct to_packing_group *group,
			struct to_tree *tree, double *price)
{
	struct to_packing_group one = { .n_members = 1 };
	struct span_join *joins;
	uint32_t at = 0, best, i;
	int ret = 0;

	if (group->n_members == s->in->n)
		return to_span_tree(s, group, tree, price);
	joins = malloc(group->n_members * sizeof(*joins));
	if (!joins)
		return -ENOMEM;
	for (i = 0; i < group->n_members; i++)
		joins[i] = (struct span_join){ INFINITY, 0 };
	tree->n_uses = tree->n_hops = 0;
	for (*price = 0; !ret; at = best) {
		/* paths from the one that joins: back to where it does, and to all others */
		one.members = &group->members[at];
		span_nearest(s, &one);
		if (at)
			ret = span_join_hop(s, group, tree, at, joins[at].via);
		joins[at].via = NONE;
		if (ret || tree->n_hops + 1 == group->n_members)
			break;
		span_offer(s, group, joins, at);
		for (i = 1, best = NONE; i < group->n_members; i++)
			if (joins[i].via != NONE &&
			    (best == NONE || joins[i].price < joins[best].price))
				best = i;
		if (!isfinite(joins[best].price))
			ret = -ENOTCONN;
		*price += joins[best].price;
	}
	free(joins);
	return ret;
}

/* The end of the longest path from @from. @order: gets the members as they come, @up: whence. */
static uint32_t span_farthest(const struct to_tree *tree, uint32_t from, uint32_t *order,
				 uint32_t *up, const uint32_t *head, const uint32_t *link)
{
	unsigned int n = 0, i;

	order[n++] = from;
	up[from] = from;
	for (i = 0; i < n; i++) {
		uint32_t x = order[i], half;

		for (half = head[x]; half != NONE; half = link[half]) {
			uint32_t y = tree->hops[half ^ 1];

			if (y == up[x])
				continue;
			up[y] = x;
			order[n++] = y;
		}
	}
	return order[n - 1];
}

int to_span_root(const struct to_packing_group *group, const struct to_tree *tree, uint32_t *parents)
{
	unsigned int n = group->n_members, length = 0, i;
	uint32_t *head = malloc(4 * (size_t)n * sizeof(*head));
	uint32_t *order = head ? head + n : NULL, *link = head ? head + 2 * (size_t)n : NULL;
	uint32_t end, x;

	if (!head)
		return -ENOMEM;
	memset(head, 0xff, n * sizeof(*head));
	for (i = 0; i < 2 * tree->n_hops; i++) {
		link[i] = head[tree->hops[i]];
		head[tree->hops[i]] = i;
	}
	end = span_farthest(tree, 0, order, parents, head, link);
	end = span_farthest(tree, end, order, parents, head, link);
	for (x = end; parents[x] != x; x = parents[x])
		length++;
	for (x = end, i = 0; i < length / 2; i++)
		x = parents[x];
	span_farthest(tree, x, order, parents, head, link);
	free(head);
	return 0;
}
