/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_DISCOVERY_H
#define TOPOOPT_DISCOVERY_H

/*
 * A cluster from the inventories of its servers: which port is cabled to which, and
 * what is wrong with the cables.
 */

#include <netinet/in.h>
#include <stdint.h>

#include "base/error.h"
#include "data/addresses.h"
#include "data/cluster.h"
#include "doctor/wires.h"

/**
 * struct to_discovery_options - what cables cannot tell
 * @prefix: of the fabric's IPv4 addresses
 * @bandwidth: bits/s of ports whose driver names no speed, 0: TO_SYNTHETIC_BANDWIDTH
 */
struct to_discovery_options {
	struct to_addresses_prefix prefix;
	uint64_t bandwidth;
};

/**
 * to_discovery_targets() - an address of each server that no other server has
 * @targets: gets @n of them
 *
 * Return: 0, or -ENOENT with @err: a server has none, by name.
 */
int to_discovery_targets(const struct to_discovery_server *servers, unsigned int n,
			 struct in_addr *targets, struct to_error *err);

/**
 * to_discovery_cluster() - the cluster that @n servers make
 * @checks: gets each port with what it is cabled to, and what is wrong: no light,
 *	nobody answers, heard in one direction, a network of several servers, a speed
 *	below that of others, a MAC address twice, servers without a path to each other
 *
 * A port is an interface on a cable to another server. Several functions of a NIC may share
 * the cable, and are joined in the order of their PCI addresses; where one of two has RDMA,
 * the two are one port: the one with RDMA gets last hops and the other transit.
 *
 * Return: NULL with @err: no cable, addresses that do not fit, out of memory.
 */
struct to_cluster *to_discovery_cluster(const struct to_discovery_server *servers, unsigned int n,
					const struct to_discovery_options *options,
					struct to_checks *checks, struct to_error *err);

/**
 * struct to_discovery_port - a port that all servers have
 * @name: interface that relays
 * @rdma: interface on the same cable that has RDMA, "" when there is only one
 */
struct to_discovery_port {
	char name[IFNAMSIZ], rdma[IFNAMSIZ];
};

/**
 * to_discovery_named() - the cluster of @n servers whose ports are known by name
 * @checks: gets ports without a known speed
 *
 * It has no links, and addresses only when to_addresses_number() gave them. Return: NULL with
 * @err: a server lacks an interface, out of memory.
 */
struct to_cluster *to_discovery_named(const struct to_discovery_server *servers, unsigned int n,
				      const struct to_discovery_port *ports, unsigned int n_ports,
				      const struct to_discovery_options *options,
				      struct to_checks *checks, struct to_error *err);

/**
 * to_discovery_compare() - are @cluster's links as the cables are?
 * @servers: those of @cluster, in its order
 * @checks: gets each link that is as it should be, and those that are not
 */
void to_discovery_compare(const struct to_discovery_server *servers,
			  const struct to_cluster *cluster, struct to_checks *checks);

#endif
