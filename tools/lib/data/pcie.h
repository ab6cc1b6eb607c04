/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PCIE_H
#define TOPOOPT_PCIE_H

/* PCIe links between the ports of a server and its memory: who crosses them, and how fast. */

#include "data/cluster.h"

/** struct to_pcie_way - one direction of a PCIe link of a server */
struct to_pcie_way {
	uint32_t server;
	uint32_t link;		/* index into to_server.pcie */
	bool to_host;		/* from the ports to memory; else from memory to the ports */
};

/** to_pcie_way_rate() - bits/s of @way */
double to_pcie_way_rate(const struct to_cluster *cluster, const struct to_pcie_way *way);

/**
 * to_pcie_sends(), to_pcie_receives() - bits/s that a server sends or receives at most
 * @n_ports: only its first ports are used
 *
 * That is the sum of the ports' bandwidths, less what PCIe links keep from them.
 */
double to_pcie_sends(const struct to_server *server, unsigned int n_ports);
double to_pcie_receives(const struct to_server *server, unsigned int n_ports);

/**
 * to_pcie_bypasses() - tell whether the card takes RoCEv2 from port @in on to port @out
 *
 * Such packets cross no PCIe link.
 */
bool to_pcie_bypasses(const struct to_server *server, unsigned int in, unsigned int out);

/** to_pcie_is_bypassed() - tell whether a card of @server takes RoCEv2 on to other ports */
bool to_pcie_is_bypassed(const struct to_server *server);

#endif
