// SPDX-License-Identifier: GPL-2.0-or-later
#include "collectives/chunk_replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/random.h"

#define REPLAY_NONE UINT32_MAX

/* A rank has a stage ready (@free false), or its links in a dimension are free again. */
struct replay_event {
	uint64_t ps;
	uint32_t rank, stage;
	bool free;
};

/* A rank in a dimension: what it works on or waits for others to work on, and what is ready. */
struct replay_lane {
	uint32_t working, begun, sent, n_ready;
	uint32_t *ready;
};

struct replay {
	const struct to_chunk_schedule *s;
	const struct to_chunk_run *run;
	struct to_chunk_replay *played;
	struct to_arena arena;
	struct replay_lane *lanes;	/* [rank * dimensions + dimension] */
	struct replay_event *heap;	/* the earliest first */
	size_t n_events;
	unsigned int stride[TO_DIMENSIONS_MAX];
	uint64_t random, now;
};

static bool replay_before(const struct replay_event *a, const struct replay_event *b)
{
	if (a->ps != b->ps)
		return a->ps < b->ps;
	return a->rank != b->rank ? a->rank < b->rank : a->stage < b->stage;
}

static void replay_push(struct replay *r, struct replay_event event)
{
	size_t i = r->n_events++;

	for (; i && replay_before(&event, &r->heap[(i - 1) / 2]); i = (i - 1) / 2)
		r->heap[i] = r->heap[(i - 1) / 2];
	r->heap[i] = event;
}

static struct replay_event replay_pop(struct replay *r)
{
	struct replay_event first = r->heap[0], last = r->heap[--r->n_events];
	size_t i = 0, c;

	for (; (c = 2 * i + 1) < r->n_events; i = c) {
		if (c + 1 < r->n_events && replay_before(&r->heap[c + 1], &r->heap[c]))
			c++;
		if (!replay_before(&r->heap[c], &last))
			break;
		r->heap[i] = r->heap[c];
	}
	r->heap[i] = last;
	return first;
}

static struct replay_lane *replay_lane(struct replay *r, uint32_t rank, unsigned int k)
{
	return &r->lanes[(size_t)rank * r->s->network.n + k];
}

/* The rank's peer with digit @i in dimension @k. */
static uint32_t replay_peer(const struct replay *r, uint32_t rank, unsigned int k, unsigned int i)
{
	unsigned int size = r->s->network.list[k].size, digit = rank / r->stride[k] % size;

	return rank + (i - digit) * r->stride[k];
}

static uint64_t replay_late(struct replay *r)
{
	return to_random_next(&r->random) % (r->played->jitter_ps + 1);
}

static void replay_ready(struct replay *r, uint32_t rank, uint32_t stage, uint64_t ps)
{
	replay_push(r, (struct replay_event){ .ps = ps, .rank = rank, .stage = stage });
}

/* All peers work on the same stage now: send it. */
static void replay_send(struct replay *r, uint32_t rank, unsigned int k)
{
	const struct to_dimension *d = &r->s->network.list[k];
	uint32_t stage = replay_lane(r, rank, k)->working;
	uint64_t sent = r->now + r->s->stages[stage].ps, end = sent + to_chunk_latency_ps(d);

	for (unsigned int i = 0; i < d->size; i++) {
		uint32_t peer = replay_peer(r, rank, k, i);

		replay_lane(r, peer, k)->sent++;
		replay_push(r, (struct replay_event){ sent, peer, stage, true });
		if ((stage + 1) % r->s->n_stages)
			replay_ready(r, peer, stage + 1, end + replay_late(r));
		else if (end > r->played->ps)
			r->played->ps = end;
	}
}

/* Index of what the rank works on next; n_ready for nothing. */
static unsigned int replay_choose(const struct replay *r, const struct replay_lane *lane,
				  unsigned int k)
{
	const uint32_t *order = &r->run->order[(size_t)k * r->run->per_dimension];
	unsigned int i = 0;

	while (r->played->ordered && i < lane->n_ready && lane->ready[i] != order[lane->begun])
		i++;
	return i;
}

static void replay_work(struct replay *r, uint32_t rank, unsigned int k)
{
	struct replay_lane *lane = replay_lane(r, rank, k);
	unsigned int i, n;

	if (lane->working != REPLAY_NONE)
		return;
	i = replay_choose(r, lane, k);
	if (i >= lane->n_ready)
		return;
	lane->working = lane->ready[i];
	lane->begun++;
	lane->n_ready--;
	memmove(&lane->ready[i], &lane->ready[i + 1], (lane->n_ready - i) * sizeof(*lane->ready));
	n = 0;
	while (n < r->s->network.list[k].size &&
	       replay_lane(r, replay_peer(r, rank, k, n), k)->working == lane->working)
		n++;
	if (n == r->s->network.list[k].size)
		replay_send(r, rank, k);
}

static void replay_events(struct replay *r)
{
	while (r->n_events) {
		struct replay_event e = replay_pop(r);
		unsigned int k = r->s->stages[e.stage].dimension;
		struct replay_lane *lane = replay_lane(r, e.rank, k);

		r->now = e.ps;
		if (e.free)
			lane->working = REPLAY_NONE;
		else
			lane->ready[lane->n_ready++] = e.stage;
		replay_work(r, e.rank, k);
	}
}

/* Say what one of those waits for that cannot go on: a peer that waits for another chunk. */
static void replay_explain(struct replay *r)
{
	unsigned int n = r->s->n_stages;

	for (uint32_t rank = 0; rank < r->s->network.ranks; rank++)
		for (unsigned int k = 0; k < r->s->network.n; k++) {
			const struct replay_lane *lane = replay_lane(r, rank, k);

			r->played->left += r->run->per_dimension - lane->sent;
			if (lane->working == REPLAY_NONE || *r->played->waits)
				continue;
			for (unsigned int i = 0; i < r->s->network.list[k].size; i++) {
				uint32_t peer = replay_peer(r, rank, k, i);
				uint32_t other = replay_lane(r, peer, k)->working;

				if (other == lane->working || other == REPLAY_NONE)
					continue;
				snprintf(r->played->waits, sizeof(r->played->waits),
					 "in dimension %u, rank %u waits with chunk %u for rank %u, which "
					 "waits with chunk %u", k + 1, rank, lane->working / n, peer,
					 other / n);
				break;
			}
		}
	if (*r->played->waits)
		r->played->ps = r->now;
}

static int replay_init(struct replay *r)
{
	const struct to_dimensions *network = &r->s->network;
	size_t n = (size_t)network->ranks * network->n;
	unsigned int stride = 1;
	uint32_t *ready;

	r->lanes = to_arena_array(&r->arena, n, sizeof(*r->lanes));
	ready = to_arena_array(&r->arena, n * r->run->per_dimension, sizeof(*ready));
	r->heap = to_arena_array(&r->arena, n * r->run->per_dimension * 2, sizeof(*r->heap));
	if (r->arena.failed)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		r->lanes[i].ready = &ready[i * r->run->per_dimension];
		r->lanes[i].working = REPLAY_NONE;
	}
	for (unsigned int k = 0; k < network->n; k++) {
		r->stride[k] = stride;
		stride *= network->list[k].size;
	}
	for (uint32_t rank = 0; rank < network->ranks; rank++) {
		uint64_t late = replay_late(r);	/* its whole buffer */

		for (unsigned int c = 0; c < r->s->setting.n_chunks; c++)
			replay_ready(r, rank, c * r->s->n_stages, late);
	}
	return 0;
}

int to_chunk_replay(const struct to_chunk_schedule *s, const struct to_chunk_run *run,
		    struct to_chunk_replay *replay, struct to_error *err)
{
	struct replay r = { .s = s, .run = run, .played = replay, .random = replay->seed };
	uint64_t n = (uint64_t)s->network.ranks * s->setting.n_chunks * s->n_stages;

	if (n > TO_CHUNK_REPLAY_MAX)
		return to_error_set(err, -E2BIG, "a replay is for up to %u stages of ranks, %llu here: fewer "
				    "chunks?", TO_CHUNK_REPLAY_MAX, (unsigned long long)n);
	replay->ps = 0;
	replay->left = 0;
	replay->waits[0] = '\0';
	if (replay_init(&r)) {
		to_arena_free(&r.arena);
		return to_error_set(err, -ENOMEM, "out of memory");
	}
	replay_events(&r);
	replay_explain(&r);
	to_arena_free(&r.arena);
	return 0;
}
