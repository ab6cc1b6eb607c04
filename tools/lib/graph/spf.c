// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "graph/spf.h"

int to_spf_init(struct to_spf *spf, const struct to_graph *graph)
{
	struct to_arena *arena = &spf->arena;
	size_t n = graph->n;

	memset(spf, 0, sizeof(*spf));
	spf->distance = to_arena_array(arena, n, sizeof(*spf->distance));
	spf->order = to_arena_array(arena, n, sizeof(*spf->order));
	spf->place = to_arena_array(arena, n, sizeof(*spf->place));
	spf->choices = to_arena_array(arena, n, sizeof(*spf->choices));
	spf->backup = to_arena_array(arena, n, sizeof(*spf->backup));
	spf->stack = to_arena_array(arena, n, sizeof(*spf->stack));
	spf->seen = to_arena_array(arena, n, sizeof(*spf->seen));
	if (arena->failed) {
		to_spf_free(spf);
		return -ENOMEM;
	}
	return 0;
}

void to_spf_free(struct to_spf *spf)
{
	to_arena_free(&spf->arena);
	memset(spf, 0, sizeof(*spf));
}

/* Does any path from @from along the choices meet @target, which is before it? */
static bool spf_meets(struct to_spf *t, const struct to_graph *g, uint32_t from,
		      uint32_t target)
{
	unsigned int depth = 0;

	t->seen_mark++;
	t->stack[depth++] = from;
	t->seen[from] = t->seen_mark;
	while (depth) {
		uint32_t x = t->stack[--depth];
		uint64_t left;

		for (left = t->choices[x]; left; left &= left - 1) {
			uint32_t y = g->to[g->out[x] + __builtin_ctzll(left)];

			if (y == target)
				return true;
			if (t->place[y] < t->place[target] || t->seen[y] == t->seen_mark)
				continue;
			t->seen[y] = t->seen_mark;
			t->stack[depth++] = y;
		}
	}
	return false;
}

void to_spf_grow(struct to_spf *spf, const struct to_graph *graph,
		 uint32_t root, uint32_t without)
{
	unsigned int i;

	spf->n_reached = to_graph_distances(graph, root, without, spf->distance, spf->order);
	memset(spf->backup, TO_ARC_NONE, graph->n);
	memset(spf->place, 0xff, graph->n * sizeof(*spf->place));
	spf->place[root] = 0;
	spf->choices[root] = 0;
	for (i = 1; i < spf->n_reached; i++) {
		uint32_t x = spf->order[i], first = graph->out[x], a;
		uint16_t nearer = spf->distance[x] - 1;
		uint64_t choices = 0;

		for (a = first; a < graph->out[x + 1]; a++)
			choices |= (uint64_t)(spf->distance[graph->to[a]] == nearer) << (a - first);
		spf->choices[x] = choices;
		spf->place[x] = i;
	}
}

/*
 * Can packets at @y, which comes after @x, keep clear of x by giving up choices?
 * seen[] then has seen_mark where they can and seen_mark - 1 where all paths
 * lead to x. Return: 0, -1 when they cannot, 1 when a choice in @keep would be lost.
 */
static int spf_clear(struct to_spf *t, const struct to_graph *g, uint32_t y, uint32_t x,
		     const uint64_t *keep)
{
	uint64_t left, lost = 0;
	int ret = -1;

	if (y == x)
		return -1;
	if (t->place[y] < t->place[x] || t->seen[y] == t->seen_mark)
		return 0;
	if (t->seen[y] == t->seen_mark - 1)
		return -1;
	for (left = t->choices[y]; left; left &= left - 1) {
		int found = spf_clear(t, g, g->to[g->out[y] + __builtin_ctzll(left)], x, keep);

		if (found > 0)
			return found;
		if (found < 0)
			lost |= left & -left;
		else
			ret = 0;
	}
	t->seen[y] = t->seen_mark + ret;
	return !ret && keep && (lost & keep[y]) ? 1 : ret;
}

/* Servers on the paths from @y give up their choices that lead to @x. */
static void spf_yield(struct to_spf *t, const struct to_graph *g, uint32_t y, uint32_t x)
{
	uint64_t left;

	if (t->place[y] < t->place[x] || t->seen[y] != t->seen_mark)
		return;
	t->seen[y] = 0;
	for (left = t->choices[y]; left; left &= left - 1) {
		uint32_t z = g->to[g->out[y] + __builtin_ctzll(left)];

		if (z == x || t->seen[z] == t->seen_mark - 1)
			t->choices[y] &= ~(left & -left);
		else
			spf_yield(t, g, z, x);
	}
}

/* The arc that @x can take when its only choice is down. */
static uint8_t spf_backup(struct to_spf *t, const struct to_graph *g, uint32_t x,
			  const uint64_t *keep)
{
	uint32_t first = g->out[x], a;
	uint8_t further = TO_ARC_NONE;

	/* servers before x do not lead back to it */
	for (a = first; a < g->out[x + 1]; a++) {
		uint32_t y = g->to[a];

		if (t->choices[x] >> (a - first) & 1 || t->place[y] == UINT32_MAX)
			continue;
		if (t->place[y] < t->place[x])
			return a - first;
		if (further == TO_ARC_NONE && !spf_meets(t, g, y, x))
			further = a - first;
	}
	if (further != TO_ARC_NONE)
		return further;
	for (a = first; a < g->out[x + 1]; a++) {
		uint32_t y = g->to[a];

		if (t->place[y] == UINT32_MAX || t->choices[x] >> (a - first) & 1)
			continue;
		t->seen_mark += 2;
		if (spf_clear(t, g, y, x, keep))
			continue;
		spf_yield(t, g, y, x);
		return a - first;
	}
	return TO_ARC_NONE;
}

/*
 * Servers are visited outwards, so that one which gives up a choice for one
 * before it finds its own backup later. Choices only ever shrink, hence what
 * was loop-free stays so.
 */
void to_spf_protect(struct to_spf *t, const struct to_graph *g, const uint64_t *keep)
{
	unsigned int i;

	for (i = 1; i < t->n_reached; i++) {
		uint32_t x = t->order[i];

		if (!(t->choices[x] & (t->choices[x] - 1)))
			t->backup[x] = spf_backup(t, g, x, keep);
	}
}
