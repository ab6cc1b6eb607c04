/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PACKET_CORE_H
#define TOPOOPT_PACKET_CORE_H

/*
 * The inside of the packet level, for packet_*.c:
 *
 *	packet_simulate.c	tasks become legs, legs flows; the loop over events
 *	packet_transport.c	a flow's packets, ACKs and rate at its two ends
 *	packet_port.c		from queue to link to the next queue, and PFC
 *	packet_relay.c		a server between the ends
 *	packet_forward.c	steady states, seen and skipped
 *	packet_capture.c	what a link sent, as a capture file
 *
 * Times are picoseconds, sizes bytes. Index UINT32_MAX is none.
 */

#include <stdio.h>

#include "simulate/iteration.h"
#include "simulate/packet_events.h"
#include "simulate/packet_legs.h"
#include "simulate/packet_paths.h"
#include "simulate/packet_simulate.h"
#include "simulate/packet_store.h"

#define PACKET_NONE TO_PACKET_NONE
#define PACKET_SECOND 1000000000000ull

/* What an event is about, in its upper bits; below, the index of a packet, link, ... */
enum packet_event {
	PACKET_ARRIVE,		/* packet: at the end of its link */
	PACKET_RELAYED,		/* packet: from softirq to the queue of the next link */
	PACKET_FREE,		/* link: can take another packet */
	PACKET_PAUSE,		/* link: its receiver's PAUSE has come */
	PACKET_RESUME,
	PACKET_PACED,		/* flow: its rate allows another packet */
	PACKET_TIMEOUT,		/* flow: no ACK since a loss? */
	PACKET_CHUNK,		/* leg: another chunk may go */
	PACKET_COMPUTED,	/* task: its server has computed it */
};

#define PACKET_EVENT_SHIFT 28
#define PACKET_INDEX_MAX ((1u << PACKET_EVENT_SHIFT) - 1)

/* The last link of a path, in to_packet_simulator.paths. */
#define PACKET_LAST (1u << 31)

/* Packets in the order in which they came. */
struct packet_queue {
	uint32_t first, last;
};

/*
 * A directed link: the port that sends into it, and what its receiver has of it.
 * @cost: time per byte, times 2^20; @headroom: for what comes after a PAUSE
 * @control: ACKs, NAKs and CNPs, never paused, ahead of @data
 * @ready: flows of the server that sends, each with a packet for this link
 * @turn: the next packet is of @ready, if there is one, not of @data
 * @waits: a PACKET_FREE is on its way
 * @held: bytes of it in the switch, or the NIC ring, at its end; beyond @stop PFC pauses
 *	it, below @go it resumes
 * @ring, @softirq: packets in that ring, and when the last of them leaves it
 */
struct packet_port {
	uint64_t free_at, cost, latency;
	struct packet_queue control, data, ready;
	uint32_t from, to;
	bool from_server, to_server, captured, turn, waits, paused, stopped;
	uint64_t queued, held, stop, go, room, mark_min, mark_max;
	uint32_t queued_packets, ring;
	uint64_t softirq, paused_since;
	struct to_packet_link count;
};

/* Rate of a DCQCN sender, and what its receiver notes. Rates are bytes/s. */
struct packet_dcqcn {
	float rate, target, alpha;
	uint32_t sent;			/* bytes since the counter expired */
	uint64_t alpha_at, increase_at, notified_at;
	uint8_t by_time, by_bytes;	/* expirations since the last CNP */
};

/* Window of a TCP sender, in packets. @recover: of RFC 6582; @window_end: of DCTCP's alpha. */
struct packet_tcp {
	float window, threshold, alpha;
	uint32_t duplicates, recover, resend, window_end, acked, marked;
	bool recovers;
};

enum packet_flow_state { PACKET_IDLE, PACKET_READY, PACKET_WAITS };

/*
 * A queue pair or connection: @n_packets of a leg, as @leg's chunks allow.
 * @path, @back: places in the list of paths; of the former @alternatives follow each other,
 *	@hops long, over @n_links that leave its server
 * @link: that its next packet takes first
 * @chunk: bytes of each chunk, @chunk_packets; @chunk_begin: first packet of the one that
 *	was sent from last
 * @next: to send, @most: first that has never been sent, @limit: first that may not go yet,
 *	@acked: first that is not acknowledged
 * @expected: by the receiver; where packets are sprayed, how many it has
 * @chunk_end: of these, when the next chunk is complete
 * @unacked: packets since its last ACK, @cnps: notifications so far
 * @ready_at: by its rate, @progress_at: of the last ACK that said something new
 */
struct packet_flow {
	uint32_t leg, path, back, link, next_ready;
	uint32_t n_packets, chunk_packets, next, most, limit, acked, expected, chunk_end, unacked;
	uint32_t chunk_begin;
	uint64_t chunk, ready_at, progress_at;
	uint8_t hops, alternatives, n_links, state;
	uint32_t cnps;
	bool nak, timer, marked;
	union {
		struct packet_dcqcn dcqcn;
		struct packet_tcp tcp;
	};
};

/*
 * Chunks on their way from server to server, by @n_flows.
 * @arrived: chunks, by all flows; @asked: chunks that may go, or soon
 * @feeders: legs, at to_packet_simulator.edges; then those that it feeds
 */
struct packet_leg {
	uint32_t task, transfer, first_flow, n_flows, n_chunks, arrived, asked, ahead;
	uint32_t edges, n_feeders, n_feeds;
};

/* Where the packets of captured links go; @addresses: of servers, in host order. */
struct packet_capture {
	FILE *file;
	const uint32_t *addresses;
};

struct to_packet_simulator {
	struct to_packet_paths *routes;
	struct to_packet_options options;
	struct to_delays delays;
	const struct to_network *network;
	struct to_packet_events events;
	struct to_packet_store store;
	struct packet_port *ports;
	struct packet_flow *flows;
	struct packet_leg *legs;
	uint32_t *paths, *edges;
	uint64_t *received;		/* per flow of TCP, what came ahead of the expected */
	uint32_t n_flows, max_flows, n_legs, max_legs, n_paths, max_paths, n_edges, max_edges;
	uint64_t now, random, relay_latency, relay_cost, step;
	struct to_packet_legs scratch;
	struct to_iteration iteration;
	uint32_t *open;			/* legs that have not arrived, per task */
	uint32_t *done, n_done;		/* tasks that have none left */
	struct to_packets result;
	const double *slow;		/* per server, or NULL */
	struct packet_capture capture;
	struct packet_forward *forward;	/* or NULL */
	uint64_t look_at, changes;	/* for it; flows that have begun or ended */
	struct to_error *err;
	int (*watch)(void *data, double done);
	void *watch_data;
};

static inline void packet_schedule(struct to_packet_simulator *s, uint64_t time,
				   enum packet_event event, uint32_t index)
{
	to_packet_events_add(&s->events, time, (uint32_t)event << PACKET_EVENT_SHIFT | index);
}

static inline uint32_t packet_link(const struct to_packet_simulator *s, uint32_t at)
{
	return s->paths[at] & ~PACKET_LAST;
}

static inline uint64_t packet_time(const struct packet_port *port, uint32_t wire)
{
	return (wire * port->cost + (1 << 19)) >> 20;
}

/** to_packet_simulator_arrived() - all chunks of @leg have */
void to_packet_simulator_arrived(struct to_packet_simulator *s, uint32_t leg);

#endif
