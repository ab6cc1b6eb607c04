// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>

#include "verify/failures.h"

int to_failures_init(struct to_failures *o, struct to_forwarding *f)
{
	const struct to_graph *g = f->graph;
	struct to_arena *arena = &o->arena;
	size_t n = g->n, words = (n + 63) / 64;
	uint32_t a, i, x, y;

	memset(o, 0, sizeof(*o));
	o->f = f;
	o->words = words;
	o->without = TO_SERVER_NONE;
	o->sources = to_arena_array(arena, words, sizeof(uint64_t));
	o->affected = to_arena_array(arena, words, sizeof(uint64_t));
	o->lost = to_arena_array(arena, words, sizeof(uint64_t));
	o->looping = to_arena_array(arena, words, sizeof(uint64_t));
	o->reached = to_arena_array(arena, words, sizeof(uint64_t));
	o->joined = to_arena_array(arena, words, sizeof(uint64_t));
	o->above = to_arena_array(arena, n * words, sizeof(uint64_t));
	o->used = to_arena_array(arena, n, sizeof(*o->used));
	o->met = to_arena_array(arena, n, sizeof(*o->met));
	o->queue = to_arena_array(arena, n, sizeof(*o->queue));
	o->twin = to_arena_array(arena, g->n_arcs, sizeof(*o->twin));
	o->dead = to_arena_array(arena, g->n_arcs, sizeof(*o->dead));
	o->segment = to_arena_array(arena, g->n_arcs, sizeof(*o->segment));
	o->cable = to_arena_array(arena, g->n_arcs, sizeof(*o->cable));
	if (arena->failed || to_walk_init(&o->walk, f)) {
		to_failures_free(o);
		return -ENOMEM;
	}
	to_graph_cables(g, f->plan->cluster, o->cable);
	memset(o->twin, 0xff, g->n_arcs * sizeof(*o->twin));
	for (a = 0; a < g->n_arcs; a++) {
		x = g->from[a];
		y = g->to[a];
		o->segment[a] = f->plan->cluster->servers[x].ports[g->port[a]].packet_switch;
		for (i = g->out[y]; i < g->out[y + 1]; i++)
			if (g->to[i] == x && g->link[i] == g->link[a] && i != a)
				o->twin[a] = i;
	}
	return 0;
}

void to_failures_free(struct to_failures *o)
{
	to_walk_free(&o->walk);
	to_arena_free(&o->arena);
	memset(o, 0, sizeof(*o));
}

static void failures_add(uint64_t *set, uint32_t x)
{
	set[x / 64] |= 1ull << x % 64;
}

static void failures_join(uint64_t *set, const uint64_t *other, size_t words)
{
	for (size_t i = 0; i < words; i++)
		set[i] |= other[i];
}

uint64_t to_failures_count(const struct to_failures *o, const uint64_t *a, const uint64_t *b)
{
	uint64_t n = 0;

	for (size_t i = 0; i < o->words; i++)
		n += __builtin_popcountll(a[i] & b[i]);
	return n;
}

bool to_failures_resolve(struct to_failures *o, uint32_t dst, unsigned int slot,
			 unsigned int *at)
{
	struct to_forwarding *f = o->f;
	const struct to_graph *g = f->graph;
	bool turned = false;
	unsigned int i;

	to_forwarding_resolve(f, dst, slot);
	o->one = false;
	o->walk.reached = o->reached;
	memset(o->reached, 0, o->words * sizeof(*o->reached));
	memset(o->above, 0, g->n * o->words * sizeof(*o->above));
	memset(o->used, 0, g->n * sizeof(*o->used));
	for (i = 1; i < f->n_reached; i++)
		failures_add(o->reached, f->order[i]);
	memcpy(o->sources, o->reached, o->words * sizeof(*o->sources));
	for (; *at < f->n_qualified; ++*at) {
		const struct to_qualified *q = &f->qualified[*at];

		if (q->dst > dst || (q->dst == dst && q->slot > slot))
			break;
		if (q->dst == dst && q->slot == slot)
			o->sources[q->src / 64] &= ~(1ull << q->src % 64);
	}
	o->n_met = 0;
	for (i = f->n_reached; i-- > 1;) {
		uint32_t x = f->order[i];
		uint64_t *above = &o->above[x * o->words], left;

		failures_add(above, x);
		o->met[o->n_met++] = x;
		o->used[x] = f->next[x];
		for (left = f->next[x]; left; left &= left - 1) {
			uint32_t arc = g->out[x] + __builtin_ctzll(left), y = g->to[arc];

			if (y == dst)
				continue;
			failures_join(&o->above[y * o->words], above, o->words);
			turned |= f->turned[f->group[y]] >> g->peer_port[arc] & 1;
		}
	}
	return turned;
}

enum to_walk_end to_failures_qualify(struct to_failures *o, unsigned int first, unsigned int last)
{
	struct to_forwarding *f = o->f;
	const struct to_graph *g = f->graph;
	enum to_walk_end end;
	unsigned int i;

	to_forwarding_qualify(f, first, last);
	o->one = true;
	o->source = f->qualified[first].src;
	o->n_met = 0;
	memset(o->sources, 0, o->words * sizeof(*o->sources));
	memset(o->above, 0, g->n * o->words * sizeof(*o->above));
	memset(o->used, 0, g->n * sizeof(*o->used));
	o->walk.above = NULL;
	to_walk_begin(&o->walk);
	end = to_walk(&o->walk, o->source, UINT32_MAX);
	if (end != TO_WALK_ARRIVE)
		return end;
	failures_add(o->sources, o->source);
	for (i = 0; i < o->walk.n_done; i++) {
		uint32_t x;
		uint64_t out = to_walk_out(&o->walk, o->walk.done[i], &x);

		if (!o->used[x])
			o->met[o->n_met++] = x;
		o->used[x] |= out;
		failures_add(&o->above[x * o->words], o->source);
	}
	return end;
}

static bool failures_dead(const struct to_failures *o, uint32_t arc)
{
	const struct to_graph *g = o->f->graph;
	uint32_t x = g->from[arc];

	return (o->walk.down[x] | o->walk.hole[x]) >> (arc - g->out[x]) & 1;
}

void to_failures_kill_unseen(struct to_failures *o, uint32_t arc)
{
	const struct to_graph *g = o->f->graph;

	if (failures_dead(o, arc))
		return;
	o->walk.hole[g->from[arc]] |= 1ull << (arc - g->out[g->from[arc]]);
	o->dead[o->n_dead++] = arc;
}

void to_failures_kill(struct to_failures *o, uint32_t arc)
{
	const struct to_graph *g = o->f->graph;

	if (failures_dead(o, arc))
		return;
	o->walk.down[g->from[arc]] |= 1ull << (arc - g->out[g->from[arc]]);
	o->dead[o->n_dead++] = arc;
}

bool to_failures_first_of_cable(const struct to_failures *o, uint32_t arc)
{
	const uint32_t first = o->f->graph->out[o->f->graph->from[arc]];

	for (uint64_t left = o->cable[arc]; left; left &= left - 1) {
		const uint32_t a = first + __builtin_ctzll(left), twin = o->twin[a];

		if ((a < arc && to_failures_uses(o, a)) ||
		    (twin != UINT32_MAX && twin < arc && to_failures_uses(o, twin)))
			return false;
	}
	return true;
}

void to_failures_kill_cable(struct to_failures *o, uint32_t arc)
{
	const uint32_t first = o->f->graph->out[o->f->graph->from[arc]];

	for (uint64_t left = o->cable[arc]; left; left &= left - 1) {
		const uint32_t a = first + __builtin_ctzll(left);

		to_failures_kill(o, a);
		if (o->twin[a] != UINT32_MAX)
			to_failures_kill(o, o->twin[a]);
	}
}

void to_failures_kill_segment(struct to_failures *o, unsigned int segment)
{
	for (uint32_t a = 0; a < o->f->graph->n_arcs; a++)
		if (o->segment[a] == segment)
			to_failures_kill(o, a);
}

void to_failures_kill_port(struct to_failures *o, uint32_t x, unsigned int port)
{
	const struct to_graph *g = o->f->graph;
	uint32_t i;

	for (i = g->out[x]; i < g->out[x + 1]; i++)
		if (g->port[i] == port)
			to_failures_kill(o, i);
	for (i = g->in[x]; i < g->in[x + 1]; i++)
		if (g->peer_port[g->in_arc[i]] == port)
			to_failures_kill_unseen(o, g->in_arc[i]);
}

void to_failures_kill_server(struct to_failures *o, uint32_t x)
{
	const struct to_graph *g = o->f->graph;
	uint32_t i;

	for (i = g->in[x]; i < g->in[x + 1]; i++)
		if (o->segment[g->in_arc[i]])
			to_failures_kill_unseen(o, g->in_arc[i]);
		else
			to_failures_kill(o, g->in_arc[i]);
	for (i = g->out[x]; i < g->out[x + 1]; i++)
		to_failures_kill(o, i);
	o->without = x;
}

void to_failures_repair(struct to_failures *o)
{
	while (o->n_dead) {
		uint32_t x = o->f->graph->from[o->dead[--o->n_dead]];

		o->walk.down[x] = o->walk.hole[x] = 0;
	}
	o->without = TO_SERVER_NONE;
}

void to_failures_evaluate(struct to_failures *o)
{
	const struct to_graph *g = o->f->graph;
	size_t size = o->words * sizeof(uint64_t);
	unsigned int i;
	uint32_t x;

	memset(o->affected, 0, size);
	memset(o->lost, 0, size);
	memset(o->looping, 0, size);
	for (i = 0; i < o->n_dead; i++) {
		x = g->from[o->dead[i]];
		if (x != o->without && to_failures_uses(o, o->dead[i]))
			failures_join(o->affected, to_failures_above(o, x), o->words);
	}
	o->walk.above = o->one ? NULL : o->affected;
	to_walk_begin(&o->walk);
	for (i = 0; i < o->n_dead; i++) {
		enum to_walk_end end;

		x = g->from[o->dead[i]];
		if (x == o->without || !to_failures_uses(o, o->dead[i]))
			continue;
		end = to_walk(&o->walk, o->one ? o->source : x, UINT32_MAX);
		if (end != TO_WALK_ARRIVE)
			failures_join(end == TO_WALK_LOST ? o->lost : o->looping,
				      to_failures_above(o, x), o->words);
	}
	for (i = 0; i < o->words; i++) {
		o->affected[i] &= o->sources[i];
		o->looping[i] &= o->sources[i];
		o->lost[i] &= o->sources[i] & ~o->looping[i];
	}
}

/*
 * Mark in o->joined what @root reaches, or what reaches it, itself included.
 * @crossed: server that packets leave by @arc only, TO_SERVER_NONE for none
 */
static unsigned int failures_search(struct to_failures *o, uint32_t root, bool back,
				    uint32_t crossed, uint32_t arc)
{
	const struct to_graph *g = o->f->graph;
	unsigned int head = 0, tail = 0;
	uint32_t i;

	memset(o->joined, 0, o->words * sizeof(*o->joined));
	failures_add(o->joined, root);
	o->queue[tail++] = root;
	for (; head < tail; head++) {
		uint32_t x = o->queue[head], from = back ? g->in[x] : g->out[x];
		uint32_t to = back ? g->in[x + 1] : g->out[x + 1];

		for (i = from; i < to; i++) {
			uint32_t a = back ? g->in_arc[i] : i, y = back ? g->in_from[i] : g->to[i];

			if (to_walk_in(o->joined, y) || failures_dead(o, a) || (y == crossed && a != arc))
				continue;
			failures_add(o->joined, y);
			o->queue[tail++] = y;
		}
	}
	return tail;
}

bool to_failures_whole(struct to_failures *o)
{
	unsigned int n = o->f->graph->n - (o->without != TO_SERVER_NONE);
	uint32_t root = !o->without;

	return failures_search(o, root, false, TO_SERVER_NONE, 0) == n &&
	       failures_search(o, root, true, TO_SERVER_NONE, 0) == n;
}

/* An arc into the port whose address it is, one that is not dead if there is one. */
static uint32_t failures_entry(const struct to_failures *o)
{
	const struct to_graph *g = o->f->graph;
	uint32_t dst = o->f->dst, arc = UINT32_MAX, i;

	for (i = g->in[dst]; i < g->in[dst + 1]; i++) {
		if (g->peer_port[g->in_arc[i]] != o->f->slot - 1)
			continue;
		arc = g->in_arc[i];
		if (!failures_dead(o, arc))
			break;
	}
	return arc;
}

bool to_failures_port_dark(const struct to_failures *o)
{
	uint32_t arc;

	if (!o->f->slot)
		return false;
	arc = failures_entry(o);
	return arc == UINT32_MAX || failures_dead(o, arc);
}

const uint64_t *to_failures_joined(struct to_failures *o)
{
	const struct to_forwarding *f = o->f;
	uint32_t dst = f->dst;

	if (f->slot)
		failures_search(o, f->graph->from[failures_entry(o)], true, dst,
				to_forwarding_return(f));
	else
		failures_search(o, dst, true, TO_SERVER_NONE, 0);
	return o->joined;
}
