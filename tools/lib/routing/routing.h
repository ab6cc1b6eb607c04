/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ROUTING_H
#define TOPOOPT_ROUTING_H

/* Tables of all servers for the links, rings and demand of a plan. */

#include "data/plan.h"

/**
 * to_routing_primaries() - make the tables of @plan, for links that all work
 * @plan: cluster with links, rings and demand; has no tables yet
 * @effort: TO_EFFORT_MIN to TO_EFFORT_MAX; passes over the demand
 *
 * Node addresses: weighted next hops that minimise the maximum link utilisation,
 * with MP transfers and routed rings on top of the AllReduce of the rings, not
 * only along shortest paths (see wcmp.h); shortest paths from servers that have
 * nothing to forward. Addresses of ports: shortest paths that enter through
 * that port, which means paths to its peer in the graph without the server.
 * Where all that leaves the busiest link over its bound, pairs whose transfers
 * crowd it get a path of their own (Yen) if that relieves it, unless @effort is
 * TO_EFFORT_MIN; plan->least_time gets the bound then, too. No route is longer than
 * plan->max_stretch allows, TO_STRETCH_DEFAULT when it is 0.
 *
 * All of this is of plans that may have buffer cycles: with plan->no_buffer_cycles, see
 * up_down.h.
 *
 * Return: 0, -ENOMEM, or -ENOSPC when a table has too many groups; as to_up_down_fill().
 */
int to_routing_primaries(struct to_plan *plan, unsigned int effort, struct to_error *err);

/**
 * to_routing_backups() - the same tables for links that fail, too
 *
 * Backups and alternates cover single failures, see alternates.h. They change no
 * load, and take longer than all else where there is little traffic.
 *
 * Return: as to_routing_primaries().
 */
int to_routing_backups(struct to_plan *plan, struct to_error *err);

/** to_routing_fill() - to_routing_primaries() and to_routing_backups() */
int to_routing_fill(struct to_plan *plan, unsigned int effort, struct to_error *err);

/**
 * to_routing_unbounded() - what routes of any length would do
 * @plan: left as it is
 * @seconds: that the busiest link would be busy, without routes of single sources
 *
 * Return: 0 or -ENOMEM.
 */
int to_routing_unbounded(struct to_plan *plan, unsigned int effort, double *seconds);

#endif
