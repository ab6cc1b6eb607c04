/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_AGENT_PRESENCE_H
#define TOPOOPT_AGENT_PRESENCE_H

/*
 * What etcd has of an agent (etcd_key.h): that its server's name is taken, and what
 * it said last. All of it is under one lease and goes with it.
 */

#include <jansson.h>
#include <stdint.h>

#include "control/etcd.h"

/**
 * struct to_agent_presence - of one agent
 * @ttl: of the lease, seconds
 * @lease: 0: we are not there
 * @created: revision in which we took the name
 * @kept_ms: when the lease was prolonged
 * @patience_ms: until when to wait for another one's lease to end, 0: there was none
 */
struct to_agent_presence {
	struct to_etcd *etcd;
	const char *server;
	unsigned int ttl;
	int64_t lease, created;
	uint64_t kept_ms, patience_ms;
};

/**
 * to_agent_presence_claim() - take the name, with a new lease
 * @state: first reply; what was said under an old lease is gone
 *
 * Return: 0; -EBUSY: another agent has the name, @err says which, and controllers
 * learn of us; -EAGAIN: so it is, but its lease may end yet; another errno.
 */
int to_agent_presence_claim(struct to_agent_presence *p, const json_t *state,
			    struct to_error *err);

/** to_agent_presence_keep() - prolong the lease; -ENOENT when it has ended */
int to_agent_presence_keep(struct to_agent_presence *p, struct to_error *err);

/**
 * to_agent_presence_say() - put @reply as @what, "state" or "matrix"
 *
 * Return: 0; -ENOENT when the lease has ended; -EHOSTUNREACH when etcd does not
 * answer; another errno when it will never take this reply.
 */
int to_agent_presence_say(struct to_agent_presence *p, const char *what, const json_t *reply,
			  struct to_error *err);

/** to_agent_presence_end() - go */
void to_agent_presence_end(struct to_agent_presence *p);

#endif
