/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PACKET_FORWARD_SKIP_H
#define TOPOOPT_PACKET_FORWARD_SKIP_H

/* What packet_forward.c saw in windows, and the jump over more of them. */

#include "simulate/packet_core.h"

/**
 * struct forward_flow - one that goes on
 * @next, @first, @cnps: packets sent, arrived, and notifications when the windows began;
 *	@window: of TCP
 * @last: arrived when the last of them ended, @least, @most: in one of them
 * @even: arrived in all windows, the mean of its task, whose flows are all as fast and move
 *	on within chunks; 0: they are not, or windows end with chunks
 */
struct forward_flow {
	uint32_t flow, next, first, last, cnps, least, most;
	float window, even;
};

/**
 * struct forward_leg - one that goes on
 * @arrived: chunks when the windows began, @came: since; @even: its flows are
 */
struct forward_leg {
	uint32_t leg, arrived, came;
	bool even;
};

/** struct forward_port - when the windows began */
struct forward_port {
	uint64_t queued;
	struct to_packet_link count;
};

/**
 * struct packet_forward - the windows since @began
 * @reference: leg of which @group chunks are a window, PACKET_NONE: @window is its length;
 *	both doubled @doublings times
 * @chunk: of it, with which this window ends
 * @last: when the last window ended; @shortest, @longest of them
 * @changes, @lost: of flows, and packets, when they began
 * @based: they have
 * @of_flow: packets to be skipped, per flow; @of_leg: chunks in all windows, per leg,
 *	alike for those of one task that differ by one
 * @spread: chunks are skipped in multiples of it, after which flows that are sprayed are
 *	at the same path again
 */
struct packet_forward {
	struct forward_flow *flows;
	struct forward_leg *legs;
	struct forward_port *ports;
	uint32_t *of_flow, *of_leg;
	uint32_t n_flows, max_flows, n_legs, max_legs, oldest_flow, oldest_leg;
	uint32_t reference, group, chunk, n_windows, spread;
	unsigned int doublings;
	uint64_t window, began, last, shortest, longest, changes, lost;
	bool based;
};

/**
 * to_packet_forward_skip() - as many windows as may be, perhaps none
 * @error: part by which rates may be wrong
 *
 * Return: 0, -EAGAIN when windows are too short for the chunks of some leg, or -ENOMEM.
 */
int to_packet_forward_skip(struct to_packet_simulator *s, double error);

#endif
