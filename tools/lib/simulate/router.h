/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ROUTER_H
#define TOPOOPT_ROUTER_H

/* Which links transfers and AllReduce of a network take: by a plan's tables, or along shortest paths. */

#include "data/plan.h"
#include "data/taskgraph.h"
#include "simulate/collective.h"
#include "simulate/network.h"

struct to_router;
struct to_optical;

/**
 * struct to_router_ops - of one kind of router
 * @transfers: add to @bytes, per capacity of the network, what @n transfers put on it;
 *	@latency gets the
 *	seconds from the last byte sent to the last one received
 * @phases: of AllReduce over @n servers: each begins when the one before has arrived
 * @allreduce: the same of @phase of an AllReduce of one byte over @n servers in
 *	ascending order, 2 or more
 *
 * They return 0, or -ENOMEM or -EHOSTUNREACH with @err set.
 */
struct to_router_ops {
	int (*transfers)(struct to_router *router, const struct to_transfer *transfers, uint32_t n,
			 double *bytes, double *latency, struct to_error *err);
	unsigned int (*phases)(const struct to_router *router, uint32_t n);
	int (*allreduce)(struct to_router *router, const uint32_t *members, uint32_t n,
			 unsigned int phase, double *bytes, double *latency,
			 struct to_error *err);
	void (*free)(struct to_router *router);
};

/**
 * struct to_router - which links bytes take on @network, which is owned
 * @optical: how its links change, NULL where they stay; see simulate/optical.h
 * @optical_free: frees @optical
 * @alike: per link, one that has the same capacity and carries the same bytes, whatever is
 *	sent; itself for one link of such a set. NULL where nobody has looked
 */
struct to_router {
	const struct to_router_ops *ops;
	struct to_network *network;
	struct to_delays delays;
	struct to_optical *optical;
	void (*optical_free)(struct to_optical *optical);
	uint32_t *alike;
};

/**
 * to_router_of_plan() - as @plan's tables, rings and trees say, which outlives them
 *
 * AllReduce over servers for which the plan has neither rings nor trees takes a
 * routed ring.
 *
 * Return: NULL with @err set when out of memory.
 */
struct to_router *to_router_of_plan(const struct to_plan *plan, const struct to_delays *delays,
				  struct to_error *err);

/**
 * enum to_spread - how bytes divide over shortest paths of equal length
 * @TO_SPREAD_HASH: all that one server sends to another takes one path, which a hash
 *	of the two chooses at each vertex: ECMP (RFC 2992), with its collisions
 * @TO_SPREAD_SPRAY: evenly at each vertex, as packet spraying without reordering would
 */
enum to_spread { TO_SPREAD_HASH, TO_SPREAD_SPRAY };

/** Names of enum to_spread, NULL-terminated. */
extern const char *const to_spread_names[];

/**
 * struct to_shortest_options - of shortest paths
 * @seed: of the hash
 */
struct to_shortest_options {
	enum to_spread spread;
	enum to_algorithm algorithm;
	uint64_t seed;
	struct to_delays delays;
};

/**
 * to_router_shortest() - along paths of the fewest links of @network
 * @network: taken over, also on failure; its links have their latencies
 *
 * Servers between the ends of a path relay. Where bytes are sprayed, links that carry the
 * same are alike: in a fat-tree all uplinks of a ToR switch, and all of a pod.
 *
 * Return: NULL with @err set when out of memory.
 */
struct to_router *to_router_shortest(struct to_network *network,
				   const struct to_shortest_options *options,
				   struct to_error *err);

/** to_router_shortest_again() - after links of its network lead elsewhere; 0 or -ENOMEM */
int to_router_shortest_again(struct to_router *router);

void to_router_free(struct to_router *router);

#endif
