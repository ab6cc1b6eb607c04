// SPDX-License-Identifier: GPL-2.0-or-later
#include "http/events.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/lazy_microhttpd.h"

#define EVENTS_STATES 8		/* names of them */
#define EVENTS_STREAMS 32	/* half of the connections of http.c */
#define EVENTS_BLOCK 16384	/* bytes that a stream is asked for at once */

/* As it is sent; freed when nobody needs it. */
struct event {
	const char *name;
	uint64_t number;
	unsigned int users;
	size_t len;
	char *text;
};

/* @sent: number of the last event of which nothing is left to send; @at: of @event. */
struct stream {
	struct to_events *events;
	struct MHD_Connection *connection;
	struct event *event;
	size_t at;
	uint64_t sent;
	bool suspended;
	struct stream *next;
};

struct to_events {
	pthread_mutex_t lock;
	struct event *states[EVENTS_STATES], *happened[TO_EVENTS_KEPT];
	unsigned int n_happened, n_streams;
	uint64_t number;
	struct stream *streams;
	bool ended;
};

struct to_events *to_events_new(void)
{
	struct to_events *events = calloc(1, sizeof(*events));

	if (events)
		pthread_mutex_init(&events->lock, NULL);
	return events;
}

static void event_put(struct event *event)
{
	if (!event || --event->users)
		return;
	free(event->text);
	free(event);
}

void to_events_free(struct to_events *events)
{
	if (!events)
		return;
	for (unsigned int i = 0; i < EVENTS_STATES; i++)
		event_put(events->states[i]);
	for (unsigned int i = 0; i < TO_EVENTS_KEPT; i++)
		event_put(events->happened[i]);
	pthread_mutex_destroy(&events->lock);
	free(events);
}

/* Each line of the text is one of data. */
static struct event *event_new(const char *name, const char *text)
{
	struct event *event = calloc(1, sizeof(*event));
	FILE *out = event ? open_memstream(&event->text, &event->len) : NULL;

	if (!out) {
		free(event);
		return NULL;
	}
	fprintf(out, "event: %s\n", name);
	while (*text) {
		const size_t len = strcspn(text, "\n");

		fprintf(out, "data: %.*s\n", (int)len, text);
		text += len + !!text[len];
	}
	putc('\n', out);
	if (fclose(out)) {
		free(event->text);
		free(event);
		return NULL;
	}
	event->name = name;
	event->users = 1;
	return event;
}

static void events_wake(struct to_events *events)
{
	for (struct stream *s = events->streams; s; s = s->next) {
		if (s->suspended)
			to_mhd.resume_connection(s->connection);
		s->suspended = false;
	}
}

int to_events_say(struct to_events *events, const char *name, bool state, const char *text)
{
	struct event *event = event_new(name, text), **place;
	unsigned int i = 0;

	if (!event)
		return -ENOMEM;
	pthread_mutex_lock(&events->lock);
	while (i + 1 < EVENTS_STATES && events->states[i] && strcmp(events->states[i]->name, name))
		i++;
	place = state ? &events->states[i] : &events->happened[events->n_happened++ % TO_EVENTS_KEPT];
	event->number = ++events->number;
	event_put(*place);
	*place = event;
	events_wake(events);
	pthread_mutex_unlock(&events->lock);
	return 0;
}

void to_events_end(struct to_events *events)
{
	pthread_mutex_lock(&events->lock);
	events->ended = true;
	events_wake(events);
	pthread_mutex_unlock(&events->lock);
}

/* The first one after those that were sent. */
static struct event *events_next(struct to_events *events, uint64_t sent)
{
	struct event *next = NULL;

	for (unsigned int i = 0; i < EVENTS_STATES + TO_EVENTS_KEPT; i++) {
		struct event *event = i < EVENTS_STATES ? events->states[i] :
							  events->happened[i - EVENTS_STATES];

		if (event && event->number > sent && (!next || event->number < next->number))
			next = event;
	}
	return next;
}

static ssize_t stream_read(void *data, uint64_t position, char *buffer, size_t max)
{
	struct stream *s = data;
	struct to_events *events = s->events;
	ssize_t len = 0;

	(void)position;
	pthread_mutex_lock(&events->lock);
	if (!s->event) {
		s->event = events_next(events, s->sent);
		s->at = 0;
		if (s->event)
			s->event->users++;
	}
	if (events->ended) {
		len = MHD_CONTENT_READER_END_OF_STREAM;
	} else if (!s->event) {
		s->suspended = true;
		to_mhd.suspend_connection(s->connection);
	} else {
		len = s->event->len - s->at < max ? s->event->len - s->at : max;
		memcpy(buffer, s->event->text + s->at, len);
		s->at += len;
		if (s->at == s->event->len) {
			s->sent = s->event->number;
			event_put(s->event);
			s->event = NULL;
		}
	}
	pthread_mutex_unlock(&events->lock);
	return len;
}

static void stream_free(void *data)
{
	struct stream *s = data, **at;
	struct to_events *events = s->events;

	pthread_mutex_lock(&events->lock);
	for (at = &events->streams; *at != s; at = &(*at)->next)
		;
	*at = s->next;
	events->n_streams--;
	event_put(s->event);
	pthread_mutex_unlock(&events->lock);
	free(s);
}

struct MHD_Response *to_events_response(struct to_events *events,
					struct MHD_Connection *connection)
{
	struct MHD_Response *response = NULL;
	struct stream *s = calloc(1, sizeof(*s));
	bool room;

	if (!s)
		return NULL;
	*s = (struct stream){ .events = events, .connection = connection };
	pthread_mutex_lock(&events->lock);
	room = events->n_streams < EVENTS_STREAMS;
	if (room) {
		events->n_streams++;
		s->next = events->streams;
		events->streams = s;
	}
	pthread_mutex_unlock(&events->lock);
	if (room)
		response = to_mhd.create_response_from_callback(MHD_SIZE_UNKNOWN, EVENTS_BLOCK,
								stream_read, s, stream_free);
	if (response)
		return response;
	if (room)
		stream_free(s);
	else
		free(s);
	return NULL;
}
