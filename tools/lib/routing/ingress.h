/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_INGRESS_H
#define TOPOOPT_INGRESS_H

/*
 * The ports that bytes for a server enter it through. RDMA is bound to one of
 * them by its destination address: routes to the addresses of ports divide what
 * the routes to the node address leave to chance.
 */

#include "routing/wcmp.h"

/**
 * struct to_ingress - the flow to one destination, divided by the port it enters
 * @row: of the destination in @wcmp
 * @n_in: ports that arcs enter it by
 * @port: these, in the order of graph.in_arc
 * @share: n x n_in, row = server: of the bytes it forwards, the part that will
 *	enter through each of these ports; zero where it forwards none
 * @bytes: per server, that it forwards
 * @weight: per arc, weight of the next hop for the part that to_ingress_take()
 *	took, 0 where nothing is sent
 */
struct to_ingress {
	const struct to_wcmp *wcmp;
	unsigned int row, n_in, port[TO_PORTS_MAX];
	double *share, *bytes;
	uint8_t *weight;
};

/**
 * to_ingress_ports() - the ports that arcs enter @x by, in the order of graph.in_arc
 * @port: TO_PORTS_MAX numbers
 *
 * Return: how many.
 */
unsigned int to_ingress_ports(const struct to_graph *graph, uint32_t x, unsigned int *port);

/** to_ingress_init() - room for any destination of @wcmp. Return: 0 or -ENOMEM. */
int to_ingress_init(struct to_ingress *ingress, const struct to_wcmp *wcmp);
void to_ingress_free(struct to_ingress *ingress);

/** to_ingress_resolve() - divide the flow to the destination of @row by ingress port */
void to_ingress_resolve(struct to_ingress *ingress, unsigned int row);

/**
 * to_ingress_take() - weights for the part that enters through port number @k
 *
 * A next hop weighs as much as for the whole, times the part of its own bytes
 * that enters there, so that all parts together load the links as the whole
 * does (Doob's transform of a random walk on its way to one of several ends). Servers
 * with an arc into the port get no weights: that is their path.
 */
void to_ingress_take(struct to_ingress *ingress, unsigned int k);

/**
 * to_ingress_divide() - shares of the bytes from server @x
 * @parts: n_in numbers that add up to @whole
 */
void to_ingress_divide(const struct to_ingress *ingress, uint32_t x, unsigned int whole,
		       unsigned int *parts);

#endif
