/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_TREE_PACKING_H
#define TOPOOPT_TREE_PACKING_H

/*
 * Spanning trees that share the capacity of a graph.
 *
 * An AllReduce over a tree sends its share of the buffer up and the sum down, so
 * each edge of the tree carries it once in each direction. Over a packing of trees the
 * buffer passes as fast as the graph's partitions let it: the least, over all
 * partitions of the vertices, of the capacity between the parts over their number
 * less one (Tutte 1961, Nash-Williams 1961); a graph of N vertices, d edges each,
 * none of whose cuts has fewer than d edges, gives N d / 2 (N - 1).
 */

#include <stdint.h>

/**
 * struct to_packing_edge - an edge, the same in both directions
 * @seconds_per_byte: that each byte keeps it busy
 * @busy: seconds that it is busy already
 * @trees: gets the seconds that trees keep it busy
 */
struct to_packing_edge {
	uint32_t a, b;
	double seconds_per_byte, busy, trees;
};

/**
 * struct to_packing_group - vertices that trees join
 * @members: some or all vertices, two at least; each is there once
 * @bytes: that its trees carry
 * @n_trees: at most; gets how many there are. Where all groups may have more than there
 *	are edges, shares are free; else they are equal, see to_tree_packing_count().
 * @shares: gets that of @bytes that each tree carries; they add up to 1
 * @parents: gets n_trees x n_members, row = a tree: per member the next member
 *	towards the root, itself at the root, all as indices into @members. A
 *	hop takes the edge between its members, or goes along other vertices where
 *	there is none.
 */
struct to_packing_group {
	unsigned int n_members, n_trees;
	const uint32_t *members;
	double bytes, *shares;
	uint32_t *parents;
};

/**
 * struct to_packing - what trees are to be packed into, and how well they are
 * @passes: over all trees, at most
 * @busiest: gets the seconds that the busiest edge is busy with all trees
 * @bound: gets a lower bound of that over all packings, by linear programming
 *	duality: no trees can have it less
 */
struct to_packing {
	unsigned int n, n_edges, n_groups, passes;
	struct to_packing_edge *edges;
	struct to_packing_group *groups;
	uint64_t seed;
	double busiest, bound;
};

/**
 * to_tree_packing_count() - a number of equal trees that uses links evenly
 * @n_members, @n_links: of a graph whose links are all alike
 * @most: trees, at most
 *
 * Of K trees ceil(K (n_members - 1) / n_links) share the busiest link: the least K that
 * wastes less than one in a hundred of it, or that wastes least.
 */
unsigned int to_tree_packing_count(unsigned int n_members, unsigned int n_links,
				   unsigned int most);

/**
 * to_tree_packing() - choose the trees of all groups so that the busiest edge is
 *	little busy
 *
 * Free shares are the optimum of a linear program whose columns are minimum spanning trees
 * at the prices that its basis has, see simplex.h. Equal ones are minimum spanning trees
 * at prices that grow with the loads of the edges (N. Garg and J. Könemann, "Faster and
 * simpler algorithms for multicommodity flow", 1998), chosen again one by one as prices
 * steepen; edges that are busier than need be then leave trees of all vertices along
 * shortest augmenting paths of exchanges, as for matroid union (J. Edmonds, "Matroid
 * partition", 1968). Groups that are not all vertices get trees over the distances between
 * their members, see to_span_tree().
 *
 * Roots are centres of their trees. Same input, same trees.
 *
 * Return: 0, -ENOMEM, or -ENOTCONN when the edges do not join all members of a group.
 */
int to_tree_packing(struct to_packing *packing);

#endif
