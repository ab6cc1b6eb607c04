/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PACKING_H
#define TOPOOPT_PACKING_H

/* Edges, the groups of vertices that trees are to join, and the trees. */

#include <stdint.h>

/** struct to_packing_edge - an edge, equal in both directions */
struct to_packing_edge {
	uint32_t a, b;
	double seconds_per_byte;	/* that each byte keeps it busy */
	double busy;			/* seconds that it is busy without trees */
	double trees;			/* gets the seconds that trees keep it busy */
};

/** struct to_packing_group - vertices that trees join */
struct to_packing_group {
	unsigned int n_members;		/* 2 or more */
	/*
	 * At most so many trees; gets how many there are. Where all groups may have more trees
	 * than there are edges, shares are free; else all are equal, see
	 * to_tree_packing_count().
	 */
	unsigned int n_trees;
	const uint32_t *members;	/* some or all vertices, each once */
	double bytes;			/* that its trees carry */
	double *shares;			/* gets the part of @bytes that each tree carries; sum 1 */
	/*
	 * Gets n_trees x n_members, row = a tree: per member the next member towards the root,
	 * itself at the root, as indices into @members. A hop takes the edge between its
	 * members, or goes along other vertices where there is none.
	 */
	uint32_t *parents;
};

/** struct to_packing - what trees are to be packed into, and how well they are */
struct to_packing {
	unsigned int n, n_edges, n_groups;
	unsigned int passes;		/* over all trees, at most */
	struct to_packing_edge *edges;
	struct to_packing_group *groups;
	uint64_t seed;
	double busiest;			/* gets the seconds that the busiest edge is busy */
	/*
	 * Gets a lower bound of @busiest over all packings, by linear programming duality.
	 */
	double bound;
};

#endif
