// SPDX-License-Identifier: GPL-2.0-or-later
#include "data/pcie.h"

#include <string.h>

static double pcie_rate(const struct to_pcie_link *link, bool to_host)
{
	return to_host ? to_pcie_link_to_host(link) : to_pcie_link_from_host(link);
}

double to_pcie_way_rate(const struct to_cluster *cluster, const struct to_pcie_way *way)
{
	return pcie_rate(&cluster->servers[way->server].pcie[way->link], way->to_host);
}

/* Bits/s of all ports together. A link limits the sum of what is within it. */
static double pcie_sum(const struct to_server *server, unsigned int n_ports, bool to_host)
{
	double within[TO_PORTS_MAX] = { 0 }, sum = 0;	/* @within: per PCIe link */

	for (unsigned int p = 0; p < n_ports && p < server->n_ports; p++) {
		const struct to_port *port = &server->ports[p];

		*(port->pcie ? &within[port->pcie - 1] : &sum) += port->bandwidth;
	}
	/* branches come after the links that they are within */
	for (unsigned int i = server->n_pcie; i-- > 0;) {
		const struct to_pcie_link *link = &server->pcie[i];
		const double rate = pcie_rate(link, to_host);

		*(link->within ? &within[link->within - 1] : &sum) +=
			within[i] < rate ? within[i] : rate;
	}
	return sum;
}

double to_pcie_sends(const struct to_server *server, unsigned int n_ports)
{
	return pcie_sum(server, n_ports, false);
}

double to_pcie_receives(const struct to_server *server, unsigned int n_ports)
{
	return pcie_sum(server, n_ports, true);
}

bool to_pcie_bypasses(const struct to_server *server, unsigned int in, unsigned int out)
{
	const struct to_port *port = &server->ports[in];

	return port->transit == TO_TRANSIT_NIC && port->card[0] &&
	       !strcmp(port->card, server->ports[out].card);
}

bool to_pcie_is_bypassed(const struct to_server *server)
{
	for (unsigned int p = 0; p < server->n_ports; p++)
		if (server->ports[p].transit == TO_TRANSIT_NIC && server->ports[p].card[0])
			return true;
	return false;
}
