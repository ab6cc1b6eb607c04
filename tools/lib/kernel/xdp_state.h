/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_XDP_STATE_H
#define TOPOOPT_XDP_STATE_H

/* How ports relay: by packets that took each path, and what keeps XDP from some. */

#include "kernel/genl.h"
#include "kernel/xdp.h"

#define TO_XDP_NOTES 4	/* of a port, at most */

/**
 * struct to_xdp_note - what keeps XDP from relaying frames from a port, or to it
 * @fault: to be mended; otherwise it is as it should be
 * @text: what
 * @fix: command or action that mends it, or ""
 */
struct to_xdp_note {
	bool fault;
	char text[200], fix[160];
};

/** struct to_xdp_relayed - packets that arrived at a port and were relayed, by path */
struct to_xdp_relayed {
	uint64_t skb, native, generic;
};

/** struct to_xdp_state - how a port relays */
struct to_xdp_state {
	enum to_xdp_path program;	/* that it has now */
	struct to_xdp_relayed relayed;
	unsigned int n;			/* number of @notes */
	struct to_xdp_note notes[TO_XDP_NOTES];
};

/**
 * to_xdp_states() - look how ports relay
 * @ports: all ports of a device
 * @n: number of ports
 *
 * Notes of XDP are made only if a port of the device relays by XDP, or apply kept XDP from one.
 *
 * Return: a state for each port, for free(); NULL if out of memory.
 */
struct to_xdp_state *to_xdp_states(const struct to_kernel_port *ports, unsigned int n);

/** to_xdp_relayed_sum() - return the number of packets by all paths */
static inline uint64_t to_xdp_relayed_sum(const struct to_xdp_relayed *relayed)
{
	return relayed->skb + relayed->native + relayed->generic;
}

#endif
