/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PACKET_RESULT_H
#define TOPOOPT_PACKET_RESULT_H

/* What happened in an iteration, and on each link. */

#include "simulate/simulate.h"

/** struct to_packet_link - what a link did */
struct to_packet_link {
	uint64_t bytes;		/* payload sent */
	uint64_t packets;	/* packets of all kinds sent */
	uint64_t busy;		/* picoseconds of sending */
	uint64_t paused;	/* picoseconds of PFC pauses */
	uint64_t pauses;	/* PFC frames that stopped the link */
	uint64_t marks;		/* packets marked in the link's queue */
	uint64_t drops;		/* in the queue, or on arrival at a relay without room */
	uint64_t queue;		/* longest queue, bytes, without flows of the link's own server */
};

/** struct to_packets - result of one iteration */
struct to_packets {
	struct to_simulation simulation;	/* payload of links includes retransmissions */
	struct to_packet_link *links;		/* per link of the network */
	/* packets of all kinds: @sent is the sum of the other three, @queued are left at the end */
	uint64_t sent, received, dropped, queued;
	uint64_t hops;				/* data packets, once for each link */
	uint64_t again;				/* data packets sent again */
	uint64_t naks, cnps, timeouts, marks, pauses;
	uint32_t most;				/* packets in the network at once */
	uint64_t skips;				/* steady states that were skipped */
	uint64_t skipped;			/* picoseconds of these */
	double skip_error;			/* seconds by which these may be wrong at most */
};

#endif
