/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_MOORE_H
#define TOPOOPT_MOORE_H

/*
 * Undirected graphs whose distances are at the Moore bound, or near it, by their
 * definitions: for some numbers of vertices and neighbours, nothing is shorter.
 */

#include <stdbool.h>

#include "data/graph.h"

#define TO_MOORE_VERTICES 512	/* at most */

/**
 * to_moore_graph() - the one with the shortest mean distance
 * @n: vertices
 * @degree: neighbours of each; a few have one less in polarity graphs
 *
 * Of the complete multipartite graphs (K_n and K_d,d are such); Kneser graphs
 * (K(5,2) is Petersen's); folded cubes (of 16 vertices, Clebsch's); the incidence
 * graphs of projective planes (of 14, Heawood's; all are (d, 6)-cages) and
 * their polarity graphs (Erdős and Rényi 1962, Brown 1966); those of McKay, Miller and
 * Širáň (1998; of 50, Hoffman and Singleton's); the products C5 * F4 and K3 * X8
 * (Bermond, Delorme and Farhi, "Large graphs with given degree and diameter III",
 * 1982); and circulant graphs, which are searched for the best jumps while these are few.
 *
 * Return: n x n flags, symmetric, to be freed; NULL when there is none, or when out
 * of memory.
 */
bool *to_moore_graph(unsigned int n, unsigned int degree);

/**
 * to_moore_is() - are all links of to_moore_graph() in @graph?
 *
 * Of any degree from 3 that takes half of the ports or more: others may be used for
 * MP transfers. Return: whether; no when out of memory.
 */
bool to_moore_is(const struct to_graph *graph);

#endif
