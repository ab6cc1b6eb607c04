// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>

#include "verify/walk.h"

/* A node on the way, and what is left to try of its arcs. */
struct to_walk_frame {
	uint32_t node, x;
	uint64_t left;
	enum to_walk_end end;
};

int to_walk_init(struct to_walk *w, const struct to_forwarding *f)
{
	size_t n = f->graph->n, nodes = n + f->graph->n_arcs;
	struct to_arena *arena = &w->arena;

	memset(w, 0, sizeof(*w));
	w->f = f;
	w->down = to_arena_array(arena, n, sizeof(*w->down));
	w->hole = to_arena_array(arena, n, sizeof(*w->hole));
	w->done = to_arena_array(arena, nodes, sizeof(*w->done));
	w->seen = to_arena_array(arena, nodes, sizeof(*w->seen));
	w->end = to_arena_array(arena, nodes, sizeof(*w->end));
	w->stack = to_arena_array(arena, nodes, sizeof(*w->stack));
	if (!arena->failed)
		return 0;
	to_walk_free(w);
	return -ENOMEM;
}

void to_walk_free(struct to_walk *w)
{
	to_arena_free(&w->arena);
	memset(w, 0, sizeof(*w));
}

void to_walk_begin(struct to_walk *w)
{
	const struct to_graph *g = w->f->graph;

	if (!++w->mark) {
		memset(w->seen, 0, (g->n + g->n_arcs) * sizeof(*w->seen));
		w->mark = 1;
	}
	w->n_done = 0;
}

uint32_t to_walk_node(const struct to_walk *w, uint32_t x, uint32_t in)
{
	const struct to_forwarding *f = w->f;
	const struct to_graph *g = f->graph;

	if (x == f->dst)
		return !f->slot || in == UINT32_MAX || g->peer_port[in] == f->slot - 1 ?
		       TO_WALK_ARRIVED : x;
	if (in != UINT32_MAX && f->group[x] != UINT32_MAX &&
	    f->turned[f->group[x]] >> g->peer_port[in] & 1)
		return g->n + in;
	return x;
}

uint64_t to_walk_out(const struct to_walk *w, uint32_t node, uint32_t *x)
{
	const struct to_forwarding *f = w->f;
	const struct to_graph *g = f->graph;
	uint32_t arc;

	*x = node < g->n ? node : g->to[node - g->n];
	if (node >= g->n)
		return to_forwarding_onward(f, *x, node - g->n, w->down);
	if (node != f->dst)
		return to_forwarding_onward(f, node, UINT32_MAX, w->down);
	arc = to_forwarding_return(f);
	return arc == UINT32_MAX ? 0 : 1ull << (arc - g->out[node]) & ~w->down[node];
}

/* Return: whether @end is known already; else the node is on the stack. */
static bool walk_enter(struct to_walk *w, uint32_t x, uint32_t in, unsigned int *depth,
		       enum to_walk_end *end)
{
	uint32_t node = to_walk_node(w, x, in);
	uint64_t out;

	*end = TO_WALK_ARRIVE;
	if (node == TO_WALK_ARRIVED)
		return true;
	if (w->above && node == x && to_walk_in(w->reached, x) && !to_walk_in(w->above, x))
		return true;
	if (w->seen[node] == w->mark) {
		*end = w->end[node];
		return true;
	}
	w->seen[node] = w->mark;
	out = to_walk_out(w, node, &x);
	if (!out) {
		w->done[w->n_done++] = node;
		w->end[node] = *end = TO_WALK_LOST;
		return true;
	}
	w->end[node] = TO_WALK_LOOP;	/* for who comes back before it is done */
	w->stack[(*depth)++] = (struct to_walk_frame){ node, x, out, TO_WALK_ARRIVE };
	return false;
}

enum to_walk_end to_walk(struct to_walk *w, uint32_t x, uint32_t in)
{
	const struct to_graph *g = w->f->graph;
	unsigned int depth = 0;
	enum to_walk_end end;

	if (walk_enter(w, x, in, &depth, &end))
		return end;
	while (depth) {
		struct to_walk_frame *at = &w->stack[depth - 1];

		if (at->left) {
			uint64_t bit = at->left & -at->left;
			uint32_t arc = g->out[at->x] + __builtin_ctzll(bit);

			at->left ^= bit;
			if (w->hole[at->x] & bit)
				end = TO_WALK_LOST;
			else if (!walk_enter(w, g->to[arc], arc, &depth, &end))
				continue;
		} else {
			end = w->end[at->node] = at->end;
			w->done[w->n_done++] = at->node;
			if (!--depth)
				break;
		}
		at = &w->stack[depth - 1];
		at->end = end > at->end ? end : at->end;
	}
	return end;
}
