/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_DOUBLE_TREE_H
#define TOPOOPT_DOUBLE_TREE_H

/*
 * Two binary trees over the same servers, each server inside one of them at
 * most: Sanders, Speck and Träff, "Two-tree algorithms for full bandwidth
 * broadcast, reduction and scan", Parallel Computing 35(12), 2009.
 */

#include <stdbool.h>

#include "data/plan.h"

/**
 * to_double_tree() - parent of every position in one of the two trees
 * @n: positions, 1 or more
 * @second: which tree
 * @parent: n positions, TO_SERVER_NONE at the root
 *
 * A position has up to two children in one tree and none in the other, so up
 * to four links; the path to a root is at most log2 n hops, rounded up.
 */
void to_double_tree(unsigned int n, bool second, uint32_t *parent);

/**
 * to_double_tree_is() - are trees @first and @second of one group such a pair?
 * @plan: its trees have been checked
 *
 * At most two children each, and no server with children in both. Return: 1, 0
 * or -ENOMEM.
 */
int to_double_tree_is(const struct to_plan *plan, const struct to_allreduce_tree *first,
		      const struct to_allreduce_tree *second);

#endif
