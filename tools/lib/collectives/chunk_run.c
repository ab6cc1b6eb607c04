// SPDX-License-Identifier: GPL-2.0-or-later
#include "collectives/chunk_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const to_chunk_orders[] = { "fifo", "scf", NULL };

/*
 * One dimension while it runs. Stages end in the order in which they begin, as they send
 * one after the other and have the same delay.
 */
struct chunk_lane {
	uint64_t free_ps, latency_ps;
	uint32_t *order, *waiting;
	unsigned int n_waiting, begun, ended;
};

struct chunk_clock {
	const struct to_chunk_schedule *s;
	struct to_chunk_run *run;
	enum to_chunk_order how;
	struct chunk_lane lanes[TO_DIMENSIONS_MAX];
	uint64_t *since;	/* that a stage waits */
	uint64_t now;
};

int to_chunk_run_init(struct to_chunk_run *run, const struct to_chunk_schedule *s)
{
	size_t n = (size_t)s->setting.n_chunks * s->n_stages;

	*run = (struct to_chunk_run){ .per_dimension = n / s->network.n };
	run->start = calloc(n, sizeof(*run->start));
	run->order = calloc(n, sizeof(*run->order));
	if (run->start && run->order)
		return 0;
	to_chunk_run_free(run);
	return -ENOMEM;
}

void to_chunk_run_free(struct to_chunk_run *run)
{
	free(run->start);
	free(run->order);
	*run = (struct to_chunk_run){};
}

static void chunk_run_wait(struct chunk_clock *c, uint32_t stage)
{
	struct chunk_lane *lane = &c->lanes[c->s->stages[stage].dimension];

	c->since[stage] = c->now;
	lane->waiting[lane->n_waiting++] = stage;
}

/* Whether @a goes before @b, both wait for the same dimension. */
static bool chunk_run_before(const struct chunk_clock *c, uint32_t a, uint32_t b)
{
	if (c->how == TO_CHUNK_SCF) {
		uint32_t parts_a = to_chunk_stage_parts(c->s, &c->s->stages[a]);
		uint32_t parts_b = to_chunk_stage_parts(c->s, &c->s->stages[b]);

		if (parts_a != parts_b)
			return parts_a > parts_b;
	}
	return c->since[a] != c->since[b] ? c->since[a] < c->since[b] : a < b;
}

/* Index of the next one among those that wait, n_waiting for none. */
static unsigned int chunk_run_choose(const struct chunk_clock *c, const struct chunk_lane *lane)
{
	unsigned int best = 0;

	for (unsigned int i = 0; i < lane->n_waiting; i++) {
		if (c->how == TO_CHUNK_GIVEN) {
			if (lane->waiting[i] == lane->order[lane->begun])
				return i;
		} else if (chunk_run_before(c, lane->waiting[i], lane->waiting[best])) {
			best = i;
		}
	}
	return c->how == TO_CHUNK_GIVEN ? lane->n_waiting : best;
}

static uint64_t chunk_run_end(const struct chunk_clock *c, const struct chunk_lane *lane,
			      uint32_t stage)
{
	return c->run->start[stage] + c->s->stages[stage].ps + lane->latency_ps;
}

/* Stages that have ended by now; those that follow them wait then. */
static void chunk_run_end_stages(struct chunk_clock *c, struct chunk_lane *lane)
{
	while (lane->ended < lane->begun) {
		uint32_t stage = lane->order[lane->ended];

		if (chunk_run_end(c, lane, stage) > c->now)
			return;
		lane->ended++;
		if ((stage + 1) % c->s->n_stages)
			chunk_run_wait(c, stage + 1);
		else if (c->now > c->run->ps)
			c->run->ps = c->now;
	}
}

static void chunk_run_begin_stages(struct chunk_clock *c, struct chunk_lane *lane)
{
	unsigned int most = c->s->setting.parallel ? c->s->setting.parallel : UINT32_MAX;

	while (lane->n_waiting && lane->free_ps <= c->now && lane->begun - lane->ended < most) {
		unsigned int i = chunk_run_choose(c, lane);
		uint32_t stage;

		if (i == lane->n_waiting)
			return;
		stage = lane->waiting[i];
		lane->waiting[i] = lane->waiting[--lane->n_waiting];
		lane->order[lane->begun++] = stage;
		c->run->start[stage] = c->now;
		lane->free_ps = c->now + c->s->stages[stage].ps;
	}
}

/* When something happens next; UINT64_MAX for never. */
static uint64_t chunk_run_next(const struct chunk_clock *c)
{
	uint64_t next = UINT64_MAX;

	for (unsigned int k = 0; k < c->s->network.n; k++) {
		const struct chunk_lane *lane = &c->lanes[k];
		uint64_t end = UINT64_MAX;

		if (lane->ended < lane->begun)
			end = chunk_run_end(c, lane, lane->order[lane->ended]);
		if (lane->n_waiting && lane->free_ps > c->now && lane->free_ps < end)
			end = lane->free_ps;
		if (end < next)
			next = end;
	}
	return next;
}

/* Stages without latency and bytes may follow each other at one time. */
static bool chunk_run_settle(struct chunk_clock *c)
{
	unsigned int before = 0, after = 0;

	for (unsigned int k = 0; k < c->s->network.n; k++)
		before += c->lanes[k].ended;
	for (unsigned int k = 0; k < c->s->network.n; k++)
		chunk_run_end_stages(c, &c->lanes[k]);
	for (unsigned int k = 0; k < c->s->network.n; k++)
		chunk_run_begin_stages(c, &c->lanes[k]);
	for (unsigned int k = 0; k < c->s->network.n; k++)
		after += c->lanes[k].ended;
	return after > before;
}

int to_chunk_run(struct to_chunk_run *run, const struct to_chunk_schedule *s,
		 enum to_chunk_order order)
{
	struct chunk_clock c = { .s = s, .run = run, .how = order };
	size_t n = (size_t)s->setting.n_chunks * s->n_stages;
	uint32_t *waiting = calloc(n, sizeof(*waiting));
	unsigned int k, done = 0;

	c.since = calloc(n, sizeof(*c.since));
	if (!waiting || !c.since) {
		free(waiting);
		free(c.since);
		return -ENOMEM;
	}
	run->ps = 0;
	for (k = 0; k < s->network.n; k++) {
		c.lanes[k].latency_ps = to_chunk_latency_ps(&s->network.list[k]);
		c.lanes[k].order = &run->order[(size_t)k * run->per_dimension];
		c.lanes[k].waiting = &waiting[(size_t)k * run->per_dimension];
	}
	for (unsigned int chunk = 0; chunk < s->setting.n_chunks; chunk++)
		chunk_run_wait(&c, chunk * s->n_stages);
	do {
		while (chunk_run_settle(&c))
			;
		c.now = chunk_run_next(&c);
	} while (c.now != UINT64_MAX);
	for (k = 0; k < s->network.n; k++)
		done += c.lanes[k].ended;
	free(waiting);
	free(c.since);
	return done == n ? 0 : -EDEADLK;
}

double to_chunk_run_utilisation(const struct to_chunk_run *run, const struct to_chunk_schedule *s,
				unsigned int dimension)
{
	double used = 0, all = 0;

	if (!run->ps)
		return 1;
	for (unsigned int k = 0; k < s->network.n; k++) {
		double bandwidth = s->network.list[k].bandwidth;
		uint64_t busy = 0;

		if (dimension < s->network.n && k != dimension)
			continue;
		for (unsigned int i = 0; i < run->per_dimension; i++)
			busy += s->stages[run->order[(size_t)k * run->per_dimension + i]].ps;
		used += bandwidth * ((double)busy / run->ps);
		all += bandwidth;
	}
	return used / all;
}
