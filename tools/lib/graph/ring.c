// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "graph/ring.h"
#include "graph/totient.h"

#define RING_STEPS 200000
#define RING_EXCHANGES 200	/* per member */
#define RING_NONE UINT32_MAX

struct ring_search {
	const struct to_graph *graph;
	const bool *usable;
	unsigned int n;
	bool *open;		/* member not on the path yet, per server */
	uint32_t *order, *links;
	unsigned long steps;
};

static uint32_t ring_link(const struct ring_search *s, uint32_t from, uint32_t to)
{
	const struct to_graph *g = s->graph;
	uint32_t a;

	for (a = g->out[from]; a < g->out[from + 1]; a++)
		if (g->to[a] == to && s->usable[g->link[a]])
			return g->link[a];
	return RING_NONE;
}

/* Are the members in @order linked one after the other and back again? */
static bool ring_closed(struct ring_search *s)
{
	unsigned int i;

	for (i = 0; i < s->n; i++) {
		s->links[i] = ring_link(s, s->order[i], s->order[(i + 1) % s->n]);
		if (s->links[i] == RING_NONE)
			return false;
	}
	return true;
}

static unsigned int ring_open_degree(const struct ring_search *s, uint32_t x)
{
	const struct to_graph *g = s->graph;
	unsigned int count = 0;
	uint32_t a;

	for (a = g->out[x]; a < g->out[x + 1]; a++)
		count += s->open[g->to[a]] && s->usable[g->link[a]];
	return count;
}

/*
 * Extend the path at order[depth - 1], to members with few onward arcs first
 * (Warnsdorff). Not recursive: rings are as long as groups are large. @tried
 * has the out-degree bits of each position that were tried.
 */
static bool ring_hamiltonian(struct ring_search *s, uint64_t *tried)
{
	const struct to_graph *g = s->graph;
	unsigned int depth = 1;

	tried[0] = 0;
	s->open[s->order[0]] = false;
	while (depth && s->steps) {
		uint32_t x = s->order[depth - 1], a, next = RING_NONE;
		unsigned int least = UINT32_MAX;

		if (depth == s->n && ring_closed(s))
			return true;
		s->steps--;
		for (a = g->out[x]; depth < s->n && a < g->out[x + 1]; a++) {
			unsigned int degree;

			if (!s->open[g->to[a]] || !s->usable[g->link[a]] ||
			    tried[depth - 1] >> (a - g->out[x]) & 1)
				continue;
			degree = ring_open_degree(s, g->to[a]);
			if (degree < least) {
				least = degree;
				next = a;
			}
		}
		if (next == RING_NONE) {
			s->open[x] = true;
			depth--;
			continue;
		}
		tried[depth - 1] |= 1ull << (next - g->out[x]);
		tried[depth] = 0;
		s->order[depth++] = g->to[next];
		s->open[g->to[next]] = false;
	}
	return false;
}

int to_ring_search(const struct to_graph *graph, const bool *usable,
		   const uint32_t *members, unsigned int n, uint32_t *order,
		   uint32_t *links, unsigned int *jump)
{
	struct ring_search s = { .graph = graph, .usable = usable, .n = n, .order = order,
				 .links = links, .steps = RING_STEPS };
	uint64_t *tried = calloc(n + 1, sizeof(*tried));
	uint32_t *jumps = calloc(n, sizeof(*jumps));
	unsigned int n_jumps, i;
	int ret = -ENOMEM;

	s.open = calloc(graph->n, sizeof(*s.open));
	if (!tried || !jumps || !s.open)
		goto out;
	ret = 1;
	n_jumps = to_totient_jumps(n, false, jumps);
	for (i = 0; i < n_jumps; i++) {
		*jump = jumps[i];
		to_totient_ring(members, n, *jump, order);
		if (ring_closed(&s))
			goto out;
	}
	*jump = 0;
	for (i = 0; i < n; i++)
		s.open[members[i]] = true;
	order[0] = members[0];
	ret = ring_hamiltonian(&s, tried);
out:
	free(tried);
	free(jumps);
	free(s.open);
	return ret;
}

/* Hops of the ring @at, positions of members, that are linked already. */
static unsigned int ring_repeats(const bool *linked, const uint32_t *at, unsigned int n)
{
	unsigned int repeats = 0, i;

	for (i = 0; i < n; i++)
		repeats += linked[(size_t)at[i] * n + at[(i + 1) % n]];
	return repeats;
}

/* linked[i * n + j]: a link from member i to member j, of duplex links also back. */
static bool *ring_linked(const struct to_graph *graph, const uint32_t *members, unsigned int n)
{
	bool *linked = calloc((size_t)n * n, sizeof(*linked));
	unsigned int i, j;
	uint32_t a;

	for (i = 0; linked && i < n; i++)
		for (j = 0; j < n; j++)
			for (a = graph->out[members[i]]; a < graph->out[members[i] + 1]; a++)
				linked[(size_t)i * n + j] |= graph->to[a] == members[j];
	return linked;
}

int to_ring_fresh(const struct to_graph *graph, const uint32_t *members,
		  unsigned int n, uint64_t seed, uint32_t *order)
{
	bool *linked = ring_linked(graph, members, n);
	uint32_t *at = calloc(n, sizeof(*at));
	unsigned int repeats, tries, now, i, j, k;

	if (!linked || !at) {
		free(linked);
		free(at);
		return -ENOMEM;
	}
	for (i = 0; i < n; i++)
		at[i] = i;
	repeats = ring_repeats(linked, at, n);
	/* exchange members at random, never for the worse */
	for (tries = RING_EXCHANGES * n; tries && (repeats || tries > (RING_EXCHANGES - 1) * n);
	     tries--) {
		i = to_random_below(&seed, n);
		j = to_random_below(&seed, n);
		k = at[i];
		at[i] = at[j];
		at[j] = k;
		now = ring_repeats(linked, at, n);
		if (now <= repeats) {
			repeats = now;
		} else {
			at[j] = at[i];
			at[i] = k;
		}
	}
	for (i = 0; i < n; i++)
		order[i] = members[at[i]];
	free(linked);
	free(at);
	return 0;
}

int to_ring_nearest(const struct to_graph *graph, const uint32_t *members,
		    unsigned int n, uint32_t *order)
{
	uint16_t *distance = calloc(graph->n, sizeof(*distance));
	uint32_t *queue = calloc(graph->n, sizeof(*queue));
	bool *open = calloc(graph->n, sizeof(*open));
	unsigned int i, k, n_reached;
	int ret = -ENOMEM;

	if (!distance || !queue || !open)
		goto out;
	ret = 0;
	for (i = 1; i < n; i++)
		open[members[i]] = true;
	/* backwards, since distances are to a server and links may be simplex */
	order[0] = members[0];
	for (i = n; i-- > 1;) {
		uint32_t next = TO_SERVER_NONE;

		n_reached = to_graph_distances(graph, order[(i + 1) % n], TO_SERVER_NONE,
					       distance, queue);
		for (k = 1; k < n_reached && next == TO_SERVER_NONE; k++)
			if (open[queue[k]])
				next = queue[k];
		/* out of reach: any order is as good */
		for (k = 0; next == TO_SERVER_NONE; k++)
			if (open[members[k]])
				next = members[k];
		open[next] = false;
		order[i] = next;
	}
out:
	free(distance);
	free(queue);
	free(open);
	return ret;
}
