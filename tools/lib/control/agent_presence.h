/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_AGENT_PRESENCE_H
#define TOPOOPT_AGENT_PRESENCE_H

/*
 * What etcd has of an agent (etcd_key.h): its server's name is taken, and what it said
 * last. A lease removes all of that when the agent has died.
 */

#include <jansson.h>
#include <stdint.h>

#include "control/etcd.h"
#include "control/etcd_owner.h"

/** struct to_agent_presence - presence of one agent; made by to_agent_presence_init() */
struct to_agent_presence {
	struct to_etcd *etcd;
	const char *server;
	char key[256];			/* of the server's owner */
	struct to_etcd_owner owner;
	uint64_t kept_ms;		/* monotonic time at which the name was seen to be ours */
};

/**
 * to_agent_presence_init() - Prepare to take the name of a server
 * @etcd, @server: used until to_agent_presence_end()
 * @ttl: seconds without a sign of the agent until it counts as dead
 */
void to_agent_presence_init(struct to_agent_presence *p, struct to_etcd *etcd,
			    const char *server, unsigned int ttl);

/** to_agent_presence_is_claimed() - Tell whether the name is ours, as far as we know */
bool to_agent_presence_is_claimed(const struct to_agent_presence *p);

/**
 * to_agent_presence_claim() - Take the name
 *
 * Controllers see the agent when it says its state.
 *
 * Return: 0; -EBUSY: another agent has the name and lives, @err says which, and
 * controllers learn of us; -EAGAIN: another agent has the name and was asked whether it
 * lives, call again; another negative errno with @err.
 */
int to_agent_presence_claim(struct to_agent_presence *p, struct to_error *err);

/** to_agent_presence_lose() - Give the name up; the next claim replaces our own key */
void to_agent_presence_lose(struct to_agent_presence *p);

/**
 * to_agent_presence_keep() - Prolong the lease, and answer who wants the name
 *
 * Return: 0; -ENOENT when the name is not ours any more; another negative errno with @err.
 */
int to_agent_presence_keep(struct to_agent_presence *p, struct to_error *err);

/**
 * to_agent_presence_say() - Put @reply as @what: "state", "matrix" or "look"
 *
 * Return: 0; -ENOENT when the name is not ours any more; -EHOSTUNREACH when etcd does not
 * answer; another errno when it will never take this reply.
 */
int to_agent_presence_say(struct to_agent_presence *p, const char *what, const json_t *reply,
			  struct to_error *err);

/** to_agent_presence_end() - Delete the keys of the agent from etcd */
void to_agent_presence_end(struct to_agent_presence *p);

#endif
