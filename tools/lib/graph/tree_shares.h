/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_TREE_SHARES_H
#define TOPOOPT_TREE_SHARES_H

/* Packed trees of any shares, for graphs of few edges. */

#include "graph/tree_packing.h"

/**
 * to_tree_shares() - to_tree_packing() with free shares
 * @packing: as there; no more trees of a group than it has edges are made
 *
 * Exact for groups of all vertices. Return: as there.
 */
int to_tree_shares(struct to_packing *packing);

#endif
