// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/slow.h"

#include <errno.h>
#include <stdlib.h>

#define SLOW_MBIT 1000000ull

static struct to_slow_port *slow_port(const struct to_slow *s, struct to_port_ref at)
{
	return &s->ports[(size_t)at.server * TO_PORTS_MAX + at.port];
}

const struct to_slow_port *to_slow_port(const struct to_slow *s, struct to_port_ref at)
{
	return slow_port(s, at);
}

static uint64_t slow_planned(const struct to_cluster *c, struct to_port_ref at)
{
	return c->servers[at.server].ports[at.port].bandwidth;
}

int to_slow_init(struct to_slow *s, uint64_t hold_ns, const struct to_cluster *cluster,
		 const struct to_cluster *now, uint64_t now_ns)
{
	*s = (struct to_slow){
		.hold_ns = hold_ns, .n_servers = cluster->n_servers,
		.ports = calloc((size_t)cluster->n_servers * TO_PORTS_MAX, sizeof(*s->ports)),
	};
	if (!s->ports)
		return -ENOMEM;
	for (uint32_t x = 0; x < cluster->n_servers; x++) {
		for (uint32_t p = 0; p < cluster->servers[x].n_ports; p++) {
			const struct to_port_ref at = { x, p };
			struct to_slow_port *port = slow_port(s, at);

			port->bandwidth = slow_planned(now, at);
			if (port->bandwidth >= slow_planned(cluster, at))
				continue;
			to_hold_begin(&port->hold, hold_ns, now_ns);
			s->n_held++;
		}
	}
	return 0;
}

void to_slow_free(struct to_slow *s)
{
	free(s->ports);
	*s = (struct to_slow){ 0 };
}

bool to_slow_look(struct to_slow *s, const struct to_cluster *c, struct to_port_ref at,
		  uint64_t mbits, uint64_t now_ns)
{
	const double cable = to_server_cable_bandwidth(&c->servers[at.server], at.port);
	const double share = mbits * SLOW_MBIT / cable;
	const uint64_t bandwidth = share * slow_planned(c, at);
	struct to_slow_port *port = slow_port(s, at);
	const bool low = mbits && share < TO_SLOW_SHARE, again = port->low;

	port->low = low;
	if (to_hold_end(&port->hold, low || !mbits, now_ns)) {
		s->n_held--;
		return true;
	}
	if (!low || !again || (port->hold.held && port->bandwidth == bandwidth))
		return false;
	if (!port->hold.held) {
		to_hold_begin(&port->hold, s->hold_ns, now_ns);
		s->n_held++;
	}
	port->bandwidth = bandwidth;
	return true;
}

uint64_t to_slow_bandwidth(const struct to_slow *s, const struct to_cluster *c,
			   struct to_port_ref at)
{
	const struct to_slow_port *port = slow_port(s, at);

	return port->hold.held ? port->bandwidth : slow_planned(c, at);
}
