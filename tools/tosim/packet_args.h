/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PACKET_ARGS_H
#define TOPOOPT_PACKET_ARGS_H

/* Options of the packet level. */

#include "cli/command.h"
#include "study/packet_level.h"

/** struct to_packet_args - arguments of the options; 0 for the default, but for @headers */
struct to_packet_args {
	int transport;
	const char *capture;		/* "FROM,TO", or NULL */
	const char *marks;		/* "MIN,MAX", or NULL */
	uint64_t mtu, headers, queue_pairs, buffer;
	uint64_t relay_cost, relay_queue, timeout;
	bool no_pfc, fast_forward;
};

#define TO_PACKET_DEFAULTS { .headers = TO_PACKET_LEVEL_HEADERS }

/**
 * TO_PACKET_OPTIONS - rows of a command's option table
 * @type: arguments of the command
 * @member: member of @type that is a struct to_packet_args
 */
#define TO_PACKET_OPTIONS(type, member) \
	{ "transport", 0, TO_OPTION_CHOICE, offsetof(type, member.transport), \
	  .choices = to_transport_names, .with = "level=packet", .advanced = true, \
	  .help = "congestion control of flows; default: dcqcn" }, \
	{ "mtu", 0, TO_OPTION_NUMBER, offsetof(type, member.mtu), .argument = "BYTES", \
	  .min = 64, .max = 9000, .with = "level=packet", .advanced = true, \
	  .help = "payload of a packet; default: 4096" }, \
	{ "headers", 0, TO_OPTION_NUMBER, offsetof(type, member.headers), .argument = "BYTES", \
	  .max = 1000, .with = "level=packet", .advanced = true, \
	  .help = "bytes beside the payload, preamble and gap included; default: 82 of RoCEv2, 90 of TCP" }, \
	{ "queue-pairs", 0, TO_OPTION_NUMBER, offsetof(type, member.queue_pairs), \
	  .argument = "N", .min = 1, .max = 64, .with = "level=packet", .advanced = true, \
	  .help = "flows that share a transfer and are hashed apart; default: 4" }, \
	{ "buffer", 0, TO_OPTION_BYTES, offsetof(type, member.buffer), .argument = "BYTES", \
	  .min = 1, .max = 1ull << 40, .with = "level=packet", .advanced = true, \
	  .help = "buffer of a switch for each link, head-room included; default: 1MiB" }, \
	{ "no-pfc", 0, TO_OPTION_FLAG, offsetof(type, member.no_pfc), .with = "level=packet", \
	  .advanced = true, .help = "let switches drop what they have no buffer for" }, \
	{ "marks", 0, TO_OPTION_STRING, offsetof(type, member.marks), .argument = "MIN,MAX", \
	  .with = "level=packet", .advanced = true, \
	  .help = "bytes in a queue from which ECN marks some packets, and all; " \
		  "default: 1 and 4 kB for each Gbit/s" }, \
	{ "relay-cost", 0, TO_OPTION_DURATION, offsetof(type, member.relay_cost), \
	  .argument = "TIME", .min = 1, .max = 1000000000, .with = "level=packet", .advanced = true, \
	  .help = "time of a relay between two packets of a link; default: 137ns" }, \
	{ "relay-queue", 0, TO_OPTION_NUMBER, offsetof(type, member.relay_queue), \
	  .argument = "PACKETS", .min = 1, .max = 1000000, .with = "level=packet", .advanced = true, \
	  .help = "queue of a relay for each link; default: 10240" }, \
	{ "retransmission-timeout", 0, TO_OPTION_DURATION, offsetof(type, member.timeout), \
	  .argument = "TIME", .min = 1000, .max = 100000000000, .with = "level=packet", \
	  .advanced = true, .help = "time without an ACK until a flow sends again; default: 67ms, TCP 200ms" }, \
	{ "fast-forward", 0, TO_OPTION_FLAG, offsetof(type, member.fast_forward), \
	  .with = "level=packet", .advanced = true, \
	  .help = "skip over steady states, and tell how wrong that may be" }, \
	{ "capture", 0, TO_OPTION_STRING, offsetof(type, member.capture), \
	  .argument = "FROM,TO", .with = "level=packet", .advanced = true, \
	  .help = "write to --output, as a pcap file, what that link sends in the last iteration" }

/**
 * to_packet_args_read() - turn arguments into options of the packet level
 * @output: file of --output, or NULL
 *
 * Return: 0, or to_usage(), for run() to return.
 */
int to_packet_args_read(struct to_call *call, const struct to_packet_args *args,
			const char *output, struct to_packet_level_options *options);

#endif
