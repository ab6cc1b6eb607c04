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

#include "graph/packing.h"

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
