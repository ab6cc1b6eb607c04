/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_CABLING_H
#define TOPOOPT_CABLING_H

/* Cables for servers of which nobody has said how they are to be joined. */

#include "base/error.h"
#include "data/cluster.h"

/**
 * to_cabling_check() - whether to_cabling_make() can lay @shape for so many servers and ports of each
 *
 * Return: 0; a negative errno with @err: ports that do not do for the shape, no such shape.
 */
int to_cabling_check(const char *shape, unsigned int servers, unsigned int ports,
		     struct to_error *err);

/**
 * to_cabling_make() - lay the links of @cluster
 * @cluster: has none yet, nor optical switches; all servers with the same number of ports
 * @shape: "ring": the first port of each server to the second port of the next, the third
 *	to the fourth and so on; "full-mesh": a link for each pair of servers; else the name
 *	of a family of topologies (family.h), laid for an AllReduce over all servers
 *
 * Return: 0; a negative errno with @err: what to_cabling_check() says, or memory.
 */
int to_cabling_make(struct to_cluster *cluster, const char *shape, struct to_error *err);

#endif
