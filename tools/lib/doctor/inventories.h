/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_INVENTORIES_H
#define TOPOOPT_INVENTORIES_H

/* Inventories of all servers of a fabric, asked of their agents. */

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "base/error.h"
#include "control/fabric.h"
#include "doctor/discovery.h"
#include "doctor/discovery_ports.h"

/** struct to_inventories - servers, and what was found on each */
struct to_inventories {
	unsigned int n;				/* number of servers */
	struct to_discovery_server *servers;
	struct to_fabric *fabric;		/* NULL until the agents were asked */
};

/** struct to_inventories_question - what every server is asked */
struct to_inventories_question {
	const struct to_fabric_options *fabric;	/* how to reach the agents */
	const char *ports;	/* see to_inventory_read(); NULL: usual ports */
	bool up;		/* set ports up that are down */
};

/** to_inventories_is_target() - check a word that is to reach a server: HOST or USER@HOST */
bool to_inventories_is_target(const char *word);

/**
 * to_inventories_init() - make inventories of servers
 * @targets: of @n servers, as to_inventories_is_target(), borrowed
 *
 * A server is called as its host. Where that is an IPv4 address, it gets the name that it calls
 * itself by once it was asked, if no other of the servers does.
 *
 * Return: 0; -EEXIST with @err: a host is there twice; -ENOMEM. Call to_inventories_free()
 * either way.
 */
int to_inventories_init(struct to_inventories *all, unsigned int n, const char *const *targets,
			struct to_error *err);

/** to_inventories_free() - free all inventories, and leave the agents */
void to_inventories_free(struct to_inventories *all);

/**
 * to_inventories_look() - have all servers list their interfaces
 *
 * Return: 0, or a negative errno with @err of the first server that failed.
 */
int to_inventories_look(struct to_inventories *all, const struct to_inventories_question *question,
			struct to_error *err);

/**
 * to_inventories_probe() - have all servers list their interfaces and ask for each other
 *
 * All ask at once, as each hears the others ask.
 *
 * Return: 0; -ENOENT with @err: a server has no address that others could ask for; another
 * negative errno with @err of the first server that failed.
 */
int to_inventories_probe(struct to_inventories *all, const struct to_inventories_question *question,
			 struct to_error *err);

/**
 * to_inventories_imagine() - make up interfaces, with the MAC addresses of synthetic clusters
 * @ports: of each server
 * @bandwidth: bits/s; 0: TO_SYNTHETIC_BANDWIDTH
 *
 * Return: 0 or -ENOMEM with @err.
 */
int to_inventories_imagine(struct to_inventories *all, const struct to_discovery_ports *ports,
			   uint64_t bandwidth, struct to_error *err);

/**
 * to_inventories_take() - find what this server has, also by LLDP
 * @ports: see to_inventory_read(); NULL: usual ports
 * @up: set ports up that are down
 *
 * Return: 0, or a negative errno with @err and nothing to free.
 */
int to_inventories_take(struct to_inventory *inventory, const char *ports, bool up,
			struct to_error *err);

/** to_inventories_answer() - return an agent's reply to the request "inventory"; or NULL */
json_t *to_inventories_answer(const json_t *request);

#endif
