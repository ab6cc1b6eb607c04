/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PACKET_STATE_H
#define TOPOOPT_PACKET_STATE_H

/*
 * The state of a simulation, which the files of this room share. Each calls only those
 * before it:
 *
 *	calendar, store		what happens when; packets in the network
 *	messages, paths		what a task sends, and over which links
 *	window, dcqcn		the window of a TCP sender, the rate of a DCQCN sender
 *	sender			the next packet of a flow
 *	capture			what a link sent, as a capture file
 *	pcie			PCIe links between NICs and memory
 *	port			from the queue of a link over it to a switch, and PFC
 *	relay			a server between the two ends of a flow
 *	transport		packets that arrive at the ends of a flow, and what they answer
 *	leg			messages that are on their way
 *	fast_forward		steady states, which are skipped
 *	deadlock		links that PFC has stopped for good
 *	simulator		tasks become messages; the loop over events
 *
 * What a file tells those after it goes through to_packet_simulator.handlers, which
 * simulator.c lists.
 *
 * Times are picoseconds, sizes bytes. Index UINT32_MAX is none.
 */

#include <stdio.h>

#include "packets/calendar.h"
#include "packets/messages.h"
#include "packets/options.h"
#include "packets/paths.h"
#include "packets/result.h"
#include "packets/store.h"
#include "simulate/iteration.h"

#define PACKET_NONE TO_PACKET_NONE
#define PACKET_SECOND 1000000000000ull

/* An event, in the upper bits of what the calendar keeps; below, an index. */
enum packet_event {
	PACKET_ARRIVE,		/* packet: is at the end of its link */
	PACKET_CROSSED,		/* packet: goes from the NIC at the end of its link to memory */
	PACKET_RELAYED,		/* packet: goes from softirq to the queue of its next link */
	PACKET_FREE,		/* link: can take another packet */
	PACKET_PAUSE,		/* link: its receiver's PAUSE has come */
	PACKET_RESUME,		/* link: its receiver's resume has come */
	PACKET_PACED,		/* flow: its rate allows another packet */
	PACKET_TIMEOUT,		/* flow: its retransmission timeout may have expired */
	PACKET_CHUNK,		/* leg: another chunk may go */
	PACKET_COMPUTED,	/* task: its server has computed it */
	/* these happen at once, see packet_happen() */
	PACKET_COMPLETE,	/* flow: its part of a chunk is complete */
	PACKET_PROGRESS,	/* leg: more chunks have arrived */
	PACKET_EVENTS
};

#define PACKET_EVENT_SHIFT 28
#define PACKET_INDEX_MAX ((1u << PACKET_EVENT_SHIFT) - 1)

/* Marks the last link of a path in to_packet_simulator.paths. */
#define PACKET_LAST (1u << 31)

/* Packets, or flows, in the order in which they came. */
struct packet_queue {
	uint32_t first, last;
};

/* A directed link: the port that sends into it, and what its receiver holds. */
struct packet_port {
	uint64_t free_at;		/* when the link can take another packet */
	uint64_t cost;			/* time per byte, times 2^20 */
	uint64_t latency;
	struct packet_queue control;	/* ACKs, NAKs and CNPs: never paused, ahead of @data */
	struct packet_queue data;
	struct packet_queue ready;	/* flows of the sending server with a packet to send */
	uint32_t from, to;		/* vertices of the network */
	bool from_server, to_server;
	bool captured;
	bool turn;			/* the next packet is of @ready rather than @data */
	bool waits;			/* a PACKET_FREE is in the calendar */
	bool paused;			/* by PFC */
	bool stopped;			/* the receiver has sent a PAUSE */
	uint64_t queued;		/* bytes in @data */
	uint64_t held;			/* bytes in the switch or NIC ring at the end of the link */
	uint64_t stop, go;		/* @held above which PFC pauses, below which it resumes */
	uint64_t room;			/* limit of @held, head-room included */
	uint64_t mark_min, mark_max;	/* see struct to_packet_options */
	uint32_t queued_packets;	/* packets in @data */
	uint32_t ring;			/* packets in the NIC ring at the end of the link */
	uint64_t softirq;		/* when the last packet leaves that ring */
	uint64_t paused_since;
	struct to_packet_link count;
};

/* One direction of a PCIe link. */
struct packet_pcie {
	uint64_t cost;			/* time per byte, times 2^20 */
	uint64_t free_at;		/* when it can take another packet */
};

/* Rate of a DCQCN sender, and what its receiver notes. Rates are bytes/s. */
struct packet_dcqcn {
	float rate, target, alpha;
	uint32_t sent;			/* bytes since the counter expired */
	uint64_t alpha_at, increase_at;	/* when timers of @alpha and @rate last expired */
	uint64_t notified_at;		/* when the receiver sent its last CNP */
	uint8_t by_time, by_bytes;	/* expirations since the last CNP */
};

/* Window of a TCP sender, in packets. */
struct packet_tcp {
	float window, threshold;
	float alpha;			/* of DCTCP */
	uint32_t duplicates;		/* duplicate ACKs */
	uint32_t recover;		/* of RFC 6582 */
	uint32_t resend;		/* packet to send again, or PACKET_NONE */
	uint32_t window_end;		/* packet at which @alpha is updated */
	uint32_t acked, marked;		/* packets since @alpha was updated */
	bool recovers;			/* fast recovery */
};

enum packet_flow_state { PACKET_IDLE, PACKET_READY, PACKET_WAITS };

/* A queue pair or connection, with its part of each chunk of a leg. */
struct packet_flow {
	uint32_t leg;
	uint32_t path, back;		/* first links of its paths in to_packet_simulator.paths */
	uint32_t link;			/* first link of its next packet */
	uint32_t next_ready;		/* flow after it in packet_port.ready */
	uint32_t n_packets;
	uint32_t chunk_packets;		/* packets of its part of a chunk */
	uint32_t next;			/* packet to send */
	uint32_t most;			/* first packet that was never sent */
	uint32_t limit;			/* first packet that may not go yet */
	uint32_t acked;			/* first packet that is not acknowledged */
	uint32_t expected;		/* by the receiver; sprayed: how many packets it has */
	uint32_t chunk_end;		/* @expected at which the next chunk is complete */
	uint32_t unacked;		/* packets that the receiver got since its last ACK */
	uint32_t chunk_begin;		/* first packet of the chunk that was sent from last */
	uint64_t chunk;			/* bytes of its part of a chunk */
	uint64_t ready_at;		/* when its rate allows the next packet */
	uint64_t progress_at;		/* when an ACK last acknowledged a packet */
	uint8_t hops;			/* links of a path */
	uint8_t alternatives;		/* paths from @path on, one after the other */
	uint8_t n_links;		/* different first links of these */
	uint8_t state;			/* enum packet_flow_state */
	uint32_t cnps;			/* sent by the receiver */
	bool nak;			/* a NAK asks for @expected */
	bool timer;			/* a PACKET_TIMEOUT is in the calendar */
	bool marked;			/* the last packet that arrived was */
	union {
		struct packet_dcqcn dcqcn;
		struct packet_tcp tcp;
	};
};

/* A message on its way, over @n_flows. */
struct packet_leg {
	uint32_t task;
	uint32_t transfer;		/* see struct to_packet_message */
	uint32_t first_flow, n_flows;
	uint32_t n_chunks;
	uint32_t arrived;		/* chunks that have arrived on all flows */
	uint32_t asked;			/* chunks that may go, now or after a step's latency */
	uint32_t ahead;			/* see struct to_packet_message */
	uint32_t edges;			/* its feeders, then legs that it feeds, in s->edges */
	uint32_t n_feeders, n_feeds;
};

/* Where the packets of captured links go. */
struct packet_capture {
	FILE *file;
	const uint32_t *addresses;	/* of servers, in host order */
};

struct to_packet_simulator;

/* What a file does at an event. @index: of the packet, link, flow, leg or task. */
typedef void packet_handler(struct to_packet_simulator *s, uint32_t index);

struct to_packet_simulator {
	packet_handler *const *handlers;	/* per enum packet_event */
	struct to_packet_paths *routes;
	struct to_packet_options options;
	struct to_delays delays;
	const struct to_network *network;
	struct to_packet_calendar calendar;
	struct to_packet_store store;
	struct packet_port *ports;		/* per link */
	struct packet_pcie *pcie;		/* per direction of a PCIe link of the network */
	struct packet_flow *flows;
	struct packet_leg *legs;
	uint32_t *paths;			/* links of all paths */
	uint32_t *edges;			/* legs, see struct packet_leg */
	uint64_t *received;			/* per flow of TCP, a bit per packet ahead */
	uint32_t n_flows, max_flows, n_legs, max_legs, n_paths, max_paths, n_edges, max_edges;
	uint64_t now;
	uint64_t random;
	uint64_t relay_latency, relay_cost;	/* of a packet in a relay */
	uint64_t step;				/* latency of a step of AllReduce */
	uint64_t patience;			/* retransmission timeout */
	struct to_packet_messages scratch;	/* of the task that begins */
	struct to_iteration iteration;
	uint32_t *open;				/* legs that have not arrived, per task */
	uint32_t *done, n_done;			/* tasks that have no open legs */
	struct to_packets result;
	const double *slow;			/* per server, or NULL */
	struct packet_capture capture;
	struct packet_fast_forward *fast_forward;	/* or NULL */
	uint64_t look_at;			/* when fast_forward looks again */
	uint64_t changes;			/* flows that have begun or ended */
	struct to_error *err;
	int (*watch)(void *data, double done);
	void *watch_data;
};

static inline void packet_schedule(struct to_packet_simulator *s, uint64_t time,
				   enum packet_event event, uint32_t index)
{
	to_packet_calendar_add(&s->calendar, time, (uint32_t)event << PACKET_EVENT_SHIFT | index);
}

/* Let the handler of @event run now. */
static inline void packet_happen(struct to_packet_simulator *s, enum packet_event event,
				 uint32_t index)
{
	s->handlers[event](s, index);
}

static inline uint32_t packet_link(const struct to_packet_simulator *s, uint32_t at)
{
	return s->paths[at] & ~PACKET_LAST;
}

/* Time that @wire bytes take on a link. */
static inline uint64_t packet_time(const struct packet_port *port, uint32_t wire)
{
	return (wire * port->cost + (1 << 19)) >> 20;
}

/* Is the transport TCP, with its own congestion control or that of DCTCP? */
static inline bool packet_tcp(const struct to_packet_simulator *s)
{
	return s->options.transport == TO_TRANSPORT_TCP ||
	       s->options.transport == TO_TRANSPORT_DCTCP;
}

/* Capacity of the links that @f leaves its server by, bytes/s. */
static inline double packet_line(const struct to_packet_simulator *s, const struct packet_flow *f)
{
	return f->n_links * s->network->links[f->link].capacity;
}

#endif
