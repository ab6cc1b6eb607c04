/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SWITCHED_H
#define TOPOOPT_SWITCHED_H

/* Synthetic clusters behind packet switches. */

#include "data/cluster.h"
#include "graph/bcube.h"

/**
 * to_switched_bcube() - put the ports of @cluster on the switches of @bcube
 * @cluster: to_bcube.servers servers with k ports, on no links; its optical switches are
 *	taken away
 *
 * Port l is on switch "sw<l>.<i>", the i-th of level l. Addresses are the default ones, but
 * of digits for numbers: digit l of a server, plus 1, takes 16/k bits of the lower half of
 * its IPv4 addresses, the highest digit first. Digits that are too large for that leave
 * them as they are.
 *
 * Return: 0; -ERANGE when a server would reach more than TO_NEIGHBOURS_MAX ports at one hop;
 * -ENOMEM.
 */
int to_switched_bcube(struct to_cluster *cluster, const struct to_bcube *bcube,
		      struct to_error *err);

/** to_switched_rails() - put port l of all servers on one switch, "rail<l>"; as above */
int to_switched_rails(struct to_cluster *cluster, struct to_error *err);

#endif
