// SPDX-License-Identifier: GPL-2.0-or-later
#include "verify/buffer_cycle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "data/allreduce.h"
#include "routing/forwarding.h"

/* A buffer that is looked at: not yet, on the path that is being walked, not on a cycle. */
enum cycle_seen { CYCLE_NEW, CYCLE_WALKED, CYCLE_FREE };

/*
 * @sends: n x n, row = source, bytes that are sent; NULL: all pairs do
 * @waits: per arc, the arcs out of its end that it waits for, bit k is arc out[end] + k
 * @used: per arc, some packet takes it
 * @active: per server, packets for the address pass it
 * @first, @last: per arc, its buffer. An arc over a packet switch has two: that of its first
 *	server's port on the switch, for all arcs from there, and that of the switch's port to
 *	the second server, for all arcs to there
 * @n_buffers: arcs, then those of switches' ports; @out, @next: what a buffer waits for
 */
struct cycle {
	struct to_forwarding f;
	const struct to_graph *graph;
	const uint64_t *sends;
	uint64_t *waits;
	bool *active, *apart, *used;
	uint8_t *seen;
	uint32_t *path, *first, *last, n_buffers, *out, *next;
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

			c->used[arc] = true;
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

/* The first arc that leaves the same port as @arc, over a packet switch. */
static uint32_t cycle_first(const struct to_graph *g, uint32_t arc)
{
	uint32_t at = g->out[g->from[arc]];

	while (g->port[at] != g->port[arc])
		at++;
	return at;
}

/* The first arc that enters the same port as @arc. */
static uint32_t cycle_last(const struct to_graph *g, uint32_t arc)
{
	uint32_t at = g->in[g->to[arc]];

	while (g->peer_port[g->in_arc[at]] != g->peer_port[arc])
		at++;
	return g->in_arc[at];
}

static void cycle_name_buffers(struct cycle *c, const struct to_cluster *cluster)
{
	const struct to_graph *g = c->graph;

	c->n_buffers = 2 * g->n_arcs;
	for (uint32_t a = 0; a < g->n_arcs; a++) {
		c->first[a] = c->last[a] = a;
		if (!cluster->servers[g->from[a]].ports[g->port[a]].packet_switch)
			continue;
		c->first[a] = cycle_first(g, a);
		c->last[a] = g->n_arcs + cycle_last(g, a);
	}
}

static int cycle_compare(const void *a, const void *b)
{
	return memcmp(a, b, 2 * sizeof(uint32_t));
}

/* Pairs of buffers, each once: the first waits for the second. Return: how many. */
static uint64_t cycle_pairs(const struct cycle *c, uint32_t (*pairs)[2])
{
	const struct to_graph *g = c->graph;
	uint64_t n = 0, left, unique = 0;

	for (uint32_t a = 0; a < g->n_arcs; a++) {
		if (c->used[a] && c->first[a] != c->last[a]) {
			pairs[n][0] = c->first[a];
			pairs[n++][1] = c->last[a];
		}
		for (left = c->waits[a]; left; left &= left - 1) {
			pairs[n][0] = c->last[a];
			pairs[n++][1] = c->first[g->out[g->to[a]] + __builtin_ctzll(left)];
		}
	}
	qsort(pairs, n, sizeof(*pairs), cycle_compare);
	for (uint64_t i = 0; i < n; i++)
		if (!unique || cycle_compare(pairs[i], pairs[unique - 1]))
			memmove(pairs[unique++], pairs[i], sizeof(*pairs));
	return unique;
}

/* Sets what each buffer waits for. Return: how many pairs that are, UINT64_MAX without memory. */
static uint64_t cycle_join(struct cycle *c)
{
	uint64_t most = c->graph->n_arcs, n;
	uint32_t (*pairs)[2];

	for (uint32_t a = 0; a < c->graph->n_arcs; a++)
		most += __builtin_popcountll(c->waits[a]);
	pairs = to_arena_array(&c->arena, most + 1, sizeof(*pairs));
	c->out = to_arena_array(&c->arena, c->n_buffers + 1, sizeof(*c->out));
	c->next = to_arena_array(&c->arena, most + 1, sizeof(*c->next));
	if (c->arena.failed)
		return UINT64_MAX;
	n = cycle_pairs(c, pairs);
	for (uint64_t i = 0; i < n; i++) {
		c->out[pairs[i][0] + 1]++;
		c->next[i] = pairs[i][1];
	}
	for (uint32_t b = 0; b < c->n_buffers; b++)
		c->out[b + 1] += c->out[b];
	return n;
}

/* Walk from @start, depth first. Return: buffers of a cycle at the end of c->path, 0 for none. */
static uint32_t cycle_walk(struct cycle *c, uint32_t start, uint32_t *left)
{
	uint32_t depth = 1, buffer, next, k;

	c->path[0] = start;
	c->seen[start] = CYCLE_WALKED;
	left[0] = c->out[start];
	while (depth) {
		buffer = c->path[depth - 1];
		if (left[depth - 1] == c->out[buffer + 1]) {
			c->seen[buffer] = CYCLE_FREE;
			depth--;
			continue;
		}
		next = c->next[left[depth - 1]++];
		if (c->seen[next] == CYCLE_WALKED) {
			for (k = depth; c->path[k - 1] != next; k--)
				;
			memmove(c->path, &c->path[k - 1], (depth - k + 1) * sizeof(*c->path));
			return depth - k + 1;
		}
		if (c->seen[next] == CYCLE_FREE)
			continue;
		c->seen[next] = CYCLE_WALKED;
		left[depth] = c->out[next];
		c->path[depth++] = next;
	}
	return 0;
}

static int cycle_find(struct cycle *c, struct to_buffer_cycle *cycle)
{
	const struct to_graph *g = c->graph;
	uint32_t *left = to_arena_array(&c->arena, c->n_buffers + 1, sizeof(*left)), n = 0;

	cycle_addresses(c);
	cycle->dependencies = cycle_join(c);
	if (c->arena.failed)
		return -ENOMEM;
	for (uint32_t b = 0; b < c->n_buffers && !n; b++)
		if (c->seen[b] == CYCLE_NEW)
			n = cycle_walk(c, b, left);
	if (!n)
		return 0;
	cycle->servers = malloc(n * sizeof(*cycle->servers));
	/* switches' ports lead from the server before them */
	for (uint32_t i = 0; cycle->servers && i < n; i++)
		if (c->path[i] < g->n_arcs)
			cycle->servers[cycle->n++] = g->from[c->path[i]];
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
	c.used = to_arena_array(&c.arena, graph->n_arcs + 1, sizeof(*c.used));
	c.first = to_arena_array(&c.arena, graph->n_arcs + 1, sizeof(*c.first));
	c.last = to_arena_array(&c.arena, graph->n_arcs + 1, sizeof(*c.last));
	c.seen = to_arena_array(&c.arena, 2 * (size_t)graph->n_arcs + 1, sizeof(*c.seen));
	c.path = to_arena_array(&c.arena, 2 * (size_t)graph->n_arcs + 1, sizeof(*c.path));
	if (!c.arena.failed && !(demand && !sends) && !to_forwarding_init(&c.f, plan, graph)) {
		cycle_name_buffers(&c, plan->cluster);
		ret = cycle_find(&c, cycle);
		to_forwarding_free(&c.f);
	}
	to_arena_free(&c.arena);
	free(sends);
	return ret;
}
