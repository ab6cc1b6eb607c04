/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_RESOLVE_H
#define TOPOOPT_RESOLVE_H

/* Finds the interfaces that a plan's server has on this host. */

#include <stdint.h>

#include "base/error.h"
#include "data/plan.h"
#include "kernel/rtnl.h"

/**
 * struct to_interfaces - the interfaces of one server of a plan
 * @nics: all interfaces of the network namespace
 * @device: ifindex of the topoopt device, 0 when there is none
 * @port: ifindex of each port of the server
 * @transmit: ifindex of what the port transmits through, often the port itself
 * @rdma: of these two the one with the port's RDMA MAC and address
 */
struct to_interfaces {
	struct to_nic *nics;
	unsigned int n_nics;
	uint32_t device;
	uint32_t port[TO_PORTS_MAX], transmit[TO_PORTS_MAX], rdma[TO_PORTS_MAX];
};

/**
 * to_resolve_nics() - read this host's interfaces, and find @device among them
 * @device: name of the topoopt device
 * @found: gets @nics, with their owners, and @device
 *
 * Return: 0; -EEXIST when @device is another kind of interface; another
 * negative errno. to_interfaces_free() is due in any case.
 */
int to_resolve_nics(struct to_netlink *rt, const char *device, struct to_interfaces *found,
		    struct to_error *err);

/**
 * to_resolve_ports() - find the ports of @server among @found->nics
 * @found: from to_resolve_nics(); gets @port, @transmit and @rdma
 * @plan: with an index, see to_plan_index()
 *
 * A port that no link of @plan has may be missing, as one whose NIC is gone is from a repaired
 * plan. It has index 0 then.
 *
 * Return: 0; -ENODEV when an interface is missing; -EINVAL when it has another
 * MAC than the plan says; -EBUSY when another device uses it.
 */
int to_resolve_ports(struct to_interfaces *found, const struct to_plan *plan, unsigned int server,
		     struct to_error *err);

/** to_resolve_port() - find port @p alone, as to_resolve_ports() finds all */
int to_resolve_port(struct to_interfaces *found, const struct to_server *server, unsigned int p,
		    struct to_error *err);

/** to_resolve_drop_ipv6() - leave out IPv6 entries of interfaces that have no IPv6 */
void to_resolve_drop_ipv6(const struct to_interfaces *found, struct to_entries *entries);

/** to_resolve_entries() - leave out what belongs to another topoopt device */
void to_resolve_entries(const struct to_interfaces *found, struct to_entries *entries);

void to_interfaces_free(struct to_interfaces *found);

#endif
