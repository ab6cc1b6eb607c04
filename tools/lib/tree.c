// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tree.h"

int to_tree_init(struct to_tree *tree, const struct to_graph *graph)
{
	size_t n = graph->n;

	memset(tree, 0, sizeof(*tree));
	tree->distance = calloc(n, sizeof(*tree->distance));
	tree->order = calloc(4 * n, sizeof(*tree->order));
	tree->choices = calloc(n, sizeof(*tree->choices));
	tree->backup = calloc(n, sizeof(*tree->backup));
	if (!tree->distance || !tree->order || !tree->choices || !tree->backup) {
		to_tree_free(tree);
		return -ENOMEM;
	}
	tree->place = tree->order + n;
	tree->stack = tree->place + n;
	tree->seen = tree->stack + n;
	return 0;
}

void to_tree_free(struct to_tree *tree)
{
	free(tree->distance);
	free(tree->order);
	free(tree->choices);
	free(tree->backup);
	memset(tree, 0, sizeof(*tree));
}

/* Does any way from @from along the choices meet @target, which is before it? */
static bool tree_meets(struct to_tree *t, const struct to_graph *g, uint32_t from,
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


void to_tree_grow(struct to_tree *tree, const struct to_graph *graph,
		  uint32_t root, uint32_t without)
{
	unsigned int i;

	tree->n_reached = to_graph_distances(graph, root, without, tree->distance, tree->order);
	memset(tree->backup, TO_ARC_NONE, graph->n);
	memset(tree->place, 0xff, graph->n * sizeof(*tree->place));
	tree->place[root] = 0;
	tree->choices[root] = 0;
	for (i = 1; i < tree->n_reached; i++) {
		uint32_t x = tree->order[i], first = graph->out[x], a;
		uint16_t nearer = tree->distance[x] - 1;
		uint64_t choices = 0;

		for (a = first; a < graph->out[x + 1]; a++)
			choices |= (uint64_t)(tree->distance[graph->to[a]] == nearer) << (a - first);
		tree->choices[x] = choices;
		tree->place[x] = i;
	}
}

/*
 * Make @y keep clear of @x, which comes before it: give up its choices towards
 * x. Return: whether the ways it has left do; else nothing is changed.
 */
static bool tree_yield(struct to_tree *t, const struct to_graph *g, uint32_t y, uint32_t x)
{
	uint64_t all = t->choices[y], towards = 0;
	uint32_t a;

	for (a = g->out[y]; a < g->out[y + 1]; a++)
		towards |= (uint64_t)(g->to[a] == x) << (a - g->out[y]);
	t->choices[y] &= ~towards;
	if (t->choices[y] && !tree_meets(t, g, y, x))
		return true;
	t->choices[y] = all;
	return false;
}

/* The arc that @x can take when its only choice is down. */
static uint8_t tree_backup(struct to_tree *t, const struct to_graph *g, uint32_t x,
			   const bool *keep)
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
		if (further == TO_ARC_NONE && !tree_meets(t, g, y, x))
			further = a - first;
	}
	if (further != TO_ARC_NONE)
		return further;
	for (a = first; a < g->out[x + 1]; a++) {
		uint32_t y = g->to[a];

		if (t->place[y] != UINT32_MAX && t->place[y] > t->place[x] &&
		    !(keep && keep[y]) && tree_yield(t, g, y, x))
			return a - first;
	}
	return TO_ARC_NONE;
}

/*
 * Servers are visited outwards, so that one which gives up a choice for one
 * before it finds its own backup later. Choices only ever shrink, hence what
 * was loop-free stays so.
 */
void to_tree_protect(struct to_tree *t, const struct to_graph *g, const bool *keep)
{
	unsigned int i;

	for (i = 1; i < t->n_reached; i++) {
		uint32_t x = t->order[i];

		if (!(t->choices[x] & (t->choices[x] - 1)))
			t->backup[x] = tree_backup(t, g, x, keep);
	}
}
