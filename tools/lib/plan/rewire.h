/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_REWIRE_H
#define TOPOOPT_REWIRE_H

/*
 * Links that a plan could have instead of its own.
 *
 * Rings and trees stay as they are; they own links again where all their hops
 * have one. Links between ports that are on no optical switch stay. The others
 * leave as many cross-connects alone as they can. Those that find no switch with a
 * port of both servers left are left out, unless rings, trees or the path to a server
 * needs them.
 */

#include "topology/reconfig.h"
#include "topology/topology.h"

/** to_rewire_none() - the links of @plan. Return: 0 or -ENOMEM. */
int to_rewire_none(const struct to_plan *plan, struct to_topology *topology);

/**
 * to_rewire_reconfig() - find links by Algorithm 5, which discounts parallel links exponentially
 * @keep_rings: rings and trees keep the links that they own
 * @spread: see struct to_reconfig
 * @bytes: n x n, all that is sent, AllReduce too
 * @demand: the same with AllReduce told from MP transfers
 * @topology: rated, see to_topology_rate()
 *
 * Return: 0, -ENOMEM, or -ENOSPC with the reason when there is no such topology.
 */
int to_rewire_reconfig(const struct to_plan *plan, bool keep_rings, bool spread,
		       const uint64_t *bytes, const struct to_demand *demand,
		       uint64_t seed, struct to_topology *topology,
		       struct to_error *err);

/**
 * to_rewire_find() - TopologyFinder, with all that is sent as MP transfers
 *
 * Return: as to_rewire_reconfig(); -ENOSPC also where a port is on no switch.
 */
int to_rewire_find(const struct to_plan *plan, const uint64_t *bytes,
		   const struct to_demand *demand, unsigned int effort, uint64_t seed,
		   struct to_topology *topology, struct to_error *err);

#endif
