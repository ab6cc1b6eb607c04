/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_TREE_SPAN_H
#define TOPOOPT_TREE_SPAN_H

/* Minimum spanning trees, also of groups that are not all vertices. */

#include "base/arena.h"
#include "graph/packing.h"

/**
 * struct to_tree - over @n_hops + 1 members
 * @hops: pairs of members, as indices; the caller's, of room for all of its group
 * @uses: edges that its hops take, once for each hop that takes them; to be freed
 */
struct to_tree {
	unsigned int n_hops, n_uses, room;
	uint32_t *hops, *uses;
};

/**
 * struct to_span - a graph with prices
 * @in: its edges
 * @price: of each of them, the caller's to set
 * @near, @via, @far: per vertex the nearest member, the edge towards it, and the
 *	price of the way there
 * @out, @out_edge: edges at each vertex: out[x] .. out[x + 1] - 1
 */
struct to_span {
	const struct to_packing *in;
	double *price, *far;
	uint32_t *near, *via, *out, *out_edge, *part, *heap, *heap_place;
	struct to_span_key { double price; uint32_t edge; } *keys;
};

/** to_span_init() - with arrays of @arena. Return: 0 or -ENOMEM. */
int to_span_init(struct to_span *s, const struct to_packing *in, struct to_arena *arena);

/**
 * to_span_tree() - the minimum spanning tree of @group at the present prices
 * @tree: gets it; NULL for its price alone
 * @price: gets its price
 *
 * Of a group that is not all vertices it is that over the distances of its members
 * (K. Mehlhorn, "A faster approximation algorithm for the Steiner problem in graphs", 1988);
 * @tree takes no detour between members that an edge joins.
 *
 * Return: 0, -ENOMEM, or -ENOTCONN.
 */
int to_span_tree(struct to_span *s, const struct to_packing_group *group, struct to_tree *tree,
		 double *price);

/**
 * to_span_linked_tree() - the same, exact where members have edges between them
 *
 * A hop between members that an edge joins costs what the edge does, though a path along
 * others were cheaper: that is no metric, and takes the distances from each member (R. Prim,
 * "Shortest connection networks and some generalizations", 1957).
 *
 * Return: as to_span_tree().
 */
int to_span_linked_tree(struct to_span *s, const struct to_packing_group *group,
			struct to_tree *tree, double *price);

/**
 * to_span_root() - root @tree at its centre, half way along a longest path
 * @parents: gets per member the next towards the root, itself at the root
 *
 * Return: 0 or -ENOMEM.
 */
int to_span_root(const struct to_packing_group *group, const struct to_tree *tree,
		 uint32_t *parents);

#endif
