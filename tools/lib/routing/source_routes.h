/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SOURCE_ROUTES_H
#define TOPOOPT_SOURCE_ROUTES_H

/*
 * Source-qualified routes for MP transfers that crowd a link, or the port of a packet
 * switch.
 */

#include "data/graph.h"
#include "data/plan.h"

/**
 * to_source_routes_relieve() - give pairs on the busiest links another of their k
 *	shortest paths
 * @plan: with tables; gets source-qualified routes to node addresses
 *
 * Only where the busiest link of the whole plan gains at least one percent;
 * plans so large that looking at a few links would take seconds are left as
 * they are.
 *
 * Return: 0, -ENOMEM, or -ENOSPC when a table has too many groups.
 */
int to_source_routes_relieve(struct to_plan *plan, const struct to_graph *graph);

#endif
