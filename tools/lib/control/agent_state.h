/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_AGENT_STATE_H
#define TOPOOPT_AGENT_STATE_H

/* How a server is, as its agent adds it to each reply and tells it when it changes. */

#include <jansson.h>

#include "base/error.h"
#include "control/keeper.h"
#include "kernel/apply_kept.h"

/*
 * What an agent says, and does without being asked: 2 is "protocol", "features", "peers",
 * "deviations" and events, and what apply made is kept. Agents before that say no "protocol".
 */
#define TO_AGENT_PROTOCOL 2

/**
 * to_agent_device() - read a topoopt device
 * @device: its name
 * @state: gets it, zeroed when there is none
 *
 * Return: 0; 1 when there is no device; a negative errno with @err.
 */
int to_agent_device(struct to_apply_kept *kept, const char *device, struct to_device *state,
		    struct to_error *err);

/**
 * to_agent_state() - Add to a reply how the server is
 * @keeper: of this server, or NULL
 * @reply: gets "protocol", "generation", "staged", "live", "light"; "features" (an array of what the
 *	module can: "checks") unless the kernel cannot load it; with a device, where its module
 *	has checks, "peers" (see to_peers_json()); from @keeper "deviations"; see agent.h
 *
 * Return: 0, also without a device; a negative errno with @err.
 */
int to_agent_state(struct to_apply_kept *kept, const char *device, struct to_keeper *keeper,
		   json_t *reply, struct to_error *err);

/**
 * to_agent_is_old() - tell whether a reply is of an agent that is older than TO_AGENT_PROTOCOL
 *
 * A reply without a state, as refusals may be, does not tell.
 */
bool to_agent_is_old(const json_t *reply);

/** to_agent_is_unable() - tell whether a server sends no checks: its agent or its module is too old */
bool to_agent_is_unable(const json_t *reply);

#endif
