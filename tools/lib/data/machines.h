/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_MACHINES_H
#define TOPOOPT_MACHINES_H

/* Machines whose NICs are known: which functions share a cable or a PCIe link, and its rates. */

#include "base/error.h"
#include "data/cluster.h"

#define TO_MACHINE_PORTS 4
#define TO_MACHINE_LINKS 3

/**
 * struct to_machine_port - a port that each such machine has
 * @name: its interface
 * @transmit: interface with RDMA that it relays for, "" when it has RDMA itself
 * @cable: connector
 * @pcie: 1 + index into to_machine.pcie
 */
struct to_machine_port {
	const char *name, *transmit, *cable;
	unsigned int pcie;
};

/**
 * struct to_machine - a kind of server
 * @name: for the command line
 * @bandwidth: of each port, its share of the cable, bits/s
 * @transit: who takes RoCEv2 for other servers
 */
struct to_machine {
	const char *name;
	uint64_t bandwidth;
	enum to_transit transit;
	unsigned int n_ports, n_pcie;
	struct to_machine_port ports[TO_MACHINE_PORTS];
	struct to_pcie_link pcie[TO_MACHINE_LINKS];
};

/** to_machines - names for the command line, NULL at the end */
extern const char *const to_machines[];

/** to_machine_get() - the machine called to_machines[@index] */
const struct to_machine *to_machine_get(unsigned int index);

/** to_machine_cables() - count the connectors of @machine */
unsigned int to_machine_cables(const struct to_machine *machine);

/** to_machine_ports() - write "eth0,eth1t:eth1" for to_discovery_ports_parse() */
void to_machine_ports(const struct to_machine *machine, char *text, size_t size);

/**
 * to_machine_apply() - make all servers of @cluster such machines
 * @cluster: with the ports of @machine, in its order; gets cables, cards and PCIe links
 *
 * Return: 0 or -ENOMEM.
 */
int to_machine_apply(const struct to_machine *machine, struct to_cluster *cluster);

#endif
