/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_LINK_COUNTERS_H
#define TOPOOPT_LINK_COUNTERS_H

/* Packets, errors and changes of carrier that one end of a link has counted. */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "kernel/netlink.h"

/** struct to_link_packets - packets that passed one end of a link since it came up */
struct to_link_packets {
	uint64_t rx;	/* packets received */
	uint64_t tx;	/* packets sent */
};

/** struct to_link_end - counters of one end of a link at one time */
struct to_link_end {
	struct to_link_packets device;	/* statistics that every driver has (ip -s link) */
	struct to_link_packets phy;	/* rx_packets_phy and tx_packets_phy of ethtool -S */
	bool has_phy;			/* the driver has both of @phy */
	uint64_t missed;		/* arrived, and dropped: the NIC had no buffer; not in @device.rx */
	uint64_t errors;		/* arrived damaged; neither in @device.rx nor in @phy.rx */
	uint64_t carrier_changes;	/* times that the carrier went or came */
};

/** struct to_link_ifindex - interfaces of one port */
struct to_link_ifindex {
	uint32_t port;		/* interface that receives */
	uint32_t transmit;	/* interface that sends; may be @port */
};

/**
 * to_link_counters_read() - read the counters of ports
 * @nl: socket of NETLINK_ROUTE
 * @ports: interfaces of @n ports
 * @ends: set, one for each port. Where a port has two interfaces, @device, @missed and
 *	@errors are sums of both
 *
 * Return: 0 or a negative errno with @err.
 */
int to_link_counters_read(struct to_netlink *nl, const struct to_link_ifindex *ports,
			  unsigned int n, struct to_link_end *ends, struct to_error *err);

/** to_link_end_json() - return the counters as an object; NULL when out of memory */
json_t *to_link_end_json(const struct to_link_end *end);

/**
 * to_link_end_take() - read what to_link_end_json() made
 * @object: may be anything, as another server sends it
 *
 * Return: whether @object has all counters that every driver has.
 */
bool to_link_end_take(struct to_link_end *end, const json_t *object);

#endif
