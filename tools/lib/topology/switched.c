// SPDX-License-Identifier: GPL-2.0-or-later
#include "topology/switched.h"

#include <errno.h>
#include <stdlib.h>

#define SWITCHED_BITS 16	/* of a server's number in addresses */

/* @n switches of @ports ports in the place of optical ones. */
static int switched_switches(struct to_cluster *c, unsigned int n, unsigned int ports,
			     struct to_error *err)
{
	const unsigned int reach = c->servers[0].n_ports * (ports - 1);

	if (reach > TO_NEIGHBOURS_MAX)
		return to_error_set(err, -ERANGE,
				    "%u ports on switches of %u: a server reaches %u ports at one hop, it may reach %u",
				    c->servers[0].n_ports, ports, reach, TO_NEIGHBOURS_MAX);
	c->packet_switches = calloc(n, sizeof(*c->packet_switches));
	if (!c->packet_switches)
		return to_error_set(err, -ENOMEM, "out of memory");
	c->n_packet_switches = n;
	for (unsigned int i = 0; i < n; i++)
		c->packet_switches[i].n_ports = ports;
	for (uint32_t x = 0; x < c->n_servers; x++)
		for (unsigned int q = 0; q < c->servers[x].n_ports; q++)
			c->servers[x].ports[q].optical_switch = -1;
	free(c->switches);
	c->switches = NULL;
	c->n_switches = 0;
	return 0;
}

/* The digits of @server in @bits bits each, less 1; 0 when they do not fit. */
static unsigned int switched_number(const struct to_bcube *bcube, uint32_t server,
				    unsigned int bits)
{
	unsigned int number = 0;

	if (!bits || bcube->n >= 1u << bits)
		return 0;
	for (unsigned int l = bcube->k; l--;)
		number = number << bits | (to_bcube_digit(bcube, server, l) + 1);
	return number;
}

static void switched_address(struct to_server *server, unsigned int number)
{
	if (!number)
		return;
	to_cluster_default_address(&server->address, 0, number);
	for (unsigned int q = 0; q < server->n_ports; q++)
		to_cluster_default_address(&server->ports[q].address, q + 1, number);
}

int to_switched_bcube(struct to_cluster *c, const struct to_bcube *bcube, struct to_error *err)
{
	const unsigned int per_level = bcube->servers / bcube->n;
	int ret = switched_switches(c, bcube->k * per_level, bcube->n, err);

	if (ret)
		return ret;
	for (unsigned int i = 0; i < c->n_packet_switches; i++)
		snprintf(c->packet_switches[i].name, TO_NAME_MAX, "sw%u.%u", i / per_level,
			 i % per_level);
	for (uint32_t x = 0; x < c->n_servers; x++) {
		for (unsigned int l = 0; l < bcube->k; l++) {
			/* what is left of the number without digit l */
			unsigned int weight = bcube->weight[l];
			unsigned int at = x / weight / bcube->n * weight + x % weight;

			c->servers[x].ports[l].packet_switch = 1 + l * per_level + at;
		}
		switched_address(&c->servers[x],
				 switched_number(bcube, x, SWITCHED_BITS / bcube->k));
	}
	return 0;
}

int to_switched_rails(struct to_cluster *c, struct to_error *err)
{
	const unsigned int rails = c->servers[0].n_ports;
	int ret = switched_switches(c, rails, c->n_servers, err);

	for (unsigned int l = 0; !ret && l < rails; l++) {
		snprintf(c->packet_switches[l].name, TO_NAME_MAX, "rail%u", l);
		for (uint32_t x = 0; x < c->n_servers; x++)
			c->servers[x].ports[l].packet_switch = 1 + l;
	}
	return ret;
}
