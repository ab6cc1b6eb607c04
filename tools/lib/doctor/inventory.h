/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_INVENTORY_H
#define TOPOOPT_INVENTORY_H

/*
 * Which interfaces of this server could be ports of a fabric, and who answers at the
 * other end of their cables. Read on each server and put together by discovery.h.
 */

#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/text.h"
#include "doctor/probe.h"
#include "kernel/hardware.h"

/**
 * struct to_inventory_nic - an interface
 * @bandwidth: bits/s, 0 when the driver does not say
 * @rdma: its RDMA device, "" without one
 * @takes_roce: that device takes RoCEv2 for other servers, too; see to_hardware_takes_roce()
 * @arp_ignore: the sysctl in force; 0 answers for all addresses of the server
 * @hardware: what it is made of
 * @not_a_port: why it is none, "" when it could be one
 * @lldp: who says to be at the other end, "tor1 Ethernet12", see lldp.h; "": nobody
 * @answers: to what was asked through it
 */
struct to_inventory_nic {
	char name[IFNAMSIZ];
	uint8_t mac[6];
	bool up, carrier, takes_roce;
	unsigned int mtu, arp_ignore;
	uint64_t bandwidth;
	char rdma[64], not_a_port[64], lldp[64];
	struct to_hardware hardware;
	unsigned int n_answers;
	struct to_answer *answers;
};

#define TO_INVENTORY_UNMATCHED 256

/**
 * struct to_inventory - a server
 * @host: the name that it calls itself by, "" when that is not one for files
 * @addresses: its IPv4 addresses, without those of ports, topoopt devices and loopback
 * @unmatched: of the patterns that were asked for, those that match no interface, with commas
 *	between them
 */
struct to_inventory {
	unsigned int n_addresses, n_nics;
	struct in_addr *addresses;
	struct to_inventory_nic *nics;
	char host[TO_NAME_MAX], unmatched[TO_INVENTORY_UNMATCHED];
};

/**
 * to_inventory_read() - look at the interfaces of this network namespace
 * @ports: shell patterns of names with commas between them, "eth*,mlx0", or alternative
 *	names; those that match could be ports, whatever they are. NULL: Ethernet NICs
 *	without an IPv4 address that belong to no bridge or bond
 */
int to_inventory_read(struct to_inventory *inventory, const char *ports, struct to_error *err);
void to_inventory_free(struct to_inventory *inventory);

/** to_inventory_up() - set those up that could be ports, and wait for their light */
int to_inventory_up(struct to_inventory *inventory, struct to_error *err);

/**
 * to_inventory_ask() - ask through each that could be a port who has @targets
 *
 * By ARP without a sender address (RFC 5227, 2.1.1), which a Linux host answers for any
 * of its addresses with the MAC address of the interface that heard it; neither end
 * needs an address on the cable. 2 s, for all interfaces together; those who ask meanwhile are
 * heard, too.
 */
int to_inventory_ask(struct to_inventory *inventory, const struct in_addr *targets,
		     unsigned int n, struct to_error *err);

/** to_inventory_print() - as JSON, which to_inventory_parse() reads */
int to_inventory_print(FILE *out, const struct to_inventory *inventory);

/** to_inventory_print_text() - print interfaces for people, a line each and one per answer */
void to_inventory_print_text(FILE *out, const struct to_inventory *inventory);

/** to_inventory_parse() - @name is for errors */
int to_inventory_parse(struct to_inventory *inventory, const char *text, size_t len,
		       const char *name, struct to_error *err);

#endif
