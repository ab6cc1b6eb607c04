/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ENTRY_H
#define TOPOOPT_ENTRY_H

/*
 * The ports that bytes for a server enter it through. RDMA is bound to one of
 * them by its destination address: routes to the addresses of ports divide what
 * the routes to the node address leave to chance.
 */

#include "routing/wcmp.h"

/**
 * struct to_entry - the ways to one destination, taken apart by its ports
 * @row: of the destination in @split
 * @n_in: arcs that enter it: graph.in_arc[in[root]] and so on
 * @share: n x n_in, row = server: of the bytes it forwards, the part that will
 *	enter by each of these arcs; zero where it forwards none
 * @bytes: per server, that it forwards
 * @weight: per arc, weight of the next hop for the part that to_entry_take()
 *	took, 0 where nothing is sent
 * @flow: per arc, bytes of that part
 */
struct to_entry {
	const struct to_split *split;
	unsigned int row, n_in;
	double *share, *bytes;
	uint8_t *weight;
	float *flow;
};

/** to_entry_init() - room for any destination of @split. Return: 0 or -ENOMEM. */
int to_entry_init(struct to_entry *entry, const struct to_split *split);
void to_entry_free(struct to_entry *entry);

/** to_entry_resolve() - take the ways to the destination of @row apart */
void to_entry_resolve(struct to_entry *entry, unsigned int row);

/**
 * to_entry_take() - weights for the part that enters by arc number @k
 *
 * A next hop weighs as much as for the whole, times the part of its own bytes
 * that enters there, so that all parts together load the links as the whole
 * does (Doob's transform of a random walk on its way to one of several ends).
 */
void to_entry_take(struct to_entry *entry, unsigned int k);

/**
 * to_entry_divide() - shares of the bytes from server @x
 * @parts: n_in numbers that add up to @whole
 */
void to_entry_divide(const struct to_entry *entry, uint32_t x, unsigned int whole,
		     unsigned int *parts);

#endif
