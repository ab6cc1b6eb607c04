/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ROUTE_HOPS_H
#define TOPOOPT_ROUTE_HOPS_H

/* How many hops packets take through the tables of a plan. */

#include "routing/forwarding.h"

/**
 * struct to_hops - hops of a class of routes
 * @most: hops of the longest
 * @mean: hops, flows divided by the weights of next hops; 0 without routes
 * @src, @dst, @slot: where the longest starts and ends, see to_source_route
 */
struct to_hops {
	unsigned int most;
	double mean;
	uint32_t src, dst;
	uint16_t slot;
};

/**
 * struct to_route_hops - hops of routes
 * @all: to node addresses, every pair of servers alike
 * @ports: to addresses of ports, every pair of a server and a port alike
 * @mp: of MP transfers, to node addresses; the mean is that of their bytes
 * @allreduce: between neighbours on rings and trees, of which those on their own link
 *	take one hop; the mean is that of their bytes
 */
struct to_route_hops {
	struct to_hops all, ports, mp, allreduce;
};

/** to_route_hops_find() - while nothing is broken. Return: 0 or -ENOMEM. */
int to_route_hops_find(struct to_forwarding *f, struct to_route_hops *hops);

#endif
