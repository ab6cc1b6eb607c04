// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>

#include "routing/detours.h"

#define DETOURS_TRIES 32	/* orders in which servers get their detours */

/* One search: a detour of server @x. */
struct search {
	struct to_detours *d;
	const struct to_forwarding *f;
	uint32_t x;		/* its next hop is dead */
	uint32_t without;	/* dead server, TO_SERVER_NONE for none */
	uint64_t dead;		/* arcs of x */
	bool anew;		/* as if there were no other detours */
	uint32_t head, tail;
	uint32_t last, cost;	/* of the best one found */
};

int to_detours_init(struct to_detours *d, const struct to_graph *graph)
{
	size_t n = graph->n, arcs = graph->n_arcs;
	struct to_arena *arena = &d->arena;

	memset(d, 0, sizeof(*d));
	d->graph = graph;
	d->onward = to_arena_array(arena, arcs, sizeof(*d->onward));
	d->base_onward = to_arena_array(arena, arcs, sizeof(*d->base_onward));
	d->queue = to_arena_array(arena, arcs, sizeof(*d->queue));
	d->came = to_arena_array(arena, arcs, sizeof(*d->came));
	d->seen = to_arena_array(arena, arcs, sizeof(*d->seen));
	d->chosen = to_arena_array(arena, arcs, sizeof(*d->chosen));
	d->depth = to_arena_array(arena, arcs, sizeof(*d->depth));
	d->backup = to_arena_array(arena, n, sizeof(*d->backup));
	d->base_backup = to_arena_array(arena, n, sizeof(*d->base_backup));
	d->above = to_arena_array(arena, n, sizeof(*d->above));
	d->critical = to_arena_array(arena, n, sizeof(*d->critical));
	d->open = to_arena_array(arena, n, sizeof(*d->open));
	d->reached = to_arena_array(arena, n, sizeof(*d->reached));
	d->primary = to_arena_array(arena, arcs, sizeof(*d->primary));
	if (!arena->failed)
		return 0;
	to_detours_free(d);
	return -ENOMEM;
}

void to_detours_free(struct to_detours *d)
{
	to_arena_free(&d->arena);
	memset(d, 0, sizeof(*d));
}

void to_detours_reset(struct to_detours *d)
{
	const struct to_graph *g = d->graph;

	memset(d->onward, 0xff, g->n_arcs * sizeof(*d->onward));
	memset(d->backup, 0xff, g->n * sizeof(*d->backup));
	memset(d->open, true, g->n * sizeof(*d->open));
	d->based = false;
}

void to_detours_release(struct to_detours *d, const struct to_forwarding *f,
			unsigned int first, unsigned int last)
{
	const struct to_graph *g = d->graph;
	unsigned int i;
	uint32_t a;

	if (!d->based) {
		memcpy(d->base_onward, d->onward, g->n_arcs * sizeof(*d->onward));
		memcpy(d->base_backup, d->backup, g->n * sizeof(*d->backup));
		d->based = true;
	}
	memset(d->open, false, g->n * sizeof(*d->open));
	memcpy(d->backup, d->base_backup, g->n * sizeof(*d->backup));
	for (i = first; i < last; i++) {
		d->open[f->qualified[i].server] = true;
		d->backup[f->qualified[i].server] = TO_DETOUR_NONE;
	}
	for (a = 0; a < g->n_arcs; a++)
		if (d->open[g->to[a]])
			d->onward[a] = TO_DETOUR_NONE;
		else
			d->onward[a] = d->base_onward[a] == TO_DETOUR_NONE ? TO_DETOUR_PLAIN :
									     d->base_onward[a];
}

/* Which servers have a path, and which arcs carry packets while nothing is broken. */
static void detours_mark_paths(struct to_detours *d, const struct to_forwarding *f)
{
	const struct to_graph *g = f->graph;
	uint32_t x, arc;

	memset(d->reached, false, g->n * sizeof(*d->reached));
	for (x = 0; x < f->n_reached; x++)
		d->reached[f->order[x]] = true;
	memset(d->primary, false, g->n_arcs * sizeof(*d->primary));
	for (x = 0; x < g->n; x++)
		for (uint64_t left = f->next[x]; left; left &= left - 1)
			d->primary[g->out[x] + __builtin_ctzll(left)] = true;
	/* RoCEv2 for one of its ports that entered the destination by another one */
	arc = f->slot ? f->arc[(size_t)f->dst * (f->plan->slots - 1) + f->slot - 1] : UINT32_MAX;
	d->returns = arc != UINT32_MAX;
	if (d->returns)
		d->primary[arc] = true;
}

/* The server that all next hops of @x are, or TO_SERVER_NONE. */
static uint32_t detours_behind(const struct to_forwarding *f, uint32_t x)
{
	const struct to_graph *g = f->graph;
	uint64_t left = f->next[x];
	uint32_t v = g->to[g->out[x] + __builtin_ctzll(left)];

	for (; left; left &= left - 1)
		if (g->to[g->out[x] + __builtin_ctzll(left)] != v)
			return TO_SERVER_NONE;
	return v;
}

/*
 * Servers that one failure can leave without a next hop, those next to the
 * destination first, and by the server behind. No table helps where that is the last
 * hop to a port.
 */
static void detours_list(struct to_detours *d, const struct to_forwarding *f)
{
	const struct to_graph *g = d->graph;
	unsigned int i, j, k, first;

	d->n_critical = 0;
	for (i = f->slot ? 1 : 0; i < f->n_reached; i++) {
		uint32_t v = f->order[i];

		first = d->n_critical;
		for (k = g->in[v]; k < g->in[v + 1]; k++) {
			uint32_t x = g->in_from[k];

			if (!d->primary[g->in_arc[k]] || !d->open[x] || x == f->dst ||
			    detours_behind(f, x) != v || (!i && f->next[x] & (f->next[x] - 1)))
				continue;
			for (j = first; j < d->n_critical && d->critical[j] != x; j++)
				;	/* there by a parallel link */
			if (j == d->n_critical)
				d->critical[d->n_critical++] = x;
		}
	}
}

/* Mark the servers whose packets can meet @x. */
static void detours_mark_above(struct to_detours *d, const struct to_forwarding *f, uint32_t x)
{
	const struct to_graph *g = d->graph;
	uint32_t *stack = d->queue, i;
	unsigned int n = 0;

	if (d->marked == x)
		return;
	d->marked = x;
	d->above[x] = ++d->server_mark;
	stack[n++] = x;
	while (n) {
		uint32_t y = stack[--n];

		for (i = g->in[y]; y != f->dst && i < g->in[y + 1]; i++) {
			uint32_t z = g->in_from[i];

			if (d->above[z] == d->server_mark || !d->primary[g->in_arc[i]])
				continue;
			d->above[z] = d->server_mark;
			stack[n++] = z;
		}
	}
}

static void detours_push(struct search *s, uint32_t arc, uint32_t came)
{
	struct to_detours *d = s->d;

	if (d->seen[arc] == d->arc_mark || d->graph->to[arc] == s->x ||
	    d->graph->to[arc] == s->without)
		return;
	d->seen[arc] = d->arc_mark;
	d->came[arc] = came;
	d->depth[arc] = came == UINT32_MAX ? 1 : d->depth[came] + 1;
	d->queue[s->tail++] = arc;
}

/* Whether @arc enters the destination by another port than the address is of. */
static bool detours_wrong_port(const struct to_forwarding *f, uint32_t arc)
{
	return f->slot && f->graph->to[arc] == f->dst && f->graph->peer_port[arc] != f->slot - 1;
}

/* The detour may end with @arc. */
static void detours_end(struct search *s, uint32_t arc)
{
	const struct to_forwarding *f = s->f;
	uint32_t y = f->graph->to[arc], cost = s->d->depth[arc];

	cost += detours_wrong_port(f, arc) ? 2 : f->level[y];
	if (s->last == UINT32_MAX || cost < s->cost) {
		s->last = arc;
		s->cost = cost;
	}
}

/* Where packets go that arrive on @arc. */
static void detours_step(struct search *s, uint32_t arc)
{
	const struct to_graph *g = s->d->graph;
	uint32_t y = g->to[arc], onward = s->anew && s->d->open[y] ? TO_DETOUR_NONE :
								      s->d->onward[arc], a;
	bool safe = s->d->above[y] != s->d->server_mark;

	if (!s->d->reached[y] || (!s->d->returns && detours_wrong_port(s->f, arc)))
		return;
	if (onward < TO_DETOUR_PLAIN) {
		detours_push(s, onward, arc);
	} else if (safe) {
		detours_end(s, arc);
	} else if (y == s->f->dst) {
		return;		/* which sends it out of the right port, and no other */
	} else if (onward == TO_DETOUR_NONE && !s->d->primary[arc]) {
		for (a = g->out[y]; a < g->out[y + 1]; a++)
			detours_push(s, a, arc);
	}
}

/* The shortest detour. Return: false when there is none. */
static bool detours_search(struct search *s)
{
	struct to_detours *d = s->d;
	const struct to_graph *g = d->graph;
	uint32_t a;

	d->arc_mark++;
	s->head = s->tail = 0;
	s->last = UINT32_MAX;
	for (a = g->out[s->x]; a < g->out[s->x + 1]; a++)
		if (!(s->dead >> (a - g->out[s->x]) & 1))
			detours_push(s, a, UINT32_MAX);
	while (s->head < s->tail) {
		uint32_t arc = d->queue[s->head++];

		if (s->last != UINT32_MAX && d->depth[arc] > d->depth[s->last])
			break;
		detours_step(s, arc);
	}
	return s->last != UINT32_MAX;
}

static void detours_take(struct search *s)
{
	struct to_detours *d = s->d;
	uint32_t arc = s->last, onward = TO_DETOUR_PLAIN;

	for (; arc != UINT32_MAX; onward = arc, arc = d->came[arc]) {
		if (d->onward[arc] == TO_DETOUR_NONE && !d->primary[arc]) {
			d->onward[arc] = onward;
			d->chosen[d->n_chosen++] = arc;
		}
	}
	d->backup[s->x] = onward;
}

/*
 * A detour of @x: around the server behind its next hop, else around the link to it.
 * Return: false when there is one that other detours are in the way of.
 */
static bool detours_protect(struct to_detours *d, const struct to_forwarding *f, uint32_t x,
			    bool links)
{
	uint32_t v = detours_behind(f, x), root = f->order[1];
	bool single = !(f->next[x] & (f->next[x] - 1));
	struct search s = { .d = d, .f = f, .x = x, .without = v, .dead = f->next[x] };

	if (v != f->dst && !(f->slot && v == root) && !(links && single)) {
		detours_mark_above(d, f, v);
		if (detours_search(&s)) {
			detours_take(&s);
			return true;
		}
	}
	if (!single)
		return true;	/* no link leaves it without a next hop */
	s.without = TO_SERVER_NONE;
	detours_mark_above(d, f, x);
	if (detours_search(&s)) {
		detours_take(&s);
		return true;
	}
	s.anew = true;
	return !detours_search(&s);
}

/* Back to where detours_find() began. */
static void detours_undo(struct to_detours *d)
{
	unsigned int i;

	while (d->n_chosen)
		d->onward[d->chosen[--d->n_chosen]] = TO_DETOUR_NONE;
	for (i = 0; i < d->n_critical; i++)
		d->backup[d->critical[i]] = TO_DETOUR_NONE;
}

void to_detours_find(struct to_detours *d, const struct to_forwarding *f)
{
	unsigned int try, i;

	detours_mark_paths(d, f);
	d->marked = TO_SERVER_NONE;
	detours_list(d, f);
	d->n_chosen = 0;
	for (try = 1;; try++) {
		bool last = try == DETOURS_TRIES;

		for (i = 0; i < d->n_critical; i++) {
			uint32_t x = d->critical[i];

			if (detours_protect(d, f, x, 2 * try > DETOURS_TRIES))
				continue;
			if (last)
				continue;
			memmove(&d->critical[1], d->critical, i * sizeof(*d->critical));
			d->critical[0] = x;
			break;
		}
		if (i == d->n_critical)
			return;
		detours_undo(d);
	}
}
