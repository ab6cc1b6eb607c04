// SPDX-License-Identifier: GPL-2.0-or-later
#include "collectives/chunk_search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SEARCH_STAGES_MAX (2 * TO_DIMENSIONS_MAX)	/* of a chunk */

/*
 * An order of dimensions. @head: from its begin to that of a stage; @tail: from when a
 * stage has sent its last byte to the end, both without waiting.
 */
struct search_route {
	uint8_t dimensions[SEARCH_STAGES_MAX];
	uint64_t ps[SEARCH_STAGES_MAX], head[SEARCH_STAGES_MAX], tail[SEARCH_STAGES_MAX];
	uint64_t load[TO_DIMENSIONS_MAX];
};

/* A partial schedule: every chunk has a route, some stages have begun. */
struct search_chunk {
	const struct search_route *route;
	unsigned int next;
	uint64_t free_ps;
};

struct search {
	struct to_chunk_schedule *s;
	struct to_chunk_search *found;
	struct search_route *routes;
	unsigned int n_routes;
	uint64_t load[TO_DIMENSIONS_MAX], head[TO_DIMENSIONS_MAX], tail[TO_DIMENSIONS_MAX]; /* least */
	struct search_chunk chunks[TO_CHUNK_SEARCH_STAGES];
	uint64_t free_ps[TO_DIMENSIONS_MAX];
	unsigned int begun[TO_DIMENSIONS_MAX], per_dimension, left;
	uint32_t order[TO_CHUNK_SEARCH_STAGES];
	/* the best so far */
	uint64_t best_ps;
	uint8_t best_dimensions[TO_CHUNK_SEARCH_STAGES];
	uint32_t best_order[TO_CHUNK_SEARCH_STAGES];
};

static bool search_ends(struct search *s)
{
	return s->found->nodes >= s->found->nodes_max;
}

static void search_keep(struct search *s, uint64_t ps)
{
	unsigned int n = s->s->n_stages;

	s->best_ps = ps;
	memcpy(s->best_order, s->order, sizeof(s->best_order));
	for (unsigned int c = 0; c < s->s->setting.n_chunks; c++)
		memcpy(&s->best_dimensions[c * n], s->chunks[c].route->dimensions, n);
}

/*
 * No dimension can be done before it has sent what is left, and the last chunk has gone on;
 * nor can all of them together, at full bandwidth.
 */
static uint64_t search_bound(const struct search *s)
{
	double work = 0, bandwidth = 0;
	uint64_t bound = 0;

	for (unsigned int k = 0; k < s->s->network.n; k++) {
		uint64_t first = UINT64_MAX, last = UINT64_MAX, left = 0;

		for (unsigned int c = 0; c < s->s->setting.n_chunks; c++) {
			const struct search_chunk *chunk = &s->chunks[c];
			const struct search_route *r = chunk->route;

			for (unsigned int i = chunk->next; i < s->s->n_stages; i++) {
				uint64_t begin = chunk->free_ps + r->head[i] - r->head[chunk->next];

				if (r->dimensions[i] != k)
					continue;
				left += r->ps[i];
				first = begin < first ? begin : first;
				last = r->tail[i] < last ? r->tail[i] : last;
				if (begin + r->ps[i] + r->tail[i] > bound)
					bound = begin + r->ps[i] + r->tail[i];
			}
		}
		if (first == UINT64_MAX)
			first = last = 0;
		if (first < s->free_ps[k])
			first = s->free_ps[k];
		if (first + left + last > bound)
			bound = first + left + last;
		work += (double)s->s->network.list[k].bandwidth * (first + left);
		bandwidth += s->s->network.list[k].bandwidth;
	}
	work = work / bandwidth * (1 - 1e-12);	/* of what was rounded */
	return work > bound ? work : bound;
}

static uint64_t search_begin(const struct search *s, const struct search_chunk *chunk)
{
	uint64_t free_ps = s->free_ps[chunk->route->dimensions[chunk->next]];

	return chunk->free_ps > free_ps ? chunk->free_ps : free_ps;
}

/* A chunk before @c that stands where it does: trying both gives the same schedules. */
static bool search_seen(const struct search *s, unsigned int c)
{
	for (unsigned int other = 0; other < c; other++)
		if (s->chunks[other].route == s->chunks[c].route &&
		    s->chunks[other].next == s->chunks[c].next &&
		    s->chunks[other].free_ps == s->chunks[c].free_ps)
			return true;
	return false;
}

static void search_orders(struct search *s);

/* Begin the next stage of a chunk, go on from there, and take it back. */
static void search_try(struct search *s, unsigned int c)
{
	struct search_chunk *chunk = &s->chunks[c], before = *chunk;
	unsigned int k = chunk->route->dimensions[chunk->next];
	uint64_t free_ps = s->free_ps[k], begin = search_begin(s, chunk);

	s->order[k * s->per_dimension + s->begun[k]++] = c * s->s->n_stages + chunk->next;
	s->free_ps[k] = begin + chunk->route->ps[chunk->next];
	chunk->free_ps = s->free_ps[k] + to_chunk_latency_ps(&s->s->network.list[k]);
	chunk->next++;
	s->left--;
	search_orders(s);
	s->left++;
	s->begun[k]--;
	s->free_ps[k] = free_ps;
	*chunk = before;
}

/* The end of a schedule whose stages have all begun. */
static uint64_t search_end(const struct search *s)
{
	uint64_t end = 0;

	for (unsigned int c = 0; c < s->s->setting.n_chunks; c++)
		if (s->chunks[c].free_ps > end)
			end = s->chunks[c].free_ps;
	return end;
}

/*
 * In some best schedule, a stage that could begin before the earliest possible end in its
 * dimension is next there: branch on those.
 */
static void search_orders(struct search *s)
{
	unsigned int n = s->s->setting.n_chunks, k = 0;
	uint64_t end = UINT64_MAX, bound;

	if (!s->left) {
		bound = search_end(s);
		if (bound < s->best_ps)
			search_keep(s, bound);
		return;
	}
	s->found->nodes++;
	if (search_bound(s) >= s->best_ps)
		return;
	for (unsigned int c = 0; c < n; c++) {
		const struct search_chunk *chunk = &s->chunks[c];

		if (chunk->next == s->s->n_stages)
			continue;
		bound = search_begin(s, chunk) + chunk->route->ps[chunk->next];
		if (bound < end) {
			end = bound;
			k = chunk->route->dimensions[chunk->next];
		}
	}
	for (unsigned int c = 0; c < n && !search_ends(s); c++) {
		const struct search_chunk *chunk = &s->chunks[c];

		if (chunk->next < s->s->n_stages && chunk->route->dimensions[chunk->next] == k &&
		    (search_begin(s, chunk) < end || !chunk->route->ps[chunk->next]) &&
		    !search_seen(s, c))
			search_try(s, c);
	}
}

/* Chunks are alike: routes need not come in more than one order. */
static void search_routes(struct search *s, unsigned int c, unsigned int from)
{
	unsigned int left = s->s->setting.n_chunks - c;

	if (!left) {
		search_orders(s);
		return;
	}
	s->found->nodes++;
	for (unsigned int r = from; r < s->n_routes && !search_ends(s); r++) {
		bool hopeless = false;
		uint64_t load[TO_DIMENSIONS_MAX];

		for (unsigned int k = 0; k < s->s->network.n; k++) {
			load[k] = s->routes[r].load[k];
			for (unsigned int i = 0; i < c; i++)
				load[k] += s->chunks[i].route->load[k];
			hopeless |= load[k] + (left - 1) * s->load[k] + s->head[k] + s->tail[k] >=
				    s->best_ps;
		}
		if (hopeless)
			continue;
		s->chunks[c] = (struct search_chunk){ .route = &s->routes[r] };
		search_routes(s, c + 1, r);
	}
}

/* Fill in what a route takes, and what the least of all routes is. */
static void search_measure(struct search *s, struct search_route *r)
{
	struct to_chunk_schedule *schedule = s->s;
	unsigned int n = schedule->n_stages, k;
	uint64_t head = 0, tail = 0;

	to_chunk_schedule_route(schedule, 0, r->dimensions);
	for (unsigned int i = 0; i < n; i++) {
		k = r->dimensions[i];
		r->ps[i] = schedule->stages[i].ps;
		r->load[k] += r->ps[i];
		r->head[i] = head;
		head += r->ps[i] + to_chunk_latency_ps(&schedule->network.list[k]);
	}
	for (unsigned int i = n; i-- > 0;) {
		k = r->dimensions[i];
		r->tail[i] = tail + to_chunk_latency_ps(&schedule->network.list[k]);
		tail = r->tail[i] + r->ps[i];
	}
	for (unsigned int i = 0; i < n; i++) {
		k = r->dimensions[i];
		s->head[k] = r->head[i] < s->head[k] ? r->head[i] : s->head[k];
		s->tail[k] = r->tail[i] < s->tail[k] ? r->tail[i] : s->tail[k];
	}
	for (k = 0; k < schedule->network.n; k++)
		s->load[k] = r->load[k] < s->load[k] ? r->load[k] : s->load[k];
}

/* All orders of dimensions: those of the second half within those of the first. */
static void search_permute(struct search *s, uint8_t *dimensions, unsigned int at)
{
	unsigned int n = s->s->network.n, end = (at / n + 1) * n;

	if (at == s->s->n_stages) {
		memcpy(s->routes[s->n_routes].dimensions, dimensions, at);
		search_measure(s, &s->routes[s->n_routes++]);
		return;
	}
	for (unsigned int i = at; i < end; i++) {
		uint8_t k = dimensions[at];

		dimensions[at] = dimensions[i];
		dimensions[i] = k;
		search_permute(s, dimensions, at + 1);
		dimensions[i] = dimensions[at];
		dimensions[at] = k;
	}
}

/* What the policies find is where the search begins. */
static int search_policies(struct search *s, struct to_chunk_run *run)
{
	unsigned int n = s->s->setting.n_chunks * s->s->n_stages;

	for (unsigned int i = 0; i < 4; i++) {
		if (i & 1)
			to_chunk_schedule_themis(s->s);
		else
			to_chunk_schedule_baseline(s->s);
		if (to_chunk_run(run, s->s, i & 2 ? TO_CHUNK_FIFO : TO_CHUNK_SCF))
			return -ENOMEM;
		if (run->ps >= s->best_ps)
			continue;
		s->best_ps = run->ps;
		memcpy(s->best_order, run->order, n * sizeof(*run->order));
		for (unsigned int j = 0; j < n; j++)
			s->best_dimensions[j] = s->s->stages[j].dimension;
	}
	return 0;
}

/*
 * No schedule takes less. Every route sends the same bytes, a buffer without the part that
 * is left in the end, so together the dimensions cannot do it faster than at full bandwidth.
 */
static uint64_t search_least(const struct search *s)
{
	const struct to_dimensions *network = &s->s->network;
	double work = 0, bandwidth = 0;
	uint64_t bound = 0;

	for (unsigned int k = 0; k < network->n; k++) {
		uint64_t least = s->s->setting.n_chunks * s->load[k] + s->head[k] + s->tail[k];

		bound = least > bound ? least : bound;
		work += (double)network->list[k].bandwidth * s->routes[0].load[k];
		bandwidth += network->list[k].bandwidth;
	}
	work = work / bandwidth * s->s->setting.n_chunks * (1 - 1e-9);	/* of what was rounded */
	return work > bound ? work : bound;
}

static int search_all(struct search *s, struct to_chunk_run *run)
{
	uint8_t dimensions[SEARCH_STAGES_MAX];
	unsigned int n = s->s->n_stages;

	for (unsigned int i = 0; i < n; i++)
		dimensions[i] = i % s->s->network.n;
	memset(s->load, 0xff, sizeof(s->load));
	memset(s->head, 0xff, sizeof(s->head));
	memset(s->tail, 0xff, sizeof(s->tail));
	search_permute(s, dimensions, 0);
	if (search_policies(s, run))
		return -ENOMEM;
	search_routes(s, 0, 0);
	s->found->proved = !search_ends(s);
	s->found->bound_ps = s->found->proved ? s->best_ps : search_least(s);
	for (unsigned int c = 0; c < s->s->setting.n_chunks; c++)
		to_chunk_schedule_route(s->s, c, &s->best_dimensions[c * n]);
	memcpy(run->order, s->best_order, s->s->setting.n_chunks * n * sizeof(*run->order));
	return to_chunk_run(run, s->s, TO_CHUNK_GIVEN);
}

/* Orders of the dimensions there, times those back. */
static uint64_t search_count_routes(const struct to_chunk_schedule *s)
{
	uint64_t n = 1;

	for (unsigned int i = 0; i < s->n_stages; i++)
		n *= i % s->network.n + 1;
	return n;
}

int to_chunk_search(struct to_chunk_schedule *schedule, struct to_chunk_run *run,
		    struct to_chunk_search *found, struct to_error *err)
{
	unsigned int stages = schedule->setting.n_chunks * schedule->n_stages;
	uint64_t n = search_count_routes(schedule);
	struct search *s;
	int ret;

	if (stages > TO_CHUNK_SEARCH_STAGES || n > TO_CHUNK_SEARCH_ROUTES || schedule->setting.parallel)
		return to_error_set(err, -E2BIG, "optimal is for up to %d stages in all (%u here) and %d "
				    "orders of dimensions (%llu here), any number of chunks in parallel",
				    TO_CHUNK_SEARCH_STAGES, stages, TO_CHUNK_SEARCH_ROUTES,
				    (unsigned long long)n);
	s = calloc(1, sizeof(*s));
	if (s)
		s->routes = calloc(n, sizeof(*s->routes));
	if (!s || !s->routes) {
		free(s);
		return to_error_set(err, -ENOMEM, "out of memory");
	}
	s->s = schedule;
	s->found = found;
	s->best_ps = UINT64_MAX;
	s->per_dimension = run->per_dimension;
	s->left = stages;
	found->nodes = 0;
	ret = search_all(s, run);
	if (ret)
		to_error_set(err, ret, "out of memory");
	free(s->routes);
	free(s);
	return ret;
}
