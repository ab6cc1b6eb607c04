/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_EVENTS_H
#define TOPOOPT_EVENTS_H

/*
 * Server-sent events (HTML Living Standard, 9.2). Who comes late is told how things are,
 * and what happened of late; who is slow is told of how things are no more often than it
 * can read.
 */

#include <stdbool.h>

#include "base/error.h"

struct MHD_Connection;
struct MHD_Response;
struct to_events;

/** to_events_new() - none yet; NULL when out of memory */
struct to_events *to_events_new(void);

/** to_events_end() - all streams end, and no other begins */
void to_events_end(struct to_events *events);

/** to_events_free() - when no stream is left */
void to_events_free(struct to_events *events);

/**
 * to_events_say() - an event for all who listen, from any thread
 * @name: of a few; not copied
 * @state: this is how things are, and replaces what was said under @name before; else it
 *	happened, and the last TO_EVENTS_KEPT of these are kept
 * @text: UTF-8, lines ended by LF, the last one need not be; copied
 *
 * Return: 0 or -ENOMEM.
 */
#define TO_EVENTS_KEPT 500
int to_events_say(struct to_events *events, const char *name, bool state, const char *text);

/** to_events_response() - a stream for one connection; NULL: too many, or out of memory */
struct MHD_Response *to_events_response(struct to_events *events,
					struct MHD_Connection *connection);

#endif
