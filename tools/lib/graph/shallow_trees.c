// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/shallow_trees.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

#define SHALLOW_NONE UINT32_MAX

/**
 * struct shallow - a graph, and the paths to one root
 * @out, @out_edge: edges at each vertex: out[x] .. out[x + 1] - 1
 * @distance, @order: hops to the root, and the vertices nearest first
 * @up: per vertex, the nearest member on its way to the root, as an index
 * @place: per vertex, its index among the members, SHALLOW_NONE for the others
 * @far: per member, hops to the furthest member
 */
struct shallow {
	struct to_packing *p;
	uint32_t *out, *out_edge, *distance, *order, *up, *place, *far;
	struct to_arena arena;
};

static int shallow_init(struct shallow *s, struct to_packing *p)
{
	unsigned int e;
	uint32_t x;

	s->p = p;
	s->out = to_arena_array(&s->arena, p->n + 2, sizeof(*s->out));
	s->out_edge = to_arena_array(&s->arena, 2 * (size_t)p->n_edges + 1, sizeof(*s->out_edge));
	s->distance = to_arena_array(&s->arena, p->n, sizeof(*s->distance));
	s->order = to_arena_array(&s->arena, p->n, sizeof(*s->order));
	s->up = to_arena_array(&s->arena, p->n, sizeof(*s->up));
	s->place = to_arena_array(&s->arena, p->n, sizeof(*s->place));
	s->far = to_arena_array(&s->arena, p->n, sizeof(*s->far));
	if (s->arena.failed)
		return -ENOMEM;
	/* counted two places on, so that filling leaves the offsets in their own */
	for (e = 0; e < p->n_edges; e++) {
		s->out[p->edges[e].a + 2]++;
		s->out[p->edges[e].b + 2]++;
	}
	for (x = 2; x < p->n + 2; x++)
		s->out[x] += s->out[x - 1];
	for (e = 0; e < p->n_edges; e++) {
		s->out_edge[s->out[p->edges[e].a + 1]++] = e;
		s->out_edge[s->out[p->edges[e].b + 1]++] = e;
	}
	return 0;
}

static uint32_t shallow_other(const struct shallow *s, uint32_t edge, uint32_t x)
{
	return s->p->edges[edge].a == x ? s->p->edges[edge].b : s->p->edges[edge].a;
}

/* Return: how many vertices reach @root. */
static unsigned int shallow_distances(struct shallow *s, uint32_t root)
{
	unsigned int n = 1, i, k;

	memset(s->distance, 0xff, s->p->n * sizeof(*s->distance));
	s->distance[root] = 0;
	s->order[0] = root;
	for (i = 0; i < n; i++) {
		uint32_t x = s->order[i];

		for (k = s->out[x]; k < s->out[x + 1]; k++) {
			uint32_t y = shallow_other(s, s->out_edge[k], x);

			if (s->distance[y] != SHALLOW_NONE)
				continue;
			s->distance[y] = s->distance[x] + 1;
			s->order[n++] = y;
		}
	}
	return n;
}

/* Row @k of the trees of @group, towards @root. */
static void shallow_tree(struct shallow *s, const struct to_packing_group *group, unsigned int k,
			 uint32_t root)
{
	uint32_t *parents = group->parents + (size_t)k * group->n_members;
	unsigned int n = shallow_distances(s, root), i, j;

	s->up[root] = s->place[root];
	parents[s->place[root]] = s->place[root];
	for (i = 1; i < n; i++) {
		uint32_t x = s->order[i], best = SHALLOW_NONE, above;

		for (j = s->out[x]; j < s->out[x + 1]; j++) {
			uint32_t e = s->out_edge[j];

			if (s->distance[shallow_other(s, e, x)] + 1 == s->distance[x] &&
			    (best == SHALLOW_NONE || s->p->edges[e].trees < s->p->edges[best].trees))
				best = e;
		}
		above = s->up[shallow_other(s, best, x)];
		s->p->edges[best].trees += s->p->edges[best].seconds_per_byte * group->bytes *
					   group->shares[k];
		s->up[x] = s->place[x] == SHALLOW_NONE ? above : s->place[x];
		if (s->place[x] != SHALLOW_NONE)
			parents[s->place[x]] = above;
	}
}

static int shallow_group(struct shallow *s, struct to_packing_group *group)
{
	uint32_t least = SHALLOW_NONE, centres = 0;
	unsigned int i, j, k;

	memset(s->place, 0xff, s->p->n * sizeof(*s->place));
	for (i = 0; i < group->n_members; i++)
		s->place[group->members[i]] = i;
	for (i = 0; i < group->n_members; i++) {
		shallow_distances(s, group->members[i]);
		for (s->far[i] = 0, j = 0; j < group->n_members; j++) {
			uint32_t hops = s->distance[group->members[j]];

			if (hops == SHALLOW_NONE)
				return -ENOTCONN;
			s->far[i] = hops > s->far[i] ? hops : s->far[i];
		}
		if (s->far[i] < least)
			centres = 0;
		least = s->far[i] < least ? s->far[i] : least;
		centres += s->far[i] == least;
	}
	/* roots are evenly among all that are as near */
	for (k = 0; k < group->n_trees; k++) {
		unsigned int skip = (uint64_t)k * centres / group->n_trees;

		for (i = 0; s->far[i] != least || skip; i++)
			skip -= s->far[i] == least;
		group->shares[k] = 1.0 / group->n_trees;
		shallow_tree(s, group, k, group->members[i]);
	}
	return 0;
}

int to_shallow_trees(struct to_packing *packing)
{
	struct shallow s = { 0 };
	unsigned int g, e;
	int ret = shallow_init(&s, packing);

	for (e = 0; e < packing->n_edges; e++)
		packing->edges[e].trees = 0;
	for (g = 0; !ret && g < packing->n_groups; g++)
		ret = shallow_group(&s, &packing->groups[g]);
	packing->busiest = 0;
	for (e = 0; e < packing->n_edges; e++)
		if (packing->edges[e].busy + packing->edges[e].trees > packing->busiest)
			packing->busiest = packing->edges[e].busy + packing->edges[e].trees;
	to_arena_free(&s.arena);
	return ret;
}
