/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PATHS_H
#define TOPOOPT_PATHS_H

/* k shortest paths between two servers. */

#include "data/graph.h"

/**
 * struct to_path - one path
 * @n: hops
 * @arcs: arcs from the source to the destination
 */
struct to_path {
	unsigned int n;
	uint32_t *arcs;
};

/**
 * to_paths_find() - the @k shortest loop-free paths by hops
 * @src, @dst: different servers
 * @paths: up to @k paths, shortest first, to be freed with to_paths_free()
 *
 * J. Y. Yen, "Finding the k shortest loopless paths in a network", Management
 * Science 17(11), 1971.
 *
 * Return: how many there are, or -ENOMEM.
 */
int to_paths_find(const struct to_graph *graph, uint32_t src, uint32_t dst,
		  unsigned int k, struct to_path *paths);
void to_paths_free(struct to_path *paths, unsigned int n);

#endif
