// SPDX-License-Identifier: GPL-2.0-or-later
#include "topology/mesh.h"

#include <errno.h>
#include <stdlib.h>

unsigned int to_mesh_ports(const struct to_bcube *bcube)
{
	return bcube->k * (bcube->n - 1);
}

/* The port of @server to the neighbour on @level that has @digit there. */
static unsigned int mesh_port(const struct to_bcube *bcube, uint32_t server, unsigned int level,
			      unsigned int digit)
{
	return level * (bcube->n - 1) + digit - (digit > to_bcube_digit(bcube, server, level));
}

int to_mesh_cable(struct to_cluster *cluster, const struct to_bcube *bcube)
{
	size_t n = (size_t)bcube->servers * to_mesh_ports(bcube) / 2;

	cluster->links = calloc(n, sizeof(*cluster->links));
	if (!cluster->links)
		return -ENOMEM;
	for (uint32_t a = 0; a < bcube->servers; a++) {
		for (unsigned int q = 0; q < cluster->servers[a].n_ports; q++)
			cluster->servers[a].ports[q].optical_switch = -1;
		for (unsigned int l = 0; l < bcube->k; l++) {
			unsigned int own = to_bcube_digit(bcube, a, l);

			for (unsigned int digit = own + 1; digit < bcube->n; digit++) {
				uint32_t b = to_bcube_neighbour(bcube, a, l, digit);

				cluster->links[cluster->n_links++] = (struct to_link){
					.a = { a, mesh_port(bcube, a, l, digit) },
					.b = { b, mesh_port(bcube, b, l, own) },
					.use = TO_LINK_FIXED, .ring = -1, .tree = -1 };
			}
		}
	}
	free(cluster->switches);
	cluster->switches = NULL;
	cluster->n_switches = 0;
	return 0;
}
