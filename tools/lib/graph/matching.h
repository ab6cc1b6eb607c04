/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_MATCHING_H
#define TOPOOPT_MATCHING_H

/*
 * Maximum-weight matching on a general graph: Edmonds' blossom algorithm in its
 * primal-dual form, one tree at a time with a heap of events (Galil, "Efficient
 * algorithms for finding maximum matching in graphs", ACM Computing Surveys
 * 18(1), 1986), on few edges to which those that are missed are added.
 */

#include <stdint.h>

#define TO_UNMATCHED UINT32_MAX
#define TO_MATCHING_WEIGHT_MAX (1ll << 60)

/** struct to_matching_edge - edge between @a and @b, a != b */
struct to_matching_edge {
	uint32_t a, b;
	int64_t weight;
};

/**
 * to_matching_solve() - set of edges without a common vertex, of most weight
 * @n: vertices
 * @edges: at most one per pair of vertices, of at most TO_MATCHING_WEIGHT_MAX;
 *	those of weight 0 or less are never used
 * @mate: n vertices: the other end, or TO_UNMATCHED
 *
 * Return: 0, -ENOMEM, or -ERANGE when a weight is too large.
 */
int to_matching_solve(unsigned int n, const struct to_matching_edge *edges,
		      unsigned int n_edges, uint32_t *mate);

#endif
