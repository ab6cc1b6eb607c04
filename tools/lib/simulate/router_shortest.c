// SPDX-License-Identifier: GPL-2.0-or-later
/* Paths of the fewest links: ECMP by hash, or sprayed. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "simulate/router.h"

/* Sums of what links carry that differ by this fraction are those of the same bytes. */
#define SHORTEST_SAME 1e-12
/* No vertex, no transfer. */
#define SHORTEST_NONE UINT32_MAX
/* A vertex that is the last of its level. */
#define SHORTEST_LAST (UINT32_MAX - 1)

const char *const to_spread_names[] = { "hash", "spray", NULL };

/*
 * @distance: as to_network_distances()
 * @next: per server dst, once something was sent there: links from vertex x towards it are
 *	next[dst][next[dst][x]] up to next[dst][next[dst][x + 1] - 1]
 * @known: per server: @next is that of the links of now
 * @flow, @latency: per vertex that is to be sprayed from
 * @level: per distance, the first vertex to be sprayed from; @below: the one after each,
 *	or SHORTEST_LAST; all SHORTEST_NONE between transfers
 * @head: per server, the first of the transfers to it, SHORTEST_NONE between calls; @after:
 *	the one after each
 */
struct shortest {
	struct to_router router;
	struct to_shortest_options options;
	uint16_t *distance;
	uint32_t n_servers, **next;
	bool *known;
	double *flow, *latency;
	uint32_t *queue, *level, *below;
	uint32_t *head, *after, max_after;
};

/* Links towards @dst; NULL when out of memory. */
static const uint32_t *shortest_next(struct shortest *s, uint32_t dst)
{
	const struct to_network *w = s->router.network;
	const uint16_t *distance = s->distance + (size_t)dst * w->n_vertices;
	uint32_t *next = s->next[dst], at = w->n_vertices + 1;

	if (s->known[dst])
		return next;
	if (!next)
		next = s->next[dst] = calloc((size_t)w->n_vertices + 1 + w->n_links, sizeof(*next));
	if (!next)
		return NULL;
	for (uint32_t x = 0; x < w->n_vertices; x++) {
		next[x] = at;
		for (uint32_t i = w->out[x]; i < w->out[x + 1]; i++)
			if (distance[w->links[i].to] + 1 == distance[x])
				next[at++] = i;
	}
	next[w->n_vertices] = at;
	s->known[dst] = true;
	return next;
}

/* A link further: what it takes, and to be relayed by where it ends if that is no end. */
static double shortest_link_latency(const struct shortest *s, const struct to_network_link *link,
				    uint32_t dst)
{
	bool relayed = link->to != dst && link->to < s->router.network->n_servers;

	return link->latency + (relayed ? s->router.delays.relay : 0);
}

/* One link of @next after the other; returns the latency. */
static double shortest_hash(const struct shortest *s, const struct to_transfer *t,
			    const uint32_t *next, double *bytes)
{
	const struct to_network *w = s->router.network;
	uint64_t hash = s->options.seed ^ ((uint64_t)t->src << 32 | t->dst);
	double latency = 0;
	uint32_t x, i;

	for (x = t->src; x != t->dst; x = w->links[i].to) {
		i = next[next[x] + to_random_below(&hash, next[x + 1] - next[x])];
		bytes[i] += t->bytes;
		latency += shortest_link_latency(s, &w->links[i], t->dst);
	}
	return latency;
}

/* @bytes more are to be sprayed from @x, @distance away; they have come after @latency. */
static void shortest_level(struct shortest *s, uint32_t x, uint32_t distance, double bytes,
			   double latency)
{
	if (s->below[x] == SHORTEST_NONE) {
		s->below[x] = s->level[distance] == SHORTEST_NONE ? SHORTEST_LAST :
								    s->level[distance];
		s->level[distance] = x;
		s->flow[x] = 0;
		s->latency[x] = 0;
	}
	s->flow[x] += bytes;
	s->latency[x] = fmax(s->latency[x], latency);
}

/*
 * All that @transfers send to @dst over all paths, the farthest vertex first, so that each is
 * sprayed from once; returns the longest latency.
 */
static double shortest_spray(struct shortest *s, const struct to_transfer *transfers, uint32_t dst,
			     const uint32_t *next, double *bytes)
{
	const struct to_network *w = s->router.network;
	const uint16_t *distance = s->distance + (size_t)dst * w->n_vertices;
	uint32_t far = 0;

	for (uint32_t i = s->head[dst]; i != SHORTEST_NONE; i = s->after[i]) {
		const uint32_t src = transfers[i].src;

		shortest_level(s, src, distance[src], transfers[i].bytes, 0);
		far = distance[src] > far ? distance[src] : far;
	}
	for (; far; far--) {
		uint32_t x = s->level[far], after;

		for (s->level[far] = SHORTEST_NONE; x < SHORTEST_LAST; x = after) {
			const uint32_t n = next[x + 1] - next[x];

			for (uint32_t i = next[x]; i < next[x + 1]; i++) {
				const struct to_network_link *link = &w->links[next[i]];

				bytes[next[i]] += s->flow[x] / n;
				shortest_level(s, link->to, far - 1, s->flow[x] / n,
					       s->latency[x] + shortest_link_latency(s, link, dst));
			}
			after = s->below[x];
			s->below[x] = SHORTEST_NONE;
		}
	}
	s->level[0] = s->below[dst] = SHORTEST_NONE;
	return s->latency[dst];
}

/* Room for @n transfers by destination. */
static int shortest_reserve(struct shortest *s, uint32_t n)
{
	if (n <= s->max_after)
		return 0;
	free(s->after);
	s->after = calloc(n, sizeof(*s->after));
	s->max_after = s->after ? n : 0;
	return s->after ? 0 : -ENOMEM;
}

static int shortest_transfers(struct to_router *router, const struct to_transfer *transfers,
			      uint32_t n, double *bytes, double *latency, struct to_error *err)
{
	struct shortest *s = (struct shortest *)router;
	const struct to_network *w = router->network;
	const bool spray = s->options.spread == TO_SPREAD_SPRAY;
	int ret = shortest_reserve(s, n);
	double each;
	uint32_t i;

	*latency = 0;
	for (i = 0; !ret && i < n; i++) {
		const struct to_transfer *t = &transfers[i];
		const uint32_t *next = shortest_next(s, t->dst);

		if (!next) {
			ret = -ENOMEM;
		} else if (s->distance[(size_t)t->dst * w->n_vertices + t->src] == TO_DISTANCE_NONE) {
			ret = to_error_set(err, -EHOSTUNREACH, "no path from %s to %s",
					   w->names[t->src], w->names[t->dst]);
		} else if (spray) {
			s->after[i] = s->head[t->dst];
			s->head[t->dst] = i;
		} else {
			each = shortest_hash(s, t, next, bytes);
			*latency = fmax(*latency, each);
		}
	}
	for (n = i, i = 0; spray && i < n; i++) {
		const uint32_t dst = transfers[i].dst;

		if (s->head[dst] == SHORTEST_NONE)
			continue;
		if (!ret) {
			each = shortest_spray(s, transfers, dst, s->next[dst], bytes);
			*latency = fmax(*latency, each);
		}
		s->head[dst] = SHORTEST_NONE;
	}
	*latency += router->delays.step;
	return ret == -ENOMEM ? to_error_set(err, ret, "out of memory") : ret;
}

static unsigned int shortest_phases(const struct to_router *router, uint32_t n)
{
	return to_collective_phases(((const struct shortest *)router)->options.algorithm, n);
}

static int shortest_allreduce(struct to_router *router, const uint32_t *members, uint32_t n,
			      unsigned int phase, double *bytes, double *latency,
			      struct to_error *err)
{
	const enum to_algorithm algorithm = ((struct shortest *)router)->options.algorithm;
	const uint32_t n_links = router->network->n_links;
	struct to_transfer *transfers = calloc(4 * (size_t)n, sizeof(*transfers));
	double *load = calloc(n_links + 1, sizeof(*load));
	unsigned int steps = 0;
	int ret = -ENOMEM;

	if (transfers && load)
		ret = to_collective_phase(algorithm, members, n, phase, transfers, &steps);
	if (ret < 0)
		to_error_set(err, ret, "out of memory");
	else
		ret = shortest_transfers(router, transfers, ret, load, latency, err);
	for (uint32_t i = 0; !ret && i < n_links; i++)
		bytes[i] += load[i] / TO_COLLECTIVE_BUFFER;
	*latency *= steps;
	free(transfers);
	free(load);
	return ret;
}

/*
 * struct shortest_mark - what @link carries when each server sends each other a random
 *	number of bytes, twice
 *
 * Links that carry the same for every pair have equal sums; others do not, but by chance
 * (Freivalds, "Probabilistic machines can use less running time", 1977).
 */
struct shortest_mark {
	double sum[2];
	uint32_t link;
};

static bool shortest_same(double a, double b)
{
	return fabs(a - b) <= SHORTEST_SAME * fmax(a, b);
}

static int shortest_compare_marks(const void *a, const void *b)
{
	const struct shortest_mark *x = a, *y = b;

	if (x->sum[0] != y->sum[0])
		return x->sum[0] < y->sum[0] ? -1 : 1;
	return (x->link > y->link) - (x->link < y->link);
}

/* Vertices with a path to where @distance leads, the farthest first; returns how many. */
static uint32_t shortest_order(struct shortest *s, const uint16_t *distance, uint32_t *first)
{
	const uint32_t n = s->router.network->n_vertices;
	uint32_t at = 0;

	memset(first, 0, ((size_t)n + 1) * sizeof(*first));
	for (uint32_t x = 0; x < n; x++)
		if (distance[x] != TO_DISTANCE_NONE)
			first[distance[x]]++;
	for (uint32_t d = n + 1; d-- > 0;) {
		at += first[d];
		first[d] = at - first[d];
	}
	for (uint32_t x = 0; x < n; x++)
		if (distance[x] != TO_DISTANCE_NONE)
			s->queue[first[distance[x]]++] = x;
	return at;
}

/* Add to @marks what all servers send to @dst; @first, @flow: scratch. */
static void shortest_mark(struct shortest *s, uint32_t dst, uint32_t *first, double *flow,
			  struct shortest_mark *marks, uint64_t *random)
{
	const struct to_network *w = s->router.network;
	const uint16_t *distance = s->distance + (size_t)dst * w->n_vertices;
	const uint32_t n = shortest_order(s, distance, first);

	memset(flow, 0, 2 * (size_t)w->n_vertices * sizeof(*flow));
	for (uint32_t x = 0; x < 2 * w->n_servers; x++)
		flow[x] = 1 + ldexp(to_random_next(random) >> 11, -53);
	for (uint32_t at = 0; at < n && s->queue[at] != dst; at++) {
		const uint32_t x = s->queue[at];
		uint32_t i, ways = 0;

		for (i = w->out[x]; i < w->out[x + 1]; i++)
			ways += distance[w->links[i].to] + 1 == distance[x];
		for (i = w->out[x]; i < w->out[x + 1]; i++) {
			const uint32_t to = w->links[i].to;

			for (unsigned int k = 0; distance[to] + 1 == distance[x] && k < 2; k++) {
				marks[i].sum[k] += flow[2 * x + k] / ways;
				flow[2 * to + k] += flow[2 * x + k] / ways;
			}
		}
	}
}

/* Find the links that are alike; 0 or -ENOMEM. */
static int shortest_fold(struct shortest *s)
{
	const struct to_network *w = s->router.network;
	struct shortest_mark *marks = calloc(w->n_links + 1, sizeof(*marks));
	uint32_t *first = calloc((size_t)w->n_vertices + 1, sizeof(*first));
	double *flow = calloc(2 * (size_t)w->n_vertices + 1, sizeof(*flow));
	uint32_t *alike = calloc(w->n_links + 1, sizeof(*alike));
	uint64_t random = 1;
	uint32_t i, k;

	s->router.alike = alike;
	for (i = 0; marks && i < w->n_links; i++)
		marks[i].link = i;
	for (uint32_t dst = 0; marks && first && flow && dst < w->n_servers; dst++)
		shortest_mark(s, dst, first, flow, marks, &random);
	if (marks)
		qsort(marks, w->n_links, sizeof(*marks), shortest_compare_marks);
	for (i = 0; marks && alike && i < w->n_links; i++) {
		const uint32_t link = marks[i].link;

		alike[link] = link;
		for (k = i; k && shortest_same(marks[k - 1].sum[0], marks[i].sum[0]); k--)
			if (shortest_same(marks[k - 1].sum[1], marks[i].sum[1]) &&
			    w->links[marks[k - 1].link].capacity == w->links[link].capacity) {
				alike[link] = alike[marks[k - 1].link];
				break;
			}
	}
	free(marks);
	free(first);
	free(flow);
	return marks && first && flow && alike ? 0 : -ENOMEM;
}

static void shortest_free(struct to_router *router)
{
	struct shortest *s = (struct shortest *)router;

	for (uint32_t x = 0; s->next && x < s->n_servers; x++)
		free(s->next[x]);
	free(s->next);
	free(s->known);
	free(s->distance);
	free(s->flow);
	free(s->latency);
	free(s->queue);
	free(s->level);
	free(s->below);
	free(s->head);
	free(s->after);
	free(s);
}

static const struct to_router_ops shortest_ops = {
	.transfers = shortest_transfers,
	.phases = shortest_phases,
	.allreduce = shortest_allreduce,
	.free = shortest_free,
};

struct to_router *to_router_shortest(struct to_network *w, const struct to_shortest_options *options,
				   struct to_error *err)
{
	struct shortest *s = calloc(1, sizeof(*s));

	if (!s) {
		to_network_free(w);
		goto no_memory;
	}
	s->router = (struct to_router){ .ops = &shortest_ops, .network = w,
					.delays = options->delays };
	s->options = *options;
	s->n_servers = w->n_servers;
	s->next = calloc(w->n_servers, sizeof(*s->next));
	s->known = calloc(w->n_servers, sizeof(*s->known));
	/* hashes of neighbouring seeds are not those of neighbouring servers */
	s->options.seed = to_random_next(&s->options.seed);
	s->distance = to_network_distances(w);
	s->flow = calloc(w->n_vertices, sizeof(*s->flow));
	s->latency = calloc(w->n_vertices, sizeof(*s->latency));
	s->queue = calloc(w->n_vertices, sizeof(*s->queue));
	s->level = malloc(w->n_vertices * sizeof(*s->level));
	s->below = malloc(w->n_vertices * sizeof(*s->below));
	s->head = malloc(w->n_servers * sizeof(*s->head));
	if (s->level)
		memset(s->level, 0xff, w->n_vertices * sizeof(*s->level));
	if (s->below)
		memset(s->below, 0xff, w->n_vertices * sizeof(*s->below));
	if (s->head)
		memset(s->head, 0xff, w->n_servers * sizeof(*s->head));
	if (s->next && s->known && s->distance && s->flow && s->latency && s->queue &&
	    s->level && s->below && s->head &&
	    (options->spread != TO_SPREAD_SPRAY || !shortest_fold(s)))
		return &s->router;
	to_router_free(&s->router);
no_memory:
	to_error_set(err, -ENOMEM, "out of memory");
	return NULL;
}

int to_router_shortest_again(struct to_router *router)
{
	struct shortest *s = (struct shortest *)router;

	free(s->distance);
	free(router->alike);
	router->alike = NULL;
	s->distance = to_network_distances(router->network);
	memset(s->known, 0, s->n_servers * sizeof(*s->known));
	return s->distance ? 0 : -ENOMEM;
}
