/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_CROSSCONNECT_H
#define TOPOOPT_CROSSCONNECT_H

/* Links between servers become links between ports and cross-connects. */

#include "cluster.h"
#include "plan.h"

#define TO_PORT_NONE UINT32_MAX

/**
 * to_crossconnect_assign() - give every link its ports
 * @cluster: servers and switches
 * @links: their servers are set, their ports are written; the links of one
 *	ring stand together, in ring order
 * @degree: only the first @degree ports of a server are used
 *
 * A link joins two ports of the same optical switch, or two ports on none.
 * Choosing the switches is an edge colouring: with simplex links and port q of
 * every server on switch q (TopoOpt, Figure 7) one always exists (König); with
 * duplex links and several switches it may not.
 *
 * Return: 0, -ENOMEM, or -ENOSPC with the link that did not fit.
 */
int to_crossconnect_assign(const struct to_cluster *cluster,
			   struct to_link *links, unsigned int n_links,
			   unsigned int degree, struct to_error *err);

/**
 * to_crossconnect_fill() - cross-connects of the links of @plan
 *
 * Links between ports that are on no optical switch need none.
 *
 * Return: 0, -ENOMEM, or -EINVAL when a link joins ports that no light joins.
 */
int to_crossconnect_fill(struct to_plan *plan, struct to_error *err);

#endif
