/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ROUTING_H
#define TOPOOPT_ROUTING_H

/* Tables of all servers for the links, rings and demand of a plan. */

#include "allreduce.h"
#include "plan.h"

/**
 * to_routing_fill() - make the tables of @plan
 * @plan: cluster with links, rings and demand; has no tables yet
 * @effort: TO_EFFORT_MIN to TO_EFFORT_MAX; passes over the demand
 *
 * Node addresses: ways that load the links evenly with MP transfers and routed
 * rings on top of the AllReduce of the rings, not only shortest ones, as
 * weights of next hops (see split.h); shortest paths from servers that have
 * nothing to forward. Addresses of ports: shortest paths that enter through
 * that port, which means paths to its peer in the graph without the server.
 * Where all that leaves the busiest link over its bound, pairs whose transfers
 * crowd it get a path of their own (Yen) if that relieves it. Every group that
 * has only one next hop gets a loop-free backup where there is one.
 *
 * Return: 0, -ENOMEM, or -ENOSPC when a table has too many groups.
 */
int to_routing_fill(struct to_plan *plan, unsigned int effort,
		    struct to_error *err);

/**
 * to_routing_estimate() - what to_routing_fill() would make of a topology,
 *	without making any table
 * @cluster: for bandwidths; its own links are not looked at
 * @graph: of the links of @rings
 * @passes: over the demand, each n x n_arcs steps: 12 come within about 5 % of
 *	the least possible, 24 within 2 %
 * @seconds: that the busiest link is busy in one iteration; demand of servers
 *	that cannot reach its destination is left out
 *
 * Return: 0 or -ENOMEM.
 */
int to_routing_estimate(const struct to_cluster *cluster, const struct to_graph *graph,
			const struct to_rings *rings, unsigned int passes, double *seconds);

#endif
