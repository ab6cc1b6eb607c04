/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_QUEUE_PAIRS_H
#define TOPOOPT_QUEUE_PAIRS_H

/* Where RoCEv2 goes first: a queue pair sends by the port that it is bound to. */

#include "data/graph.h"

/**
 * to_queue_pair_arc() - arc that RoCEv2 from a port takes
 * @from: the port
 * @dst, @port: server and port that it is for
 * @distance: to there, see to_graph_port_distances(); not looked at where @from is on a
 *	cable
 *
 * On a packet switch: the port itself if it is there, else of the other servers one that is
 * nearest to it, for each @dst another one of these. Only where there is none the server
 * @dst, which hands it to the other port, see to_forwarding_return().
 *
 * Return: the arc, UINT32_MAX when the port has none that leads there.
 */
uint32_t to_queue_pair_arc(const struct to_graph *graph, struct to_port_ref from, uint32_t dst,
			   unsigned int port, const uint16_t *distance);

#endif
