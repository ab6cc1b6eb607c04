/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_TREE_SHARES_H
#define TOPOOPT_TREE_SHARES_H

/* Packed trees of any shares, for graphs of few edges. */

#include "graph/packing.h"

/**
 * to_tree_shares() - Choose the trees and shares of all groups, shares being free
 * @packing: no more trees of a group than it has edges are made
 *
 * Exact for groups of all vertices.
 *
 * Return: 0, -ENOMEM, or -ENOTCONN when the edges do not join all members of a group.
 */
int to_tree_shares(struct to_packing *packing);

#endif
