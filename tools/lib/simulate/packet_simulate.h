/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PACKET_SIMULATE_H
#define TOPOOPT_PACKET_SIMULATE_H

/*
 * How long one training iteration takes on a network, packet by packet: links send one
 * packet after the other, switches store and forward them and pause those before them
 * (PFC, IEEE 802.1Qbb), servers relay through their kernel's queues, which drop.
 */

#include <stdio.h>

#include "base/error.h"
#include "simulate/packet_paths.h"
#include "simulate/simulate.h"

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

/**
 * struct to_packet_options - of the packet level
 * @mtu: payload of a packet, bytes
 * @headers: beside it, as they take time on a link
 * @queue_pairs: or connections, that share each routed transfer alike, 1 to 64
 * @pfc: else switches drop what finds @buffer bytes in the queue of its next link
 * @buffer: of a switch, for what came over one link, head-room included
 * @mark_min, @mark_max: bytes in a queue from which packets are marked, first some, then
 *	all; 0 for 1000 and 4000 per Gbit/s
 * @relay_cost: seconds of a server between two packets of a link that it relays
 * @relay_ring: packets of a link that its NIC holds until then; PFC pauses before that
 * @relay_queue: packets in the queue of a link that it relays to; more are dropped
 * @relay_marks: does it mark them, as switches do?
 * @timeout: seconds without an ACK after which a flow goes back, where packets were lost
 * @seed: of marks
 * @fast_forward: skip what is steady
 */
struct to_packet_options {
	enum to_transport transport;
	uint32_t mtu, headers, queue_pairs;
	bool pfc, relay_marks, fast_forward;
	uint64_t buffer, mark_min, mark_max, seed;
	uint32_t relay_ring, relay_queue;
	double relay_cost, timeout;
};

/** to_packet_options_default() - of @transport, whose headers and timeout differ */
struct to_packet_options to_packet_options_default(enum to_transport transport);

/**
 * struct to_packet_link - what a link did
 * @bytes: payload, @packets: of all kinds, that it sent
 * @busy, @paused: picoseconds
 * @pauses: PFC frames that stopped it
 * @marks, @drops: packets, in its queue or, of a relay without room, on arrival over it
 * @queue: most bytes that waited for it, without those of flows of its own server
 */
struct to_packet_link {
	uint64_t bytes, packets, busy, paused, pauses, marks, drops, queue;
};

/**
 * struct to_packets - one iteration
 * @simulation: as at flow level; links count payload, again where it was sent again
 * @links: of the network
 * @sent, @received, @dropped, @queued: packets of all kinds; the last when the iteration
 *	ended; the first is the sum of the others
 * @hops: data packets, once for each link
 * @again: data packets sent again
 * @naks, @cnps, @timeouts, @marks, @pauses: how many there were
 * @most: packets in the network at once
 * @skips: how often it was steady, @skipped: picoseconds of that, of which @skip_error
 *	seconds, at most, the rates seen before may have been wrong
 */
struct to_packets {
	struct to_simulation simulation;
	struct to_packet_link *links;
	uint64_t sent, received, dropped, queued, hops, again, naks, cnps, timeouts, marks, pauses;
	uint32_t most;
	uint64_t skips, skipped;
	double skip_error;
};

struct to_packet_simulator;

/**
 * to_packet_simulator_new() - prepare for runs on @paths, which outlive it
 *
 * Return: NULL with @err set when out of memory, or -EINVAL: a buffer without room for
 * head-room, sprayed paths that lose packets.
 */
struct to_packet_simulator *to_packet_simulator_new(struct to_packet_paths *paths,
						    const struct to_delays *delays,
						    const struct to_packet_options *options,
						    struct to_error *err);
void to_packet_simulator_free(struct to_packet_simulator *simulator);

/** to_packet_simulator_watch() - as to_simulator_watch() */
void to_packet_simulator_watch(struct to_packet_simulator *simulator,
			       int (*watch)(void *data, double done), void *data);

/** to_packet_simulator_slow() - as to_simulator_slow() */
void to_packet_simulator_slow(struct to_packet_simulator *simulator, const double *factors);

/**
 * to_packet_simulator_capture() - write what links from @from to @to send
 * @file: a capture file begins here, NULL for none. ferror() tells what went wrong
 * @addresses: IPv4, of the servers, in host order; outlive the runs
 *
 * Return: how many links those are.
 */
uint32_t to_packet_simulator_capture(struct to_packet_simulator *simulator, uint32_t from,
				     uint32_t to, FILE *file, const uint32_t *addresses);

/**
 * to_packet_simulate() - run the tasks of @tasks once
 *
 * Return: what happened, good until the next call; NULL with @err set as to_simulate(), or
 * with -EDEADLK when PFC has stopped a cycle of links, which @err names.
 */
const struct to_packets *to_packet_simulate(struct to_packet_simulator *simulator,
					    const struct to_taskgraph *tasks,
					    struct to_error *err);

#endif
