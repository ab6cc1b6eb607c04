/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_DISCOVERY_PORTS_H
#define TOPOOPT_DISCOVERY_PORTS_H

/* Ports that all servers of a fabric have, by the names of their interfaces. */

#include "base/error.h"
#include "data/cluster.h"
#include "doctor/discovery.h"

/** struct to_discovery_ports - ports of each server */
struct to_discovery_ports {
	struct to_discovery_port list[TO_PORTS_MAX];
	unsigned int n;		/* number of ports */
	char *names;		/* all interfaces, with commas between them */
};

/**
 * to_discovery_ports_parse() - read "eth0,eth1", or with RDMA elsewhere "eth0t:eth0,eth1t:eth1"
 * @ports: for to_discovery_ports_free()
 *
 * Return: 0; -EINVAL with @err: what @text has is no name of an interface, or is there twice;
 * -ENOMEM.
 */
int to_discovery_ports_parse(struct to_discovery_ports *ports, const char *text,
			     struct to_error *err);

/** to_discovery_ports_free() - free the names */
void to_discovery_ports_free(struct to_discovery_ports *ports);

/** to_discovery_ports_of() - return names of all interfaces of @cluster, to be freed; or NULL */
char *to_discovery_ports_of(const struct to_cluster *cluster);

#endif
