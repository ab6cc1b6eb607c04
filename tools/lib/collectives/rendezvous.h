/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_RENDEZVOUS_H
#define TOPOOPT_RENDEZVOUS_H

/*
 * How the members of a collective find each other: a process per server, over TCP. Members
 * prove to each other that they have the token of the run (greeting.h). Whoever does not is a
 * stranger, whose connection is closed; no stranger ends a run or makes it blame a server.
 */

#include <stdint.h>

#include "collectives/collective_plan.h"
#include "collectives/exchange.h"

#define TO_RENDEZVOUS_PORT 7471u

/** struct to_rendezvous - a member among the others; pointers are borrowed */
struct to_rendezvous {
	const struct to_collective_plan *c;
	uint32_t self;			/* member of @c; member 0 is where all meet */
	uint64_t run;			/* equal at all members that run the same collective */
	const char *token;		/* secret that all members have in common */
	uint16_t port;			/* TCP port that all listen at */
	uint64_t deadline_ns;		/* by to_clock_monotonic_ns() */

	unsigned int n_listeners;
	int *listeners;			/* sockets, one for each address that members connect to */
	int *met;			/* at member 0 a socket of each other one, else of member 0 first; -1: none */
};

/**
 * to_rendezvous_open() - listen at the addresses that the other members connect to
 * @r: first six fields are set
 * @x: connections of this member
 *
 * Return: 0 or a negative errno with @err set.
 */
int to_rendezvous_open(struct to_rendezvous *r, const struct to_exchange *x, struct to_error *err);

/** to_rendezvous_close() - close all sockets but those of the exchange */
void to_rendezvous_close(struct to_rendezvous *r);

/**
 * to_rendezvous_connect() - make all connections of @x, and one to member 0
 *
 * Waits for the others, then stops to listen. Return: 0; -ETIMEDOUT, -EPROTO where another
 * member runs another collective, and others, with @err naming the server.
 */
int to_rendezvous_connect(struct to_rendezvous *r, struct to_exchange *x, struct to_error *err);

/**
 * to_rendezvous_meet() - wait until all members have come here
 * @mine: @size bytes that member 0 is told
 * @all: gets them at member 0, member by member; else NULL
 *
 * Return: as to_rendezvous_connect().
 */
int to_rendezvous_meet(struct to_rendezvous *r, const void *mine, void *all, size_t size,
		       struct to_error *err);

#endif
