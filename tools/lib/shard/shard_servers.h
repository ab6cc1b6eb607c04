/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SHARD_SERVERS_H
#define TOPOOPT_SHARD_SERVERS_H

/* Which free servers a shard could have. */

#include <stdbool.h>
#include <stdint.h>

#include "data/cluster.h"

/**
 * to_shard_servers_near() - @n free servers whose fibres end near each other
 * @available: per server: it may be chosen
 * @servers: gets @n indices, in the order of their optical ports
 *
 * All on the same optical switches, out of the group of servers on these that has the
 * fewest free ones but enough, so that large groups stay whole; in that, the run of free
 * servers that spans the fewest optical ports. When no group has enough, a run of all.
 *
 * Return: 0; -ENOSPC with @err when there are not so many; -ENOMEM.
 */
int to_shard_servers_near(const struct to_cluster *cluster, const bool *available, unsigned int n,
			  uint32_t *servers, struct to_error *err);

/**
 * to_shard_servers_groups() - which servers are on the same optical switches
 * @groups: per server, gets the number of its group, from 0
 *
 * Return: how many groups, -ENOMEM.
 */
int to_shard_servers_groups(const struct to_cluster *cluster, unsigned int *groups);

/**
 * to_shard_servers_linked() - @n free servers with many links in place between them
 *
 * Grown from every free server in turn by the one with the most links to those before;
 * kept is the most links inside, then the fewest to free servers outside, then the first.
 * In time of free servers squared times links; from no more than 1024 of them.
 *
 * Return: as to_shard_servers_near(); -ENOLINK with @err when no link joins free servers.
 */
int to_shard_servers_linked(const struct to_cluster *cluster, const bool *available, unsigned int n,
			    uint32_t *servers, struct to_error *err);

/**
 * to_shard_servers_more() - available servers near those that a shard has
 * @servers: @has of them; gets more up to @n, each the nearest by its first optical port
 *	to the one before, on the same optical switches while there are any
 *
 * Return: as to_shard_servers_near().
 */
int to_shard_servers_more(const struct to_cluster *cluster, const bool *available, unsigned int has,
			  unsigned int n, uint32_t *servers, struct to_error *err);

#endif
