/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_AGENT_EVENTS_H
#define TOPOOPT_AGENT_EVENTS_H

/* Tells a controller at a pipe of a server that changes, without having been asked. */

#include <stdio.h>

#include "control/keeper.h"
#include "kernel/apply_kept.h"

/** struct to_agent_events - events of one agent */
struct to_agent_events {
	const char *device;		/* name of the topoopt device */
	FILE *out;			/* where replies go */
	struct to_apply_kept kept;	/* of the keeper's thread */
	size_t left;			/* bytes of events that may be written until the next request */
};

/**
 * to_agent_events_allow() - Allow further events: a request came
 *
 * A controller that does not read must not stop the keeper: between two requests there are at
 * most TO_AGENT_EVENTS_MAX bytes of events. A reply says all that an event says.
 */
#define TO_AGENT_EVENTS_MAX 32768u
void to_agent_events_allow(struct to_agent_events *events);

/** to_agent_events_tell() - to_keeper_config.changed: write how the server is */
void to_agent_events_tell(struct to_keeper *keeper, void *events);

void to_agent_events_close(struct to_agent_events *events);

#endif
