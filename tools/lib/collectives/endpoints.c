// SPDX-License-Identifier: GPL-2.0-or-later
#include "collectives/endpoints.h"

#include <string.h>

/* Take the address of a node or of a port. Return: its length, 0 when it has none in @family. */
static socklen_t endpoint_take(union to_endpoint *to, const struct to_server *server,
			       unsigned int slot, int family, uint16_t port)
{
	const struct to_address *a = slot ? &server->ports[slot - 1].address : &server->address;

	memset(to, 0, sizeof(*to));
	if (family == AF_INET && a->has_v4) {
		to->v4 = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port) };
		memcpy(&to->v4.sin_addr, &a->v4, sizeof(to->v4.sin_addr));
		return sizeof(to->v4);
	}
	if (family == AF_INET6 && a->has_v6) {
		to->v6 = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = htons(port) };
		memcpy(&to->v6.sin6_addr, &a->v6, sizeof(to->v6.sin6_addr));
		return sizeof(to->v6);
	}
	return 0;
}

bool to_endpoints_find(struct to_endpoints *found, const struct to_collective_plan *c, uint32_t from,
		       uint32_t to, struct to_collective_ends ends, uint16_t port)
{
	static const int families[] = { AF_INET, AF_INET6 };
	const struct to_server *servers = c->plan->cluster->servers;

	for (unsigned int i = 0; i < 2; i++) {
		found->size = endpoint_take(&found->target, &servers[c->members[to]], ends.to,
					    families[i], port);
		if (found->size && endpoint_take(&found->source, &servers[c->members[from]], ends.from,
						 families[i], 0))
			return true;
	}
	return false;
}
