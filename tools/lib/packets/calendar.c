// SPDX-License-Identifier: GPL-2.0-or-later
#include "packets/calendar.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CALENDAR_NONE UINT32_MAX
#define CALENDAR_DAYS_MIN 1024
#define CALENDAR_DAYS_MAX 65536

int to_packet_calendar_init(struct to_packet_calendar *c, uint32_t busy, uint64_t year)
{
	memset(c, 0, sizeof(*c));
	for (c->n_days = CALENDAR_DAYS_MIN; c->n_days < busy && c->n_days < CALENDAR_DAYS_MAX;)
		c->n_days *= 2;
	while (((uint64_t)c->n_days << c->shift) < year)
		c->shift++;
	c->buckets = malloc(c->n_days * sizeof(*c->buckets));
	c->occupied = malloc(c->n_days / 64 * sizeof(*c->occupied));
	if (!c->buckets || !c->occupied) {
		to_packet_calendar_free(c);
		return -ENOMEM;
	}
	to_packet_calendar_clear(c);
	return 0;
}

void to_packet_calendar_free(struct to_packet_calendar *c)
{
	free(c->buckets);
	free(c->occupied);
	free(c->pool);
	free(c->later);
	memset(c, 0, sizeof(*c));
}

void to_packet_calendar_clear(struct to_packet_calendar *c)
{
	memset(c->buckets, 0xff, c->n_days * sizeof(*c->buckets));
	memset(c->occupied, 0, c->n_days / 64 * sizeof(*c->occupied));
	c->n_near = c->n_later = c->n_pool = 0;
	c->day = c->order = 0;
	c->free = CALENDAR_NONE;
	c->failed = false;
}

static uint32_t calendar_allocate(struct to_packet_calendar *c)
{
	struct to_packet_event *grown;
	uint32_t event = c->free;

	if (event != CALENDAR_NONE) {
		c->free = c->pool[event].next;
		return event;
	}
	if (c->n_pool == c->max_pool) {
		grown = realloc(c->pool, (2 * (size_t)c->max_pool + 1024) * sizeof(*grown));
		if (!grown) {
			c->failed = true;
			return CALENDAR_NONE;
		}
		c->pool = grown;
		c->max_pool = 2 * c->max_pool + 1024;
	}
	return c->n_pool++;
}

static void calendar_add_near(struct to_packet_calendar *c, uint64_t time, uint32_t what)
{
	const uint32_t day = (time >> c->shift) & (c->n_days - 1), event = calendar_allocate(c);
	struct to_packet_bucket *bucket = &c->buckets[day];
	uint32_t *at;

	if (event == CALENDAR_NONE)
		return;
	c->pool[event].time = time;
	c->pool[event].what = what;
	c->n_near++;
	if (bucket->first == CALENDAR_NONE || c->pool[bucket->last].time <= time) {
		if (bucket->first == CALENDAR_NONE) {
			bucket->first = event;
			c->occupied[day / 64] |= 1ull << day % 64;
		} else {
			c->pool[bucket->last].next = event;
		}
		c->pool[event].next = CALENDAR_NONE;
		bucket->last = event;
		return;
	}
	for (at = &bucket->first; c->pool[*at].time <= time; at = &c->pool[*at].next)
		;
	c->pool[event].next = *at;
	*at = event;
}

static bool calendar_before(const struct to_packet_later *a, const struct to_packet_later *b)
{
	return a->time < b->time || (a->time == b->time && a->order < b->order);
}

static void calendar_add_later(struct to_packet_calendar *c, uint64_t time, uint32_t what)
{
	const struct to_packet_later later = { time, c->order++, what };
	struct to_packet_later *grown;
	uint32_t at;

	if (c->n_later == c->max_later) {
		grown = realloc(c->later, (2 * (size_t)c->max_later + 256) * sizeof(*grown));
		if (!grown) {
			c->failed = true;
			return;
		}
		c->later = grown;
		c->max_later = 2 * c->max_later + 256;
	}
	for (at = c->n_later++; at && calendar_before(&later, &c->later[(at - 1) / 2]);
	     at = (at - 1) / 2)
		c->later[at] = c->later[(at - 1) / 2];
	c->later[at] = later;
}

static void calendar_remove_later(struct to_packet_calendar *c)
{
	struct to_packet_later *l = c->later, last = l[--c->n_later];
	uint32_t at = 0, child;

	for (; (child = 2 * at + 1) < c->n_later; at = child) {
		if (child + 1 < c->n_later && calendar_before(&l[child + 1], &l[child]))
			child++;
		if (!calendar_before(&l[child], &last))
			break;
		l[at] = l[child];
	}
	l[at] = last;
}

/* Move events into the wheel that the year, which begins on c->day, now has. */
static void calendar_turn(struct to_packet_calendar *c)
{
	while (c->n_later && c->later[0].time >> c->shift < c->day + c->n_days) {
		calendar_add_near(c, c->later[0].time, c->later[0].what);
		calendar_remove_later(c);
	}
}

void to_packet_calendar_add(struct to_packet_calendar *c, uint64_t time, uint32_t what)
{
	if (time >> c->shift < c->day + c->n_days)
		calendar_add_near(c, time, what);
	else
		calendar_add_later(c, time, what);
}

/* Go to the next day that has an event. */
static void calendar_advance(struct to_packet_calendar *c)
{
	const uint32_t mask = c->n_days - 1;
	uint32_t day = c->day & mask;
	uint64_t word = c->occupied[day / 64] >> day % 64;

	if (word) {
		c->day += __builtin_ctzll(word);
	} else {
		c->day += 64 - day % 64;
		while (!(word = c->occupied[(c->day & mask) / 64]))
			c->day += 64;
		c->day += __builtin_ctzll(word);
	}
	calendar_turn(c);
}

bool to_packet_calendar_take(struct to_packet_calendar *c, uint64_t *time, uint32_t *what)
{
	struct to_packet_bucket *bucket = &c->buckets[c->day & (c->n_days - 1)];
	uint32_t event;

	if (bucket->first == CALENDAR_NONE) {
		if (!c->n_near) {
			if (!c->n_later)
				return false;
			c->day = c->later[0].time >> c->shift;
			calendar_turn(c);
		}
		calendar_advance(c);
		bucket = &c->buckets[c->day & (c->n_days - 1)];
	}
	event = bucket->first;
	*time = c->pool[event].time;
	*what = c->pool[event].what;
	bucket->first = c->pool[event].next;
	if (bucket->first == CALENDAR_NONE) {
		const uint32_t day = c->day & (c->n_days - 1);

		c->occupied[day / 64] &= ~(1ull << day % 64);
	}
	c->pool[event].next = c->free;
	c->free = event;
	c->n_near--;
	return true;
}

uint64_t to_packet_calendar_first(const struct to_packet_calendar *c,
				  bool (*is)(const void *data, uint32_t what), const void *data)
{
	uint64_t first = UINT64_MAX;
	uint32_t day, i;

	for (day = 0; day < c->n_days; day++)
		for (i = c->buckets[day].first; i != CALENDAR_NONE; i = c->pool[i].next)
			if (c->pool[i].time < first && is(data, c->pool[i].what))
				first = c->pool[i].time;
	for (i = 0; i < c->n_later; i++)
		if (c->later[i].time < first && is(data, c->later[i].what))
			first = c->later[i].time;
	return first;
}

int to_packet_calendar_shift(struct to_packet_calendar *c, uint64_t now, uint64_t by,
			     bool (*moves)(const void *data, uint32_t what), const void *data)
{
	const uint32_t n = c->n_near + c->n_later;
	struct to_packet_later *all = malloc((n + 1) * sizeof(*all));
	uint32_t i;

	if (!all)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		to_packet_calendar_take(c, &all[i].time, &all[i].what);
	to_packet_calendar_clear(c);
	c->day = now >> c->shift;
	for (i = 0; i < n; i++)
		to_packet_calendar_add(c, all[i].time + (moves(data, all[i].what) ? by : 0),
				       all[i].what);
	free(all);
	return 0;
}
