/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_RENDEZVOUS_H
#define TOPOOPT_RENDEZVOUS_H

/* How the members of a collective find each other: a process per server, over TCP. */

#include <stdint.h>

#include "collectives/collective_plan.h"
#include "collectives/exchange.h"

#define TO_RENDEZVOUS_PORT 7471u

/**
 * struct to_rendezvous - a member among the others
 * @self: member of @c; member 0 is where they meet
 * @token: the same at all that run the same collective
 * @port: that all listen at
 * @deadline_ns: by to_clock_monotonic_ns()
 * @listener: socket
 * @met: at member 0 the socket of each other one, else of member 0 in the first place
 */
struct to_rendezvous {
	const struct to_collective_plan *c;
	uint32_t self;
	uint64_t token;
	uint16_t port;
	uint64_t deadline_ns;
	int listener, *met;
};

/**
 * to_rendezvous_open() - listen, as @r says
 *
 * Return: 0 or a negative errno with @err set.
 */
int to_rendezvous_open(struct to_rendezvous *r, struct to_error *err);
void to_rendezvous_close(struct to_rendezvous *r);

/**
 * to_rendezvous_connect() - all connections of @x, and one to member 0
 *
 * Waits for the others. Return: 0; -ETIMEDOUT, -EPROTO where another member runs another
 * collective, and others, with @err naming the server.
 */
int to_rendezvous_connect(struct to_rendezvous *r, struct to_exchange *x, struct to_error *err);

/**
 * to_rendezvous_meet() - wait until all have come here
 * @mine: @size bytes that member 0 is told
 * @all: gets them at member 0, member by member; else NULL
 *
 * Return: as to_rendezvous_connect().
 */
int to_rendezvous_meet(struct to_rendezvous *r, const void *mine, void *all, size_t size,
		       struct to_error *err);

#endif
