/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PACKET_OPTIONS_H
#define TOPOOPT_PACKET_OPTIONS_H

/* How flows send, and how switches and relays treat their packets. */

#include <stdbool.h>
#include <stdint.h>

/**
 * enum to_transport - how a flow sends
 * @TO_TRANSPORT_DCQCN: RoCEv2, go-back-N, rates by DCQCN (Zhu et al., "Congestion control
 *	for large-scale RDMA deployments", SIGCOMM 2015)
 * @TO_TRANSPORT_DCTCP: a window by RFC 8257
 * @TO_TRANSPORT_TCP: a window by RFC 5681 and 6582 (NewReno)
 * @TO_TRANSPORT_NONE: RoCEv2, go-back-N, as fast as links and PFC let it
 */
enum to_transport { TO_TRANSPORT_DCQCN, TO_TRANSPORT_DCTCP, TO_TRANSPORT_TCP, TO_TRANSPORT_NONE };

/** Names of enum to_transport, NULL-terminated. */
extern const char *const to_transport_names[];

/** struct to_packet_options - options of the packet level */
struct to_packet_options {
	enum to_transport transport;
	uint32_t mtu;		/* payload of a packet, bytes */
	uint32_t headers;	/* what a packet takes on a link beside its payload, bytes */
	uint32_t queue_pairs;	/* or connections that share a routed transfer, 1 to 64 */
	bool pfc;		/* false: switches drop packets that exceed @buffer */
	bool relay_marks;	/* relays mark packets as switches do */
	bool fast_forward;	/* skip steady states */
	uint64_t buffer;	/* of a switch per ingress link, head-room included, bytes */
	uint64_t mark_min;	/* queue that marks some packets, bytes; 0: 1000 per Gbit/s */
	uint64_t mark_max;	/* queue that marks all packets, bytes; 0: 4000 per Gbit/s */
	uint64_t seed;		/* of the random numbers that choose packets to mark */
	uint32_t relay_ring;	/* packets of a link that a relay's NIC holds; PFC pauses before */
	uint32_t relay_queue;	/* packets that wait for a relay's egress link; more are dropped */
	double relay_cost;	/* seconds between two packets of a link that a server relays */
	double timeout;		/* retransmission timeout, seconds */
};

/** to_packet_options_default() - Return the default options of a transport */
struct to_packet_options to_packet_options_default(enum to_transport transport);

#endif
