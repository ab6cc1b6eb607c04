/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_COUNTERS_H
#define TOPOOPT_COUNTERS_H

/* What a NIC counted on its port since it came up. */

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
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

/** to_counter_names_parse() - from "RX-BYTES,RX-PACKETS,TX-BYTES,TX-PACKETS" */
int to_counter_names_parse(const char *text, struct to_counter_names *names,
			   struct to_error *err);

/**
 * to_counters_read() - counters of one interface
 * @nl: socket of NETLINK_ROUTE
 * @names: NULL for the standard ones of rtnetlink
 */
int to_counters_read(struct to_netlink *nl, uint32_t ifindex,
		     const struct to_counter_names *names,
		     struct to_tm_counters *counters, struct to_error *err);

#endif
