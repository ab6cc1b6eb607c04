/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PACKET_LEVEL_H
#define TOPOOPT_PACKET_LEVEL_H

/* The packet level of tosim simulate: its options, and what its iterations did. */

#include <jansson.h>

#include "cli/command.h"
#include "packets/simulator.h"

/** struct to_packet_level_options - 0 for the default; durations in ns */
struct to_packet_level_options {
	int transport;
	const char *pcap;
	uint64_t mtu, headers, queue_pairs, buffer, mark_min, mark_max;
	uint64_t relay_cost, relay_ring, relay_queue, timeout;
	bool no_pfc, no_relay_marks, no_headers, fast_forward;
};

/** @member: a struct to_packet_level_options */
#define TO_PACKET_LEVEL_OPTIONS(type, member) \
	{ "transport", 0, TO_OPTION_CHOICE, offsetof(type, member.transport), \
	  .choices = to_transport_names, .with = "level", \
	  .help = "how flows share links; default: dcqcn" }, \
	{ "mtu", 0, TO_OPTION_NUMBER, offsetof(type, member.mtu), .argument = "BYTES", \
	  .min = 64, .max = 9000, .with = "level", .help = "payload of a packet; default: 4096" }, \
	{ "headers", 0, TO_OPTION_NUMBER, offsetof(type, member.headers), .argument = "BYTES", \
	  .min = 1, .max = 1000, .with = "level", \
	  .help = "of a packet, with preamble and gap; default: 82 of RoCEv2, 90 of TCP" }, \
	{ "no-headers", 0, TO_OPTION_FLAG, offsetof(type, member.no_headers), .with = "level", \
	  .help = "count payload only, as the flow level does" }, \
	{ "queue-pairs", 0, TO_OPTION_NUMBER, offsetof(type, member.queue_pairs), \
	  .argument = "Q", .min = 1, .max = 64, .with = "level", \
	  .help = "or connections, that share a transfer and are hashed apart; default: 4" }, \
	{ "buffer", 0, TO_OPTION_BYTES, offsetof(type, member.buffer), .argument = "BYTES", \
	  .min = 1, .max = 1ull << 40, .with = "level", \
	  .help = "of a switch, for each link, with head-room; default: 1MiB" }, \
	{ "no-pfc", 0, TO_OPTION_FLAG, offsetof(type, member.no_pfc), .with = "level", \
	  .help = "switches drop what they have no buffer for" }, \
	{ "mark-min", 0, TO_OPTION_BYTES, offsetof(type, member.mark_min), .argument = "BYTES", \
	  .min = 1, .max = 1ull << 40, .with = "level", \
	  .help = "queue from which ECN marks some packets; default: 1 kB for each Gbit/s" }, \
	{ "mark-max", 0, TO_OPTION_BYTES, offsetof(type, member.mark_max), .argument = "BYTES", \
	  .min = 1, .max = 1ull << 40, .with = "level", \
	  .help = "queue from which ECN marks all packets; default: 4 kB for each Gbit/s" }, \
	{ "relay-cost", 0, TO_OPTION_DURATION, offsetof(type, member.relay_cost), \
	  .argument = "TIME", .min = 1, .max = 1000000000, .with = "level", \
	  .help = "of a relay between two packets of a link; default: 137ns" }, \
	{ "relay-ring", 0, TO_OPTION_NUMBER, offsetof(type, member.relay_ring), \
	  .argument = "PACKETS", .min = 1, .max = 1000000, .with = "level", \
	  .help = "of a link that a relay's NIC holds; default: 1024" }, \
	{ "relay-queue", 0, TO_OPTION_NUMBER, offsetof(type, member.relay_queue), \
	  .argument = "PACKETS", .min = 1, .max = 1000000, .with = "level", \
	  .help = "that wait in a relay for a link, more are dropped; default: 10240" }, \
	{ "no-relay-marks", 0, TO_OPTION_FLAG, offsetof(type, member.no_relay_marks), \
	  .with = "level", .help = "the queues of relays do not mark" }, \
	{ "timeout", 0, TO_OPTION_DURATION, offsetof(type, member.timeout), .argument = "TIME", \
	  .min = 1000, .max = 100000000000, .with = "level", \
	  .help = "without an ACK, after which a flow goes back; default: 67ms, TCP 200ms" }, \
	{ "fast-forward", 0, TO_OPTION_FLAG, offsetof(type, member.fast_forward), .with = "level", \
	  .help = "skip over what is steady, and tell how wrong that may be" }, \
	{ "pcap", 0, TO_OPTION_STRING, offsetof(type, member.pcap), .argument = "LINK", \
	  .with = "level", \
	  .help = "FROM,TO: write what that link sends, in the last iteration, to FROM-TO.pcap" }

/** to_packet_level_check() - whether options go together; for run(), @args are the command's */
int to_packet_level_check(struct to_call *call, const void *args,
			  const struct to_packet_level_options *options);

/**
 * struct to_packet_level - iterations at packet level
 * @sum: over them; @sum.links per link
 * @last: the last one, NULL before it
 */
struct to_packet_level {
	const struct to_packet_level_options *asked;
	struct to_packet_options options;
	struct to_packet_paths *paths;
	struct to_packet_simulator *simulator;
	uint32_t *addresses;		/* of the servers, for captures */
	struct to_packets sum;
	const struct to_packets *last;
	unsigned int n;
};

/**
 * to_packet_level_run() - one iteration of @tasks
 * @router: of the flow level; its network is the one that is simulated
 * @plan: whose tables say the paths; NULL for shortest ones
 * @options: of these, whose seed is that of @level's iteration
 * @slow: as to_simulator_slow()
 * @watch: as to_simulator_watch(), with @data
 *
 * Return: as to_simulate().
 */
const struct to_simulation *to_packet_level_run(struct to_packet_level *level,
						const struct to_router *router,
						const struct to_plan *plan,
						const struct to_shortest_options *options,
						const struct to_taskgraph *tasks,
						const double *slow,
						int (*watch)(void *data, double done), void *data,
						struct to_error *err);
void to_packet_level_free(struct to_packet_level *level);

/** to_packet_level_print() - lines below those of all levels */
void to_packet_level_print(FILE *out, const struct to_packet_level *level,
			   const struct to_network *network, const struct to_taskgraph *tasks);

/** to_packet_level_json() - an object; NULL when out of memory */
json_t *to_packet_level_json(const struct to_packet_level *level,
			     const struct to_taskgraph *tasks);

/** to_packet_level_link() - add to the JSON of link @index; 0 or -1 */
int to_packet_level_link(const struct to_packet_level *level, uint32_t index, json_t *link);

#endif
