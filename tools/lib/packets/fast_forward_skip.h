/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PACKET_FAST_FORWARD_SKIP_H
#define TOPOOPT_PACKET_FAST_FORWARD_SKIP_H

/* What fast_forward.c saw in windows of time, and the jump over more of them. */

#include "packets/state.h"

/** struct fast_forward_flow - a flow that has not ended */
struct fast_forward_flow {
	uint32_t flow;
	uint32_t next, first;	/* packets sent and arrived when the windows began */
	uint32_t last;		/* packets arrived when the last window ended */
	uint32_t cnps;		/* notifications when the windows began */
	uint32_t least, most;	/* packets that arrived in one window */
	float window;		/* of TCP, when the windows began */
	/*
	 * Packets per flow that arrived in all windows, when all flows of a task are equally
	 * fast and move on within chunks; 0 otherwise, or when windows end with chunks.
	 */
	float even;
};

/** struct fast_forward_leg - a leg that has not arrived */
struct fast_forward_leg {
	uint32_t leg;
	uint32_t arrived, came;	/* chunks when the windows began, and since */
	bool even;		/* fast_forward_flow.even of its flows is set */
};

/** struct fast_forward_port - a port when the windows began */
struct fast_forward_port {
	uint64_t queued;
	struct to_packet_link count;
};

/** struct packet_fast_forward - the windows since @began */
struct packet_fast_forward {
	struct fast_forward_flow *flows;
	struct fast_forward_leg *legs;
	struct fast_forward_port *ports;	/* per link */
	uint32_t *of_flow;	/* packets to skip, per flow of the simulator */
	uint32_t *of_leg;	/* chunks in all windows, per leg, a lead of one left out */
	uint32_t n_flows, max_flows, n_legs, max_legs;
	uint32_t oldest_flow, oldest_leg;	/* earlier ones have ended */
	uint32_t reference;	/* leg whose chunks end a window, or PACKET_NONE */
	uint32_t group;		/* chunks of a window, to be doubled @doublings times */
	uint32_t chunk;		/* chunk of @reference that ends this window */
	uint32_t n_windows;	/* since @began */
	uint32_t spread;	/* chunks after which sprayed flows are at their path again */
	unsigned int doublings;
	uint64_t window;	/* length without @reference, to be doubled @doublings times */
	uint64_t began, last;	/* when the windows began, and when the last one ended */
	uint64_t shortest, longest;	/* window */
	uint64_t changes, lost;	/* changes of flows, and lost packets, when windows began */
	bool based;		/* the windows have begun */
};

/**
 * to_packet_fast_forward_skip() - Skip as many windows as possible, perhaps none
 * @error: part of a rate by which rates may be wrong
 *
 * Return: 0, -EAGAIN when windows are too short for the chunks of some leg, or -ENOMEM.
 */
int to_packet_fast_forward_skip(struct to_packet_simulator *s, double error);

#endif
