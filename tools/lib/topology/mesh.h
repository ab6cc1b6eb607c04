/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_MESH_H
#define TOPOOPT_MESH_H

#include "data/cluster.h"
#include "graph/bcube.h"

/** to_mesh_ports() - ports that a server needs: k(n - 1) */
unsigned int to_mesh_ports(const struct to_bcube *bcube);

/**
 * to_mesh_cable() - cable servers like BCube, with a full mesh in the place of each switch
 * @cluster: to_bcube.servers servers with to_mesh_ports() ports or more, on no links; its
 *	optical switches are taken away
 *
 * Servers that differ in one digit only have a duplex link. Ports are used in the order of
 * levels, and of digits in a level. Also known as a generalised hypercube (Bhuyan and
 * Agrawal, "Generalized hypercube and hyperbus structures for a computer network", 1984).
 *
 * Return: 0 or -ENOMEM.
 */
int to_mesh_cable(struct to_cluster *cluster, const struct to_bcube *bcube);

#endif
