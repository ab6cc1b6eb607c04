/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PACKET_PATHS_H
#define TOPOOPT_PACKET_PATHS_H

/* The links that the packets of a flow take: one path, or several where they are sprayed. */

#include "data/plan.h"
#include "packets/messages.h"
#include "simulate/router.h"

#define TO_PATH_LINKS_MAX 64
#define TO_PATH_ROCE_PORT 4791
#define TO_PATH_SOURCE_PORT 49152	/* of the first flow: the first dynamic port of RFC 6335 */

struct to_packet_paths;

/**
 * struct to_packet_paths_ops - how the paths of a plan, or shortest paths, are found
 * @path: Get path @number of a flow from @src to @dst. @links: TO_PATH_LINKS_MAX of them,
 *	filled in. @alternatives: gets the number of paths that a flow is sprayed over, 1
 *	where a hash chooses. Return: the number of links, 1 or more.
 * @messages: Add the messages of an AllReduce over @n servers in ascending order, 2 or more.
 *
 * Both return -ENOMEM or -EHOSTUNREACH with @err set.
 */
struct to_packet_paths_ops {
	int (*path)(struct to_packet_paths *paths, uint32_t src, uint32_t dst, uint32_t number,
		    uint32_t *links, uint32_t *alternatives, struct to_error *err);
	int (*messages)(struct to_packet_paths *paths, const uint32_t *members, uint32_t n,
			double bytes, struct to_packet_messages *messages, struct to_error *err);
	void (*free)(struct to_packet_paths *paths);
};

/** struct to_packet_paths - paths on a network, which is borrowed */
struct to_packet_paths {
	const struct to_packet_paths_ops *ops;
	const struct to_network *network;
};

/**
 * to_packet_paths_of_plan() - Make paths that the kernel's hash and the tables of @plan choose
 * @network: of its router; both outlive the paths
 * @protocol: IPPROTO_UDP for RoCEv2, or IPPROTO_TCP
 * @seed: of the hashes of all servers
 *
 * From node address to node address; the number of a flow is in its queue pair, or its port.
 *
 * Return: NULL with @err set when out of memory.
 */
struct to_packet_paths *to_packet_paths_of_plan(const struct to_plan *plan,
						const struct to_network *network, int protocol,
						uint64_t seed, struct to_error *err);

/**
 * to_packet_paths_shortest() - Make paths of the fewest links of @network, which outlives them
 * @options: the first path of a pair of servers is that of the flow level
 *
 * Return: NULL with @err set when out of memory.
 */
struct to_packet_paths *to_packet_paths_shortest(const struct to_network *network,
						 const struct to_shortest_options *options,
						 struct to_error *err);

void to_packet_paths_free(struct to_packet_paths *paths);

#endif
