// SPDX-License-Identifier: GPL-2.0-or-later
#include "verify/buffer_cycle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "data/allreduce.h"
#include "routing/forwarding.h"

/* A link that is looked at: not yet, on the path that is being walked, not on a cycle. */
enum cycle_seen { CYCLE_NEW, CYCLE_WALKED, CYCLE_FREE };

/*
 * @sends: n x n, row = source, bytes that are sent; NULL: all pairs do
 * @waits: per arc, the arcs out of its end that it waits for, bit k is arc out[end] + k
 * @active: per server, packets for the address pass it
 */
struct cycle {
	struct to_forwarding f;
	const struct to_graph *graph;
	const uint64_t *sends;
	uint64_t *waits;
	bool *active, *apart;
	uint8_t *seen;
	uint32_t *path;
	struct to_arena arena;
};

static bool cycle_sends(const struct cycle *c, uint32_t src, uint32_t dst)
{
	return !c->sends || c->sends[(size_t)src * c->graph->n + dst];
}

/* What packets from active servers to the address that is resolved wait for. */
static void cycle_follow(struct cycle *c)
{
	const struct to_forwarding *f = &c->f;
	const struct to_graph *g = c->graph;

	/* the farthest first: each before those that it forwards to */
	for (unsigned int i = f->n_reached; i-- > 1;) {
		const uint32_t x = f->order[i];

		if (!c->active[x])
			continue;
		for (uint64_t next = f->next[x]; next; next &= next - 1) {
			const uint32_t arc = g->out[x] + __builtin_ctzll(next), to = g->to[arc];

			if (to == f->dst)
				continue;
			c->waits[arc] |= f->next[to];
			c->active[to] = true;
		}
	}
}

/* Sources with routes of their own. Return: where the next address begins. */
static unsigned int cycle_qualified(struct cycle *c, uint32_t dst, unsigned int slot,
				    unsigned int at)
{
	struct to_forwarding *f = &c->f;

	memset(c->apart, 0, c->graph->n * sizeof(*c->apart));
	while (at < f->n_qualified && f->qualified[at].dst == dst && f->qualified[at].slot == slot) {
		const uint32_t src = f->qualified[at].src;
		unsigned int first = at;

		while (at < f->n_qualified && f->qualified[at].dst == dst &&
		       f->qualified[at].slot == slot && f->qualified[at].src == src)
			at++;
		c->apart[src] = true;
		if (!cycle_sends(c, src, dst))
			continue;
		to_forwarding_resolve(f, dst, slot);
		to_forwarding_qualify(f, first, at);
		memset(c->active, 0, c->graph->n * sizeof(*c->active));
		c->active[src] = true;
		cycle_follow(c);
	}
	return at;
}

static void cycle_addresses(struct cycle *c)
{
	unsigned int at = 0;

	for (uint32_t dst = 0; dst < c->graph->n; dst++) {
		for (unsigned int slot = 0; slot < c->f.plan->slots; slot++) {
			at = cycle_qualified(c, dst, slot, at);
			to_forwarding_resolve(&c->f, dst, slot);
			for (uint32_t x = 0; x < c->graph->n; x++)
				c->active[x] = !c->apart[x] && cycle_sends(c, x, dst);
			cycle_follow(c);
		}
	}
}

/* Walk from @start, depth first. Return: links of a cycle at the end of c->path, 0 for none. */
static uint32_t cycle_walk(struct cycle *c, uint32_t start, uint64_t *left)
{
	const struct to_graph *g = c->graph;
	uint32_t depth = 1, arc, next, k;

	c->path[0] = start;
	c->seen[start] = CYCLE_WALKED;
	left[0] = c->waits[start];
	while (depth) {
		arc = c->path[depth - 1];
		if (!left[depth - 1]) {
			c->seen[arc] = CYCLE_FREE;
			depth--;
			continue;
		}
		next = g->out[g->to[arc]] + __builtin_ctzll(left[depth - 1]);
		left[depth - 1] &= left[depth - 1] - 1;
		if (c->seen[next] == CYCLE_WALKED) {
			for (k = depth; c->path[k - 1] != next; k--)
				;
			memmove(c->path, &c->path[k - 1], (depth - k + 1) * sizeof(*c->path));
			return depth - k + 1;
		}
		if (c->seen[next] == CYCLE_FREE)
			continue;
		c->seen[next] = CYCLE_WALKED;
		left[depth] = c->waits[next];
		c->path[depth++] = next;
	}
	return 0;
}

static int cycle_find(struct cycle *c, struct to_buffer_cycle *cycle)
{
	const uint32_t n_arcs = c->graph->n_arcs;
	uint64_t *left = to_arena_array(&c->arena, n_arcs + 1, sizeof(*left));

	if (c->arena.failed)
		return -ENOMEM;
	cycle_addresses(c);
	for (uint32_t a = 0; a < n_arcs; a++)
		cycle->dependencies += __builtin_popcountll(c->waits[a]);
	for (uint32_t a = 0; a < n_arcs && !cycle->n; a++)
		if (c->seen[a] == CYCLE_NEW)
			cycle->n = cycle_walk(c, a, left);
	if (!cycle->n)
		return 0;
	cycle->servers = malloc(cycle->n * sizeof(*cycle->servers));
	for (uint32_t i = 0; cycle->servers && i < cycle->n; i++)
		cycle->servers[i] = c->graph->from[c->path[i]];
	return cycle->servers ? 0 : -ENOMEM;
}

int to_buffer_cycle_find(const struct to_plan *plan, const struct to_graph *graph, bool demand,
			 struct to_buffer_cycle *cycle)
{
	const struct to_rings rings = to_allreduce_of(plan);
	uint64_t *sends = demand ? to_allreduce_and_mp_routed(&rings, graph) : NULL;
	struct cycle c = { .graph = graph, .sends = sends };
	int ret = -ENOMEM;

	*cycle = (struct to_buffer_cycle){};
	c.waits = to_arena_array(&c.arena, graph->n_arcs + 1, sizeof(*c.waits));
	c.active = to_arena_array(&c.arena, graph->n, sizeof(*c.active));
	c.apart = to_arena_array(&c.arena, graph->n, sizeof(*c.apart));
	c.seen = to_arena_array(&c.arena, graph->n_arcs + 1, sizeof(*c.seen));
	c.path = to_arena_array(&c.arena, graph->n_arcs + 1, sizeof(*c.path));
	if (!c.arena.failed && !(demand && !sends) && !to_forwarding_init(&c.f, plan, graph)) {
		ret = cycle_find(&c, cycle);
		to_forwarding_free(&c.f);
	}
	to_arena_free(&c.arena);
	free(sends);
	return ret;
}
