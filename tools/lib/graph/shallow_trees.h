/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SHALLOW_TREES_H
#define TOPOOPT_SHALLOW_TREES_H

/* Trees of shortest paths: what a small buffer wants, for which each hop is a wait. */

#include "graph/tree_packing.h"

/**
 * to_shallow_trees() - trees of all groups whose paths to the root are shortest
 * @packing: as of to_tree_packing(); to_packing_group.n_trees is how many each group gets,
 *	with equal shares; @bound is left alone
 *
 * The roots are those members that are nearest to their furthest. Of the edges that lead
 * nearer to a root, the tree takes the one least busy with the trees before it.
 *
 * Return: 0, -ENOMEM, or -ENOTCONN when the edges do not join all members of a group.
 */
int to_shallow_trees(struct to_packing *packing);

#endif
