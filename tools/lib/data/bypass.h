/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_BYPASS_H
#define TOPOOPT_BYPASS_H

/*
 * Bytes that cards pass on from port to port. They cross no PCIe link of their relay. Routed
 * bytes count as RoCEv2 wherever a card takes that on.
 */

#include <stdint.h>

#include "base/arena.h"
#include "data/port_loads.h"

/** struct to_bypass - what the cards of all relays pass on */
struct to_bypass {
	const struct to_graph *graph;	/* borrowed */
	const struct to_cluster *cluster;	/* borrowed */
	bool any;		/* a card passes something on; else there are no arrays */
	double *here;		/* scratch, per arc: bytes to the address that is being routed */
	double *arrived;	/* per arc: bytes that the card at its end passes on */
	double *passed;		/* per arc: bytes that the card at its start has passed on */
	struct to_arena arena;	/* has all arrays */
};

/** to_bypass_init() - begin with nothing passed on. Return: 0 or -ENOMEM. */
int to_bypass_init(struct to_bypass *bypass, const struct to_graph *graph,
		   const struct to_cluster *cluster);
void to_bypass_free(struct to_bypass *bypass);

/** to_bypass_clear() - forget what was passed on */
void to_bypass_clear(struct to_bypass *bypass);

/** to_bypass_begin() - begin with the bytes to another address */
void to_bypass_begin(struct to_bypass *bypass);

/**
 * to_bypass_send() - count bytes that a server sends or forwards on an arc
 * @arc: after all arcs that lead to its server for this address
 * @share: part of all bytes at the server, of its own and those in transit
 * @bytes: on @arc
 */
void to_bypass_send(struct to_bypass *bypass, uint32_t arc, double share, double bytes);

/** to_bypass_relieve() - take bytes that were passed on off the PCIe links in @loads */
void to_bypass_relieve(const struct to_bypass *bypass, struct to_port_loads *loads);

#endif
