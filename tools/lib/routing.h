/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ROUTING_H
#define TOPOOPT_ROUTING_H

/* Tables of all servers for the links, rings and demand of a plan. */

#include "plan.h"

/**
 * to_routing_fill() - make the tables of @plan
 * @plan: cluster with links, rings and demand; has no tables yet
 * @effort: TO_EFFORT_MIN to TO_EFFORT_MAX
 *
 * Node addresses: shortest paths, spread with weights so that MP transfers and
 * routed rings load the links evenly on top of the AllReduce of the rings.
 * Addresses of ports: shortest paths that enter through that port, which means
 * paths to its peer in the graph without the server. Pairs whose transfers
 * still make a link the busiest get a path of their own (Yen) where that
 * relieves it. Every group that has only one next hop gets a loop-free backup
 * where there is one.
 *
 * Return: 0, -ENOMEM, or -ENOSPC when a table has too many groups.
 */
int to_routing_fill(struct to_plan *plan, unsigned int effort,
		    struct to_error *err);

#endif
