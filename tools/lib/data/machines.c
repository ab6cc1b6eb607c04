// SPDX-License-Identifier: GPL-2.0-or-later
#include "data/machines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define G 1000000000ull

/*
 * A DGX Spark: one ConnectX-7 with two connectors of 200G and two PCIe Gen5 x4 links, in PCI
 * domains 0 and 2, each of which shows both connectors. Owners measured 109 Gbit/s each way by
 * one function (FujitsuPolycom/sparkring, fabric-cable-bandwidth), which both functions of a
 * domain share, and 24 GB/s from and 26.8 GB/s to memory by all four.
 */
#define SPARK_PCIE { \
	{ "chip", 0, 0, 214400000000, 192 * G }, \
	{ "x4a", 1, 126 * G, 109 * G, 109 * G }, \
	{ "x4b", 1, 126 * G, 109 * G, 109 * G }, \
}

static const struct to_machine machines[] = {
	{ "dgx-spark", 100 * G, TO_TRANSIT_NONE, 4, 3, {
		{ "enp1s0f0np0", "", "p0", 2 }, { "enP2p1s0f0np0", "", "p0", 3 },
		{ "enp1s0f1np1", "", "p1", 2 }, { "enP2p1s0f1np1", "", "p1", 3 },
	}, SPARK_PCIE },
	{ "dgx-spark-one-domain", 200 * G, TO_TRANSIT_NONE, 2, 2, {
		{ "enp1s0f0np0", "", "p0", 2 }, { "enp1s0f1np1", "", "p1", 2 },
	}, SPARK_PCIE },
	/* RDMA by one function of each PCIe link; its sibling on the cable relays */
	{ "dgx-spark-relay", 200 * G, TO_TRANSIT_KERNEL, 2, 3, {
		{ "enP2p1s0f0np0", "enp1s0f0np0", "p0", 2 },
		{ "enp1s0f1np1", "enP2p1s0f1np1", "p1", 3 },
	}, SPARK_PCIE },
};

const char *const to_machines[] = { "dgx-spark", "dgx-spark-one-domain", "dgx-spark-relay", NULL };

const struct to_machine *to_machine_get(unsigned int index)
{
	return &machines[index];
}

unsigned int to_machine_cables(const struct to_machine *machine)
{
	unsigned int n = 0, q;

	for (unsigned int p = 0; p < machine->n_ports; p++) {
		for (q = 0; q < p && strcmp(machine->ports[p].cable, machine->ports[q].cable); q++)
			;
		n += q == p;
	}
	return n;
}

void to_machine_ports(const struct to_machine *machine, char *text, size_t size)
{
	size_t length = 0;

	for (unsigned int p = 0; p < machine->n_ports; p++) {
		const struct to_machine_port *port = &machine->ports[p];

		length += snprintf(text + length, size - length, "%s%s%s%s", p ? "," : "", port->name,
				   port->transmit[0] ? ":" : "", port->transmit);
	}
}

int to_machine_apply(const struct to_machine *machine, struct to_cluster *cluster)
{
	const bool shared = to_machine_cables(machine) < machine->n_ports;

	for (uint32_t s = 0; s < cluster->n_servers; s++) {
		struct to_server *server = &cluster->servers[s];

		server->pcie = calloc(machine->n_pcie, sizeof(*server->pcie));
		if (!server->pcie)
			return -ENOMEM;
		memcpy(server->pcie, machine->pcie, machine->n_pcie * sizeof(*server->pcie));
		server->n_pcie = machine->n_pcie;
		for (unsigned int p = 0; p < machine->n_ports; p++) {
			struct to_port *port = &server->ports[p];

			port->bandwidth = machine->bandwidth;
			port->transit = machine->transit;
			port->pcie = machine->ports[p].pcie;
			strcpy(port->card, "card0");
			if (shared)
				strcpy(port->cable, machine->ports[p].cable);
		}
	}
	return 0;
}
