// SPDX-License-Identifier: GPL-2.0-or-later
#include "simulate/packet_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS_NONE UINT32_MAX
#define EVENTS_DAYS_MIN 1024
#define EVENTS_DAYS_MAX 65536

int to_packet_events_init(struct to_packet_events *e, uint32_t busy, uint64_t year)
{
	memset(e, 0, sizeof(*e));
	for (e->n_days = EVENTS_DAYS_MIN; e->n_days < busy && e->n_days < EVENTS_DAYS_MAX;)
		e->n_days *= 2;
	while (((uint64_t)e->n_days << e->shift) < year)
		e->shift++;
	e->buckets = malloc(e->n_days * sizeof(*e->buckets));
	e->occupied = malloc(e->n_days / 64 * sizeof(*e->occupied));
	if (!e->buckets || !e->occupied) {
		to_packet_events_free(e);
		return -ENOMEM;
	}
	to_packet_events_clear(e);
	return 0;
}

void to_packet_events_free(struct to_packet_events *e)
{
	free(e->buckets);
	free(e->occupied);
	free(e->pool);
	free(e->later);
	memset(e, 0, sizeof(*e));
}

void to_packet_events_clear(struct to_packet_events *e)
{
	memset(e->buckets, 0xff, e->n_days * sizeof(*e->buckets));
	memset(e->occupied, 0, e->n_days / 64 * sizeof(*e->occupied));
	e->n_near = e->n_later = e->n_pool = 0;
	e->day = e->order = 0;
	e->free = EVENTS_NONE;
	e->failed = false;
}

static uint32_t events_allocate(struct to_packet_events *e)
{
	struct to_packet_event *grown;
	uint32_t event = e->free;

	if (event != EVENTS_NONE) {
		e->free = e->pool[event].next;
		return event;
	}
	if (e->n_pool == e->max_pool) {
		grown = realloc(e->pool, (2 * (size_t)e->max_pool + 1024) * sizeof(*grown));
		if (!grown) {
			e->failed = true;
			return EVENTS_NONE;
		}
		e->pool = grown;
		e->max_pool = 2 * e->max_pool + 1024;
	}
	return e->n_pool++;
}

static void events_add_near(struct to_packet_events *e, uint64_t time, uint32_t what)
{
	const uint32_t day = (time >> e->shift) & (e->n_days - 1), event = events_allocate(e);
	struct to_packet_bucket *bucket = &e->buckets[day];
	uint32_t *at;

	if (event == EVENTS_NONE)
		return;
	e->pool[event].time = time;
	e->pool[event].what = what;
	e->n_near++;
	if (bucket->first == EVENTS_NONE || e->pool[bucket->last].time <= time) {
		if (bucket->first == EVENTS_NONE) {
			bucket->first = event;
			e->occupied[day / 64] |= 1ull << day % 64;
		} else {
			e->pool[bucket->last].next = event;
		}
		e->pool[event].next = EVENTS_NONE;
		bucket->last = event;
		return;
	}
	for (at = &bucket->first; e->pool[*at].time <= time; at = &e->pool[*at].next)
		;
	e->pool[event].next = *at;
	*at = event;
}

static bool events_before(const struct to_packet_later *a, const struct to_packet_later *b)
{
	return a->time < b->time || (a->time == b->time && a->order < b->order);
}

static void events_add_later(struct to_packet_events *e, uint64_t time, uint32_t what)
{
	const struct to_packet_later later = { time, e->order++, what };
	struct to_packet_later *grown;
	uint32_t at;

	if (e->n_later == e->max_later) {
		grown = realloc(e->later, (2 * (size_t)e->max_later + 256) * sizeof(*grown));
		if (!grown) {
			e->failed = true;
			return;
		}
		e->later = grown;
		e->max_later = 2 * e->max_later + 256;
	}
	for (at = e->n_later++; at && events_before(&later, &e->later[(at - 1) / 2]); at = (at - 1) / 2)
		e->later[at] = e->later[(at - 1) / 2];
	e->later[at] = later;
}

static void events_remove_later(struct to_packet_events *e)
{
	struct to_packet_later *l = e->later, last = l[--e->n_later];
	uint32_t at = 0, child;

	for (; (child = 2 * at + 1) < e->n_later; at = child) {
		if (child + 1 < e->n_later && events_before(&l[child + 1], &l[child]))
			child++;
		if (!events_before(&l[child], &last))
			break;
		l[at] = l[child];
	}
	l[at] = last;
}

/* What the year, which begins on e->day, now holds. */
static void events_turn(struct to_packet_events *e)
{
	while (e->n_later && e->later[0].time >> e->shift < e->day + e->n_days) {
		events_add_near(e, e->later[0].time, e->later[0].what);
		events_remove_later(e);
	}
}

void to_packet_events_add(struct to_packet_events *e, uint64_t time, uint32_t what)
{
	if (time >> e->shift < e->day + e->n_days)
		events_add_near(e, time, what);
	else
		events_add_later(e, time, what);
}

/* To the next day that has an event. */
static void events_advance(struct to_packet_events *e)
{
	const uint32_t mask = e->n_days - 1;
	uint32_t day = e->day & mask;
	uint64_t word = e->occupied[day / 64] >> day % 64;

	if (word) {
		e->day += __builtin_ctzll(word);
	} else {
		e->day += 64 - day % 64;
		while (!(word = e->occupied[(e->day & mask) / 64]))
			e->day += 64;
		e->day += __builtin_ctzll(word);
	}
	events_turn(e);
}

bool to_packet_events_take(struct to_packet_events *e, uint64_t *time, uint32_t *what)
{
	struct to_packet_bucket *bucket = &e->buckets[e->day & (e->n_days - 1)];
	uint32_t event;

	if (bucket->first == EVENTS_NONE) {
		if (!e->n_near) {
			if (!e->n_later)
				return false;
			e->day = e->later[0].time >> e->shift;
			events_turn(e);
		}
		events_advance(e);
		bucket = &e->buckets[e->day & (e->n_days - 1)];
	}
	event = bucket->first;
	*time = e->pool[event].time;
	*what = e->pool[event].what;
	bucket->first = e->pool[event].next;
	if (bucket->first == EVENTS_NONE) {
		const uint32_t day = e->day & (e->n_days - 1);

		e->occupied[day / 64] &= ~(1ull << day % 64);
	}
	e->pool[event].next = e->free;
	e->free = event;
	e->n_near--;
	return true;
}

uint64_t to_packet_events_first(const struct to_packet_events *e,
				bool (*is)(const void *data, uint32_t what), const void *data)
{
	uint64_t first = UINT64_MAX;
	uint32_t day, i;

	for (day = 0; day < e->n_days; day++)
		for (i = e->buckets[day].first; i != EVENTS_NONE; i = e->pool[i].next)
			if (e->pool[i].time < first && is(data, e->pool[i].what))
				first = e->pool[i].time;
	for (i = 0; i < e->n_later; i++)
		if (e->later[i].time < first && is(data, e->later[i].what))
			first = e->later[i].time;
	return first;
}

int to_packet_events_shift(struct to_packet_events *e, uint64_t now, uint64_t by,
			   bool (*moves)(const void *data, uint32_t what), const void *data)
{
	const uint32_t n = e->n_near + e->n_later;
	struct to_packet_later *all = malloc((n + 1) * sizeof(*all));
	uint32_t i;

	if (!all)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		to_packet_events_take(e, &all[i].time, &all[i].what);
	to_packet_events_clear(e);
	e->day = now >> e->shift;
	for (i = 0; i < n; i++)
		to_packet_events_add(e, all[i].time + (moves(data, all[i].what) ? by : 0), all[i].what);
	free(all);
	return 0;
}
