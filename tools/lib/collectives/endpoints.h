/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ENDPOINTS_H
#define TOPOOPT_ENDPOINTS_H

/* Socket addresses of a connection between two members of a collective. */

#include <netinet/in.h>
#include <stdbool.h>

#include "collectives/collective_plan.h"

/** union to_endpoint - an IPv4 or IPv6 address with its port */
union to_endpoint {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/** struct to_endpoints - both ends of a connection, in one address family */
struct to_endpoints {
	union to_endpoint source;	/* its TCP port is 0 */
	union to_endpoint target;
	socklen_t size;			/* of each, in bytes */
};

/**
 * to_endpoints_find() - find the addresses for a connection between two members
 * @from, @to: members
 * @ends: which address of each
 * @port: TCP port of @to
 *
 * IPv4 where both have it, else IPv6.
 *
 * Return: false when they have no family in common.
 */
bool to_endpoints_find(struct to_endpoints *found, const struct to_collective_plan *c, uint32_t from,
		       uint32_t to, struct to_collective_ends ends, uint16_t port);

#endif
