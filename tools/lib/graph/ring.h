/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_RING_H
#define TOPOOPT_RING_H

/* Rings that are not regular, and rings on links that are there already. */

#include <stdbool.h>
#include <stdint.h>

#include "data/graph.h"

/**
 * to_ring_search() - a ring over the direct links between the members
 * @usable: per link, whether the ring may take it
 * @members: servers of the group
 * @n: how many, 2 or more
 * @order: n servers in ring order
 * @links: n links: links[i] joins order[i] and order[i + 1]; a duplex pair has
 *	both entries on one link
 * @jump: p of a regular ring i -> i + p over @members, 0 for another order
 *
 * Regular rings first, then a depth-first search for any Hamiltonian cycle
 * that gives up after some 10^5 steps.
 *
 * Return: 1 when there is one, 0 when none was found, or -ENOMEM.
 */
int to_ring_search(const struct to_graph *graph, const bool *usable,
		   const uint32_t *members, unsigned int n, uint32_t *order,
		   uint32_t *links, unsigned int *jump);

/**
 * to_ring_fresh() - a ring over links that are not there yet
 * @members: servers of the group
 * @n: how many, 2 or more
 * @seed: of the search
 * @order: n servers in ring order
 *
 * For groups with fewer regular rings than ports: the same ring twice is no
 * faster, and its links shorten no path. Where every ring repeats a link, one
 * that repeats few.
 *
 * Return: 0 or -ENOMEM.
 */
int to_ring_fresh(const struct to_graph *graph, const uint32_t *members,
		  unsigned int n, uint64_t seed, uint32_t *order);

/**
 * to_ring_nearest() - ring order of few hops where members are not linked
 *
 * Each member is followed by the nearest that is left.
 *
 * Return: 0 or -ENOMEM.
 */
int to_ring_nearest(const struct to_graph *graph, const uint32_t *members,
		    unsigned int n, uint32_t *order);

#endif
