// SPDX-License-Identifier: GPL-2.0-or-later
#include "routing/queue_pairs.h"

/* The @at-th arc of @from to a server other than @dst that is @least hops away. */
static uint32_t queue_pairs_nearest(const struct to_graph *g, struct to_port_ref from,
				    uint32_t dst, const uint16_t *distance, uint16_t least,
				    unsigned int at)
{
	uint32_t a;

	for (a = g->out[from.server];; a++)
		if (g->port[a] == from.port && g->to[a] != dst && distance[g->to[a]] == least &&
		    !at--)
			return a;
}

uint32_t to_queue_pair_arc(const struct to_graph *g, struct to_port_ref from, uint32_t dst,
			   unsigned int port, const uint16_t *distance)
{
	uint32_t end = g->out[from.server + 1], only = UINT32_MAX, wrong = UINT32_MAX, a;
	unsigned int arcs = 0, ties = 0;
	uint16_t least = TO_DISTANCE_NONE;

	for (a = g->out[from.server]; a < end; a++) {
		if (g->port[a] != from.port)
			continue;
		arcs++;
		only = a;
	}
	if (arcs < 2)
		return only;
	for (a = g->out[from.server]; a < end; a++) {
		uint32_t y = g->to[a];

		if (g->port[a] != from.port)
			continue;
		if (y == dst && g->peer_port[a] == port)
			return a;
		if (y == dst) {
			wrong = a;
			continue;
		}
		if (distance[y] < least) {
			least = distance[y];
			ties = 0;
		}
		ties += distance[y] == least && least != TO_DISTANCE_NONE;
	}
	return ties ? queue_pairs_nearest(g, from, dst, distance, least, dst % ties) : wrong;
}
