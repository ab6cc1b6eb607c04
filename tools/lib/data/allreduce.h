/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ALLREDUCE_H
#define TOPOOPT_ALLREDUCE_H

/* What AllReduce rings and trees put on links. */

#include "data/graph.h"
#include "data/plan.h"

/**
 * struct to_rings - rings and trees, and what they reduce
 * @layout: with the links that they may own; borrowed
 */
struct to_rings {
	struct to_layout layout;
	const struct to_demand *demand;
};

/** to_allreduce_of() - rings and trees of @plan */
struct to_rings to_allreduce_of(const struct to_plan *plan);

/**
 * to_allreduce_tree_check() - is @tree one tree over the members of its group?
 *
 * Return: 0, or with @err set -EINVAL for a wrong number of members or roots,
 * -ENOENT for a parent outside the group, -ELOOP for a cycle, or -ENOMEM.
 */
int to_allreduce_tree_check(const struct to_allreduce_tree *tree,
			    const struct to_demand *demand, struct to_error *err);

/**
 * to_allreduce_shares_check() - do the trees of @group share all of its buffer?
 *
 * Return: 0, also where it has none, or -EINVAL with @err set.
 */
int to_allreduce_shares_check(const struct to_rings *rings, unsigned int group,
			      struct to_error *err);

/** to_allreduce_ring_linked() - does ring @index own links? */
bool to_allreduce_ring_linked(const struct to_rings *rings, unsigned int index);

/** to_allreduce_tree_linked() - does tree @index own links? */
bool to_allreduce_tree_linked(const struct to_rings *rings, unsigned int index);

/**
 * to_allreduce_tree_routed() - hops of @tree, which owns no links, that no link joins
 * @graph: of the links
 *
 * Return: how many; these are routed.
 */
unsigned int to_allreduce_tree_routed(const struct to_rings *rings, const struct to_graph *graph,
				      const struct to_allreduce_tree *tree);

/**
 * to_allreduce_hop_bytes() - bytes of @ring per hop and direction
 *
 * 2(n - 1)/n times the buffer, shared by all rings of the group, where a
 * reversible ring counts as two.
 */
double to_allreduce_hop_bytes(const struct to_rings *rings, const struct to_ring *ring);

/**
 * to_allreduce_tree_bytes() - bytes of @tree per hop and direction
 *
 * Its share of the buffer, which goes up once and down once (Sanders, Speck and
 * Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan",
 * Parallel Computing 35(12), 2009).
 */
double to_allreduce_tree_bytes(const struct to_rings *rings,
			       const struct to_allreduce_tree *tree);

/**
 * to_allreduce_link_bytes() - what rings and trees put on links without routes
 * @graph: of the links
 * @bytes: gets bytes per arc: of the ring or tree that owns it, and of the hops of trees
 *	without links of their own between its servers, which all arcs there share alike
 */
void to_allreduce_link_bytes(const struct to_rings *rings, const struct to_graph *graph,
			     double *bytes);

/**
 * to_allreduce_add() - what members send each other
 * @times: AllReduces, need not be whole
 * @bytes: n x n, row = source; added to
 */
void to_allreduce_add(const struct to_rings *rings, double times, uint64_t *bytes);

/** to_allreduce_is_routed() - would to_allreduce_routed() have any hops? */
bool to_allreduce_is_routed(const struct to_rings *rings, const struct to_graph *graph);

/**
 * to_allreduce_routed() - hops of rings and trees that to_allreduce_link_bytes() does not have
 * @graph: of the links; NULL as if there were only those that rings and trees own
 *
 * Return: bytes, n x n, row = source, to be freed; NULL when out of memory.
 */
double *to_allreduce_routed(const struct to_rings *rings, const struct to_graph *graph);

/**
 * to_allreduce_and_mp_routed() - the same and MP transfers: all that is routed, as a demand
 *
 * Return: whole bytes, those of a pair's hops rounded up once; as above.
 */
uint64_t *to_allreduce_and_mp_routed(const struct to_rings *rings, const struct to_graph *graph);

/**
 * to_allreduce_and_mp() - what a job sends under a plan
 * @plan: with the demand
 * @iterations: training iterations, need not be whole
 * @bytes: n x n, row = source; overwritten with payload bytes
 *
 * MP transfers go from source to destination; AllReduce goes from each member
 * of a group to its neighbours on the group's rings or trees, see
 * to_allreduce_hop_bytes() and to_allreduce_tree_bytes().
 */
void to_allreduce_and_mp(const struct to_plan *plan, double iterations,
		       uint64_t *bytes);

/**
 * to_allreduce_take() - separate AllReduce from MP transfers in measured bytes
 * @rings: of its demand, only the members of groups are used
 * @bytes: n x n, row = source; AllReduce is taken out
 * @buffers: per group, bytes that it reduced: as much as the bytes on every hop
 *	of its rings and trees allow; one group after the other
 *
 * Return: 0 or -ENOMEM.
 */
int to_allreduce_take(const struct to_rings *rings, uint64_t *bytes, uint64_t *buffers);

#endif
