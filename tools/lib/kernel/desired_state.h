/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_DESIRED_STATE_H
#define TOPOOPT_DESIRED_STATE_H

/*
 * What one server's part of a plan means to its kernel: the table of the
 * topoopt device, and the addresses, neighbours, routes and rules around it.
 * No I/O.
 */

#include <stdint.h>

#include "base/error.h"
#include "data/plan.h"
#include "kernel/genl.h"
#include "kernel/rtnl.h"

/**
 * to_desired_state_table() - checks, groups and routes of the topoopt device of @server
 * @ifindex: interface of every port of @server
 *
 * A neighbour is expected at both ends of each link, also of those that are dark; not of a
 * link to or from a server whose module has no checks, nor of a simplex link without one that
 * leads back to its port.
 *
 * Own node address: type node. Own port addresses: type local, with a group
 * that leads to the port's peer, one of them on a packet switch. It is for RoCEv2 that
 * arrives at another port: a queue pair sends through its own NIC, which may be cabled to
 * another NIC of the destination, and no NIC accepts packets for another one; the peer
 * sends them back to the right port. Every other address that the plan has a route to:
 * unicast. A next hop to port q of server v carries the relay MAC of (v, q), for the
 * address of (v, q) itself the RDMA MAC: so a group of the plan is one group here and
 * one more for every such last hop where the two MACs differ.
 * A source-qualified route of the plan is one route between node addresses, or
 * one from each port address of the source to a port address.
 *
 * Return: 0, or a negative errno.
 */
int to_desired_state_table(const struct to_plan *plan, unsigned int server,
			   const uint32_t *ifindex, struct to_kernel_table *table,
			   struct to_error *err);

/**
 * to_desired_state_entries() - what rtnetlink has to know on @server
 * @ifindex: interface of every port that has the RDMA MAC and the address
 * @device: ifindex of the topoopt device
 *
 * For a plan that to_desired_state_table() has accepted.
 *
 * For TCP, on the device: the node address as /32 (/128) and routes to the
 * other node addresses. Those are the fewest prefixes that cover these
 * addresses and no other, so a handful for a plan numbered in a row, and never
 * a route for an address that is not in the plan.
 *
 * For RDMA, on each port: its address as /32; permanent neighbours for the
 * peer port (its RDMA MAC) and for the relay behind it (its relay MAC, as the
 * peer's IPv4 node address and as its link-local IPv6 address); in the main
 * table a /32 to every remote port address through the port that the plan
 * picks for it, source = the port's address; and a table of the port's own,
 * chosen by a rule on its address as source, that reaches all port addresses
 * through this port. The rule is there because the kernel resolves a queue
 * pair's path with the source address of its GID (addr_resolve() in
 * drivers/infiniband/core/addr.c, rxe_find_route4()), and the packets leave
 * by that NIC whatever the main table says; it also makes the reverse path
 * of a port address unambiguous, so strict rp_filter passes. A port on a packet switch has
 * all others there as such peers, and a route to each port address, by one of them; see
 * to_queue_pair_arc().
 */
int to_desired_state_entries(const struct to_plan *plan, unsigned int server,
			     const uint32_t *ifindex, uint32_t device,
			     struct to_entries *entries, struct to_error *err);

/** struct to_prefix - @len leading bits of @address */
struct to_prefix {
	uint8_t address[16];
	uint8_t len;
};

/**
 * to_prefix_cover() - fewest prefixes that cover @prefixes and nothing else
 * @prefixes: @n full-length ones of @size bytes (4 or 16), any order,
 *	duplicates allowed; replaced by the cover
 *
 * Return: number of prefixes of the cover.
 */
unsigned int to_prefix_cover(struct to_prefix *prefixes, unsigned int n,
			     unsigned int size);

#endif
