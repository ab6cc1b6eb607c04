/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PACKET_CALENDAR_H
#define TOPOOPT_PACKET_CALENDAR_H

/*
 * The events of a simulation in the order of time: a calendar queue (Brown, CACM 31(10), 1988)
 * whose year is as long as links and relays take, and a heap for later events, such as
 * timeouts. Events of one time come out in the order in which they were added.
 */

#include <stdbool.h>
#include <stdint.h>

/** struct to_packet_event - an event within the year */
struct to_packet_event {
	uint64_t time;		/* picoseconds */
	uint32_t what;
	uint32_t next;		/* event after it in its bucket, or in the list of free ones */
};

/** struct to_packet_later - an event beyond the year */
struct to_packet_later {
	uint64_t time, order;	/* events of one time come out by @order */
	uint32_t what;
};

/** struct to_packet_bucket - events of one day by time, UINT32_MAX for none */
struct to_packet_bucket {
	uint32_t first, last;
};

/** struct to_packet_calendar - events of the year in a wheel, later ones in a heap */
struct to_packet_calendar {
	unsigned int shift;		/* a day has 2^@shift picoseconds */
	uint32_t n_days;		/* of the year */
	uint32_t n_near;		/* events in the wheel */
	uint32_t n_later, max_later;	/* events in the heap, and room in it */
	uint32_t n_pool, max_pool;	/* events of the wheel, free ones included; room for them */
	uint32_t free;			/* first free event of @pool */
	uint64_t day;			/* of the last event; the wheel ends at @day + @n_days */
	uint64_t order;			/* of the next event in the heap */
	struct to_packet_bucket *buckets;	/* per day of the year */
	uint64_t *occupied;		/* a bit per bucket */
	struct to_packet_event *pool;
	struct to_packet_later *later;
	bool failed;			/* an event found no memory and was lost */
};

/**
 * to_packet_calendar_init() - Make an empty calendar at time 0
 * @busy: events that wait at once, roughly
 * @year: picoseconds within which most events happen
 *
 * Return: 0 or -ENOMEM.
 */
int to_packet_calendar_init(struct to_packet_calendar *calendar, uint32_t busy, uint64_t year);
void to_packet_calendar_free(struct to_packet_calendar *calendar);

/** to_packet_calendar_clear() - Remove all events and go back to time 0 */
void to_packet_calendar_clear(struct to_packet_calendar *calendar);

/** to_packet_calendar_add() - Add an event at @time, not before the event taken last */
void to_packet_calendar_add(struct to_packet_calendar *calendar, uint64_t time, uint32_t what);

/** to_packet_calendar_first() - Return the time of the first event that @is, UINT64_MAX for none */
uint64_t to_packet_calendar_first(const struct to_packet_calendar *calendar,
				  bool (*is)(const void *data, uint32_t what), const void *data);

/**
 * to_packet_calendar_shift() - Put events off
 * @now: time after that; no event that stays is before it
 * @by: picoseconds
 * @moves: tells which events are put off
 *
 * Return: 0, or -ENOMEM with nothing changed.
 */
int to_packet_calendar_shift(struct to_packet_calendar *calendar, uint64_t now, uint64_t by,
			     bool (*moves)(const void *data, uint32_t what), const void *data);

/** to_packet_calendar_take() - Take the next event; false when there is none */
bool to_packet_calendar_take(struct to_packet_calendar *calendar, uint64_t *time, uint32_t *what);

#endif
