/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PACKET_EVENTS_H
#define TOPOOPT_PACKET_EVENTS_H

/*
 * What happens when, at packet level: a calendar queue (Brown, CACM 31(10), 1988) whose year
 * holds what links and relays take, and a heap for what is later, such as timeouts.
 * Events of one time come out in the order in which they were put in.
 */

#include <stdbool.h>
#include <stdint.h>

/** struct to_packet_event - @time in picoseconds; @next: in its bucket, or of the free ones */
struct to_packet_event {
	uint64_t time;
	uint32_t what, next;
};

/** struct to_packet_later - an event beyond the year, @order of arrival in the heap */
struct to_packet_later {
	uint64_t time, order;
	uint32_t what;
};

/** struct to_packet_bucket - events of one day by time, UINT32_MAX for none */
struct to_packet_bucket {
	uint32_t first, last;
};

/**
 * struct to_packet_events - the queue
 * @day: of the last event, its time >> @shift; the wheel has those below @day + @n_days
 * @occupied: a bit per bucket
 * @failed: an event found no memory and was lost
 */
struct to_packet_events {
	unsigned int shift;
	uint32_t n_days, n_near, n_later, max_later, n_pool, max_pool, free;
	uint64_t day, order;
	struct to_packet_bucket *buckets;
	uint64_t *occupied;
	struct to_packet_event *pool;
	struct to_packet_later *later;
	bool failed;
};

/**
 * to_packet_events_init() - empty, at time 0
 * @busy: about how many events wait at once
 * @year: picoseconds within which most events happen
 *
 * Return: 0 or -ENOMEM.
 */
int to_packet_events_init(struct to_packet_events *events, uint32_t busy, uint64_t year);
void to_packet_events_free(struct to_packet_events *events);

/** to_packet_events_clear() - drop all, back to time 0 */
void to_packet_events_clear(struct to_packet_events *events);

/** to_packet_events_add() - @what at @time, not before the event taken last */
void to_packet_events_add(struct to_packet_events *events, uint64_t time, uint32_t what);

/** to_packet_events_first() - time of the first event that @is, UINT64_MAX without one */
uint64_t to_packet_events_first(const struct to_packet_events *events,
				bool (*is)(const void *data, uint32_t what), const void *data);

/**
 * to_packet_events_shift() - put those that @moves off
 * @now: that it is then; no event that stays is before it
 *
 * Return: 0, or -ENOMEM with nothing changed.
 */
int to_packet_events_shift(struct to_packet_events *events, uint64_t now, uint64_t by,
			   bool (*moves)(const void *data, uint32_t what), const void *data);

/** to_packet_events_take() - the next one; false when there is none */
bool to_packet_events_take(struct to_packet_events *events, uint64_t *time, uint32_t *what);

#endif
