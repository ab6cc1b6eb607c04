/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_CABLING_H
#define TOPOOPT_CABLING_H

/* Cables for servers of which nobody has said how they are to be joined. */

#include "base/error.h"
#include "data/cluster.h"

/**
 * to_cabling_check() - check whether to_cabling_make() can lay @shape
 * @cables: that each server can take
 *
 * Return: 0; a negative errno with @err: cables that do not do for the shape, no such shape.
 */
int to_cabling_check(const char *shape, unsigned int servers, unsigned int cables,
		     struct to_error *err);

/**
 * to_cabling_make() - lay the links of @cluster
 * @cluster: has none yet, nor optical switches; all servers have the same ports
 * @shape: "ring": the first connector of each server to the second of the next, the third
 *	to the fourth and so on; "straight-ring": those of the same number, by turns;
 *	"full-mesh": a cable for each pair of servers; else the name of a family of
 *	topologies (family.h), laid for an AllReduce over all servers
 *
 * Functions that share a cable get a link each, in the order of the ports.
 *
 * Return: 0; a negative errno with @err: what to_cabling_check() says, or memory.
 */
int to_cabling_make(struct to_cluster *cluster, const char *shape, struct to_error *err);

#endif
