/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_COUNTERS_H
#define TOPOOPT_COUNTERS_H

/* What a NIC counted on its port since it came up. */

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "data/cluster.h"
#include "data/tm.h"
#include "kernel/netlink.h"

#define TO_COUNTER_NAME_MAX 32	/* ETH_GSTRING_LEN */

/**
 * struct to_counter_names - statistics of `ethtool -S` to take
 *
 * rtnetlink tells what the driver handed to the kernel. A NIC with an RDMA
 * engine has other counters for what passed the port, which the
 * reconstruction in to_tm_merge() needs: rx_bytes_phy and the like.
 *
 * @name: received bytes, received packets, sent bytes, sent packets
 * @fcs: the bytes include the 4 of every frame's FCS
 */
struct to_counter_names {
	char name[4][TO_COUNTER_NAME_MAX];
	bool fcs;
};

/** to_counter_names_parse() - read "RX-BYTES,RX-PACKETS,TX-BYTES,TX-PACKETS[,fcs]" */
int to_counter_names_parse(const char *text, struct to_counter_names *names,
			   struct to_error *err);

/**
 * to_counters_check() - refuse counters that several ports would add up
 * @ifindex: of the interface that counts, for each of @n ports
 * @names: NULL for the standard ones
 *
 * Functions that share a connector each show all of its frames in statistics whose names end
 * with "_phy" (mlx5/core/en_stats.c, pport counters).
 *
 * Return: 0, or -ENOTSUP with @err.
 */
int to_counters_check(const uint32_t *ifindex, unsigned int n, const struct to_counter_names *names,
		      struct to_error *err);

/** struct to_counters - counters of some interfaces, ready to be read at once */
struct to_counters;

/**
 * to_counters_open() - find them
 * @nl: socket of NETLINK_ROUTE; used until closed, as is @names
 * @ifindex: copied; an interface that is not there has 0, and counts nothing
 * @names: NULL for the standard ones of rtnetlink
 *
 * All that need not be done while reading is done here.
 *
 * Return: NULL with @err: no such interface, no such statistic.
 */
struct to_counters *to_counters_open(struct to_netlink *nl, const uint32_t *ifindex,
				     unsigned int n, const struct to_counter_names *names,
				     struct to_error *err);

/**
 * to_counters_open_server() - find the counters of all ports of a server, which is this host
 * @nl: see to_counters_open()
 * @server: the interface that transmits counts, where a port has one of its own
 *
 * Return: NULL with @err: this host lacks an interface.
 */
struct to_counters *to_counters_open_server(struct to_netlink *nl, const struct to_server *server,
					    struct to_error *err);

/** to_counters_close() - free counters */
void to_counters_close(struct to_counters *counters);

/**
 * to_counters_read() - all of them, as close together as can be
 * @values: one for each interface
 *
 * Those of rtnetlink take one system call.
 *
 * Return: 0 or a negative errno with @err.
 */
int to_counters_read(struct to_counters *counters, struct to_tm_counters *values,
		     struct to_error *err);

#endif
