/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_WIRES_H
#define TOPOOPT_WIRES_H

/*
 * Who heard whom: the interfaces of all servers that could be ports, and what their answers
 * say of the cables between them. A broadcast reaches all functions that share the connector
 * at the other end, and siblings on the own connector; so several answers are normal.
 */

#include "data/cluster.h"
#include "doctor/check.h"
#include "doctor/inventory.h"

#define TO_WIRE_NAME (TO_NAME_MAX + IFNAMSIZ + 2)
#define TO_WIRE_NONE UINT32_MAX

/**
 * struct to_discovery_server - a server and what was found on it
 * @target: what reaches it, as it was given: s0, admin@s0, 192.0.2.7; NULL: nothing
 * @name: in files
 */
struct to_discovery_server {
	const char *target, *name;
	struct to_inventory inventory;
};

/**
 * struct to_wire - an interface that could be a port
 * @joined: those of other servers that a cable joins it to, ascending: one of the two heard
 *	the other answer, or each heard the other ask
 * @overheard: one that was heard to ask, and of which @joined has nothing; TO_WIRE_NONE
 * @strangers: answers with a MAC address that no listed interface has
 * @silent: answers nobody's question, though others hear it ask
 */
struct to_wire {
	uint32_t server;
	const struct to_inventory_nic *nic;
	unsigned int n_joined, strangers;
	uint32_t *joined, overheard;
	bool silent;
};

/** struct to_wires - all of them, in the order of servers and of their interfaces */
struct to_wires {
	const struct to_discovery_server *servers;
	unsigned int n_servers, n;
	struct to_wire *items;
	struct to_checks *checks;
};

/** to_wires_open() - read what @n @servers heard; 0, or -ENOMEM. @checks gets what is found. */
int to_wires_open(struct to_wires *wires, const struct to_discovery_server *servers,
		  unsigned int n, struct to_checks *checks);
void to_wires_close(struct to_wires *wires);

/** to_wires_name() - write SERVER:INTERFACE of wire @i */
void to_wires_name(const struct to_wires *wires, uint32_t i, char text[TO_WIRE_NAME]);

/** to_wires_of_mac() - find the wire with MAC address @mac; the first, or TO_WIRE_NONE */
uint32_t to_wires_of_mac(const struct to_wires *wires, const uint8_t *mac);

/**
 * to_wires_is_cabled() - tell whether wire @i is on a cable, and check why not
 *
 * A cable has one or two functions of one server at each end; more where their connectors
 * say that they belong together.
 */
bool to_wires_is_cabled(const struct to_wires *wires, uint32_t i);

/** to_wires_arp_fix() - write how the server of @nic, which others hear, is made to answer ARP */
void to_wires_arp_fix(const struct to_inventory_nic *nic, char *fix, size_t size);

/** to_wires_check_mtu() - check that interfaces at both ends of a cable have one MTU */
void to_wires_check_mtu(struct to_checks *checks, const char *server,
			const struct to_inventory_nic *nic, const char *other,
			const struct to_inventory_nic *there);

/**
 * to_wires_siblings() - list the wires of @i's server on its cable, itself included
 * @list: gets them in the order of their PCI addresses; room for TO_PORTS_MAX
 *
 * Return: how many, 1 to TO_PORTS_MAX.
 */
unsigned int to_wires_siblings(const struct to_wires *wires, uint32_t i, uint32_t *list);

#endif
