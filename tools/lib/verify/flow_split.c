// SPDX-License-Identifier: GPL-2.0-or-later
#include "verify/flow_split.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "data/port_loads.h"

#define FLOW_SPLIT_BUCKETS 256

const unsigned int to_flow_split_counts[TO_FLOW_SPLIT_COUNTS] = { 1, 4, 16 };

/**
 * struct flow_split - draws that are being made
 * @arc: per server, the arc of each bucket for the destination that is resolved
 * @load: bytes per arc, of every draw of every count
 * @sources: that send to that destination along these paths, @n_sources of them
 * @settled: per server, whether but one path is left from there
 * @arriving: per server, bytes of a draw that got there from servers that are not settled
 * @apart: sources with routes of their own to that destination
 */
struct flow_split {
	struct to_forwarding *f;
	uint32_t *arc;
	double *load, *arriving;
	unsigned int n_sources;
	uint32_t *sources;
	bool *settled, *apart;
	uint64_t random;
	struct to_arena arena;
};

void to_flow_split_buckets(const uint32_t *weight, unsigned int n, unsigned int *buckets)
{
	unsigned int left = FLOW_SPLIT_BUCKETS, most, i;
	uint64_t total = 0, remainder[TO_PORTS_MAX];

	for (i = 0; i < n; i++)
		total += weight[i];
	for (i = 0; i < n; i++) {
		buckets[i] = FLOW_SPLIT_BUCKETS * (uint64_t)weight[i] / total;
		remainder[i] = FLOW_SPLIT_BUCKETS * (uint64_t)weight[i] % total;
		left -= buckets[i];
	}
	for (; left; left--) {
		for (most = 0, i = 1; i < n; i++)
			if (remainder[i] > remainder[most])
				most = i;
		buckets[most]++;
		remainder[most] = 0;
	}
}

/* Deal the buckets of all servers that reach the destination that is resolved. */
static void flow_split_deal(struct flow_split *s)
{
	const struct to_forwarding *f = s->f;
	const struct to_plan *plan = f->plan;
	unsigned int buckets[TO_PORTS_MAX], i, k, n;
	uint32_t weight[TO_PORTS_MAX], arc[TO_PORTS_MAX];

	s->settled[f->dst] = true;
	for (i = 1; i < f->n_reached; i++) {
		uint32_t x = f->order[i], *to = &s->arc[(size_t)x * FLOW_SPLIT_BUCKETS];
		const struct to_group *group =
			&plan->tables[x].groups[f->group[x] - f->first_group[x]];

		for (k = 0, n = 0; k < group->n && n < TO_PORTS_MAX; k++) {
			const struct to_nexthop *hop = &group->nexthops[k];

			if (!to_nexthop_primary(hop) || !hop->weight)
				continue;
			arc[n] = to_forwarding_arc(f, x, hop);
			weight[n] = hop->weight;
			n += arc[n] != UINT32_MAX;
		}
		s->settled[x] = n == 1 && s->settled[f->graph->to[arc[0]]];
		to_flow_split_buckets(weight, n, buckets);
		for (k = 0; k < n; k++)
			while (buckets[k]--)
				*to++ = arc[k];
	}
}

/* One draw of the transfer of @bytes from @src, up to where its flows have no choice left. */
static void flow_split_walk(struct flow_split *s, uint32_t src, unsigned int flows, double bytes,
			    double *load)
{
	const struct to_graph *g = s->f->graph;

	while (flows--) {
		uint64_t random = 0;
		unsigned int hop = 0;
		uint32_t x = src;

		while (!s->settled[x]) {
			uint32_t arc;

			if (hop++ % 8 == 0)
				random = to_random_next(&s->random);
			arc = s->arc[(size_t)x * FLOW_SPLIT_BUCKETS + random % FLOW_SPLIT_BUCKETS];
			random >>= 8;
			load[arc] += bytes;
			x = g->to[arc];
		}
		s->arriving[x] += bytes;
	}
}

/* The rest of the way of all flows of a draw. */
static void flow_split_settle(struct flow_split *s, double *load)
{
	const struct to_forwarding *f = s->f;
	unsigned int i;

	for (i = f->n_reached - 1; i > 0; i--) {
		uint32_t x = f->order[i], arc = s->arc[(size_t)x * FLOW_SPLIT_BUCKETS];

		if (!s->arriving[x])
			continue;
		load[arc] += s->arriving[x];
		s->arriving[f->graph->to[arc]] += s->arriving[x];
		s->arriving[x] = 0;
	}
	s->arriving[f->dst] = 0;
}

/* All draws of what the sources send to the destination that is resolved. */
static void flow_split_draw(struct flow_split *s)
{
	const struct to_graph *g = s->f->graph;
	const uint64_t *mp = s->f->plan->demand->mp;
	double *load = s->load;
	unsigned int k, draw, i;

	for (k = 0; s->n_sources && k < TO_FLOW_SPLIT_COUNTS; k++) {
		for (draw = 0; draw < TO_FLOW_SPLIT_DRAWS; draw++, load += g->n_arcs) {
			for (i = 0; i < s->n_sources; i++) {
				size_t pair = (size_t)s->sources[i] * g->n + s->f->dst;

				flow_split_walk(s, s->sources[i], to_flow_split_counts[k],
						(double)mp[pair] / to_flow_split_counts[k], load);
			}
			flow_split_settle(s, load);
		}
	}
	s->n_sources = 0;
}

/* @src takes the paths that are resolved, if it sends at all. */
static void flow_split_source(struct flow_split *s, uint32_t src)
{
	if (s->f->plan->demand->mp[(size_t)src * s->f->graph->n + s->f->dst])
		s->sources[s->n_sources++] = src;
}

/* What has routes of its own. Return: the first of the next destination. */
static unsigned int flow_split_qualified(struct flow_split *s, uint32_t dst, unsigned int at)
{
	struct to_forwarding *f = s->f;
	const struct to_qualified *q = f->qualified;
	unsigned int first, i;

	memset(s->apart, 0, f->graph->n * sizeof(*s->apart));
	for (; at < f->n_qualified && q[at].dst == dst; at = first) {
		for (first = at; first < f->n_qualified && q[first].dst == dst &&
		     q[first].slot == q[at].slot && q[first].src == q[at].src; first++)
			;
		if (q[at].slot)
			continue;
		s->apart[q[at].src] = true;
		to_forwarding_resolve(f, dst, 0);
		to_forwarding_qualify(f, at, first);
		flow_split_deal(s);
		for (i = 1; i < f->n_reached; i++)
			if (f->order[i] == q[at].src)
				flow_split_source(s, q[at].src);
		flow_split_draw(s);
	}
	return at;
}

static int flow_split_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static struct to_flow_split flow_split_sum(struct to_port_loads *ports, const double *load,
					   uint32_t n_arcs)
{
	double most[TO_FLOW_SPLIT_DRAWS] = { 0 }, sum = 0;
	unsigned int draw;

	for (draw = 0; draw < TO_FLOW_SPLIT_DRAWS; draw++) {
		to_port_loads_set(ports, load + (size_t)draw * n_arcs);
		most[draw] = to_port_loads_most(ports);
		sum += most[draw];
	}
	qsort(most, TO_FLOW_SPLIT_DRAWS, sizeof(*most), flow_split_compare);
	return (struct to_flow_split){ sum / TO_FLOW_SPLIT_DRAWS,
				       most[TO_FLOW_SPLIT_DRAWS * 99 / 100 - 1] };
}

int to_flow_split_find(struct to_forwarding *f, struct to_flow_split *split)
{
	struct flow_split s = { .f = f, .random = TO_FLOW_SPLIT_SEED };
	struct to_port_loads ports;
	size_t n = f->graph->n, arcs = f->graph->n_arcs;
	unsigned int at = 0, i, k;
	uint32_t dst;

	s.arc = to_arena_array(&s.arena, n * FLOW_SPLIT_BUCKETS, sizeof(*s.arc));
	s.load = to_arena_array(&s.arena, TO_FLOW_SPLIT_COUNTS * TO_FLOW_SPLIT_DRAWS * arcs,
				sizeof(*s.load));
	s.arriving = to_arena_array(&s.arena, n, sizeof(*s.arriving));
	s.sources = to_arena_array(&s.arena, n, sizeof(*s.sources));
	s.settled = to_arena_array(&s.arena, n, sizeof(*s.settled));
	s.apart = to_arena_array(&s.arena, n, sizeof(*s.apart));
	if (s.arena.failed || to_port_loads_init(&ports, f->graph, f->plan->cluster)) {
		to_arena_free(&s.arena);
		return -ENOMEM;
	}
	for (dst = 0; dst < n; dst++) {
		at = flow_split_qualified(&s, dst, at);
		to_forwarding_resolve(f, dst, 0);
		flow_split_deal(&s);
		for (i = 1; i < f->n_reached; i++)
			if (!s.apart[f->order[i]])
				flow_split_source(&s, f->order[i]);
		flow_split_draw(&s);
	}
	for (k = 0; k < TO_FLOW_SPLIT_COUNTS; k++)
		split[k] = flow_split_sum(&ports, s.load + k * TO_FLOW_SPLIT_DRAWS * arcs, arcs);
	to_port_loads_free(&ports);
	to_arena_free(&s.arena);
	return 0;
}
