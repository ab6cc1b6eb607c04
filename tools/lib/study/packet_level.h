/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PACKET_LEVEL_H
#define TOPOOPT_PACKET_LEVEL_H

/* Iterations at packet level: run them, sum up what their packets did. */

#include <jansson.h>
#include <stdio.h>

#include "packets/simulator.h"

#define TO_PACKET_LEVEL_HEADERS UINT64_MAX	/* as many bytes as the transport has */

/** struct to_packet_level_options - what is asked for; 0 for the default unless said */
struct to_packet_level_options {
	int transport;			/* enum to_transport */
	uint64_t mtu;			/* payload of a packet, bytes */
	uint64_t headers;		/* bytes, 0 for none; TO_PACKET_LEVEL_HEADERS: default */
	uint64_t queue_pairs;		/* that share a transfer */
	uint64_t buffer;		/* bytes of a switch, per link */
	uint64_t mark_min, mark_max;	/* bytes in a queue from which ECN marks some, all */
	uint64_t relay_cost;		/* ns of a relay between two packets */
	uint64_t relay_queue;		/* packets that wait in a relay for a link */
	uint64_t timeout;		/* retransmission timeout, ns */
	bool no_pfc;			/* switches drop what they have no buffer for */
	bool fast_forward;		/* skip over steady states */
	const char *capture;		/* link to capture, "FROM,TO", or NULL */
	const char *capture_path;	/* file of the capture */
};

/** struct to_packet_level - iterations at packet level; zero it, set @asked */
struct to_packet_level {
	const struct to_packet_level_options *asked;
	struct to_packet_options options;	/* asked for, with defaults filled in */
	struct to_packet_paths *paths;		/* of the last iteration */
	struct to_packet_simulator *simulator;	/* of the last iteration */
	uint32_t *addresses;			/* of the servers, for captures */
	struct to_packets sum;			/* over iterations; links one by one */
	const struct to_packets *last;		/* last iteration, NULL before it */
	unsigned int n;				/* number of iterations */
};

/**
 * to_packet_level_run() - simulate one iteration of @tasks
 * @router: router of the flow level, whose network is simulated
 * @plan: plan whose tables say the paths, NULL for shortest paths
 * @options: how shortest paths are chosen; its seed is also that of marks
 * @slow: factors of to_simulator_slow()
 * @watch: callback of to_simulator_watch(), called with @data
 *
 * Return: the iteration, good until the next call; NULL with @err set.
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

/** to_packet_level_print() - print packets, congestion and queues as text */
void to_packet_level_print(FILE *out, const struct to_packet_level *level,
			   const struct to_network *network, const struct to_taskgraph *tasks);

/** to_packet_level_json() - make an object of options and counts; NULL when out of memory */
json_t *to_packet_level_json(const struct to_packet_level *level,
			     const struct to_taskgraph *tasks);

/** to_packet_level_link() - add counts of link @index to its JSON; 0 or -1 */
int to_packet_level_link(const struct to_packet_level *level, uint32_t index, json_t *link);

#endif
