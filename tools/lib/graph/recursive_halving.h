/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_RECURSIVE_HALVING_H
#define TOPOOPT_RECURSIVE_HALVING_H

/*
 * AllReduce by recursive halving and doubling (R. Thakur, R. Rabenseifner and W. Gropp,
 * "Optimization of collective communication operations in MPICH", 2005) on a hypercube or
 * generalised hypercube, on all levels at once: the buffer has a part for each level, that
 * begins on this one. All links carry the same in each of the 2k steps.
 *
 * In a layout it is a tree for each piece of the buffer, from the digits of all members to
 * those of the piece's owner, one digit a hop: k n trees of equal shares, tree t n + q that of
 * owner q in the part which begins on level t. See to_steps_bml() for what is sent.
 */

#include "data/allreduce.h"
#include "graph/bcube.h"

/**
 * to_recursive_halving_find() - the generalised hypercube of @n members that takes most of
 *	@ports ports of each
 * @cube: gets it: member i has the digits of i
 *
 * Return: is there one?
 */
bool to_recursive_halving_find(unsigned int n, unsigned int ports, struct to_bcube *cube);

/**
 * to_recursive_halving_linked() - is there a link each way for each hop on @cube?
 * @members: cube->servers servers
 */
bool to_recursive_halving_linked(const struct to_bcube *cube, const uint32_t *members,
				 const struct to_graph *graph);

/**
 * to_recursive_halving_trees() - give group @group of @layout its trees
 * @members: of the group, cube->servers
 *
 * Return: 0 or -ENOMEM.
 */
int to_recursive_halving_trees(const struct to_bcube *cube, const uint32_t *members,
			       unsigned int group, struct to_layout *layout);

/**
 * to_recursive_halving_is() - are the trees of @group these, in this order?
 * @cube: gets the hypercube
 */
bool to_recursive_halving_is(const struct to_rings *rings, unsigned int group,
			     struct to_bcube *cube);

#endif
