/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ETHTOOL_STATS_H
#define TOPOOPT_ETHTOOL_STATS_H

/* Some of what ethtool -S prints of an interface, read again and again. */

#include <stdint.h>

#include "base/error.h"

#define TO_ETHTOOL_STATS_MAX 4		/* statistics read together */

/** struct to_ethtool_stats - statistics of one interface, found by name */
struct to_ethtool_stats;

/**
 * to_ethtool_stats_open() - find statistics
 * @names: @n of them, at most TO_ETHTOOL_STATS_MAX; used until closed
 *
 * Return: NULL with @err: no such interface, no such statistic.
 */
struct to_ethtool_stats *to_ethtool_stats_open(uint32_t ifindex, const char *const *names,
					       unsigned int n, struct to_error *err);

/** to_ethtool_stats_close() - free statistics; NULL is fine */
void to_ethtool_stats_close(struct to_ethtool_stats *stats);

/**
 * to_ethtool_stats_read() - read the statistics, in the order of their names
 *
 * Return: 0 or a negative errno with @err.
 */
int to_ethtool_stats_read(struct to_ethtool_stats *stats, uint64_t *values, struct to_error *err);

#endif
