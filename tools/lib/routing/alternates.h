/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ALTERNATES_H
#define TOPOOPT_ALTERNATES_H

/*
 * Detours for when a link or a server dies, in tables that no one has to change
 * then.
 *
 * While nothing is broken, packets for an address arrive at a server by the arcs of
 * its primary next hops, a DAG. A packet that arrives by another arc has been turned
 * back by a failure, and the port it comes in by tells where that may be (failure
 * inferencing: Nelakuditi et al., "Fast Local Rerouting for Handling Transient Link
 * Failures", IEEE/ACM ToN 2007). So what happens on such arcs is free: a server whose
 * only next hop is dead sends to its backup, and alternates by ingress port lead on,
 * up the DAG, to a server from which no primary path comes back.
 *
 * With duplex links there is such a detour wherever a path remains: up from a server
 * every arc of the DAG has its reverse, which is not in it. Detours of one address
 * that share an arc have to go on alike; they are chosen one after the other, those
 * next to the destination first, which have the fewest ways out.
 */

#include "data/graph.h"
#include "data/plan.h"

/*
 * A packet switch that dies takes the next hops of all who send by it, and they see that.
 * Of a port that dies on one, only its own server knows: the others' next hops look alive,
 * and what they send there is lost until there is another plan. All that arrives at such a
 * port goes on alike, whoever sent it.
 */

/**
 * to_alternates_fill() - give the groups of all tables backups and alternates
 * @plan: with tables of primaries
 * @graph: of the links that may be used
 *
 * A detour avoids the server behind the dead link where it can, so that it also
 * serves when that one died.
 *
 * Return: 0, -ENOMEM, or -ENOSPC when a table has too many groups.
 */
int to_alternates_fill(struct to_plan *plan, const struct to_graph *graph);

#endif
