/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_LAYOUT_H
#define TOPOOPT_LAYOUT_H

/* The links of a fabric, and the rings and trees that carry AllReduce over them. */

#include <stdbool.h>
#include <stdint.h>

#include "data/cluster.h"

/**
 * struct to_ring - one ring that carries AllReduce
 * @group: index into demand.groups
 * @jump: p of the permutation i -> (i + p) mod n over the group's members, 0
 *	where the ring follows none
 * @order: the members (server indices) in ring order, n_members of the group
 * @reverse: duplex links also carry the ring backwards (-p)
 */
struct to_ring {
	unsigned int group;
	unsigned int jump;
	unsigned int n;
	uint32_t *order;
	bool reverse;
};

/**
 * struct to_allreduce_tree - one tree that carries a share of an AllReduce
 *
 * It reduces its share towards the root and broadcasts the sum back. A group has
 * rings or trees, not both.
 *
 * @group: index into demand.groups
 * @n: members of the group
 * @share: of the group's buffer, above 0; those of the group's trees add up to 1
 * @parents: per member, in the order of the group: server to which it sends
 *	what it has reduced, TO_SERVER_NONE at the root
 */
struct to_allreduce_tree {
	unsigned int group, n;
	double share;
	uint32_t *parents;
};

/**
 * struct to_layout - links, rings and trees
 *
 * A ring or tree that owns links owns one for each of its hops. A ring that owns none
 * is routed hop by hop, like MP transfers. Of a tree that owns none, a hop takes all links
 * between its two servers alike, whatever else these carry, and is routed where there
 * are none.
 */
struct to_layout {
	unsigned int n_links, n_rings, n_trees;
	struct to_link *links;
	struct to_ring *rings;
	struct to_allreduce_tree *trees;
};

/** to_layout_free() - free links, rings and trees; @layout is empty then */
void to_layout_free(struct to_layout *layout);

/**
 * to_layout_copy() - a deep copy of @from
 * @to: gets it, to be freed; what it held before is not
 *
 * Return: 0, or -ENOMEM with @to empty.
 */
int to_layout_copy(struct to_layout *to, const struct to_layout *from);

/** to_layout_take() - what @layout holds, for a new owner; @layout is empty then */
struct to_layout to_layout_take(struct to_layout *layout);

#endif
