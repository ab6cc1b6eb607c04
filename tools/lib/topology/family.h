/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_FAMILY_H
#define TOPOOPT_FAMILY_H

/* Families of topologies, which compete for every job. */

#include "data/plan.h"
#include "topology/builder.h"

/**
 * struct to_family - one way to lay the AllReduce of a job
 * @name: as plans call it
 * @build: lay the rings of all groups and their links, or other links that
 *	AllReduce runs on, on a builder with nothing built yet. It may take
 *	to_builder.reserved ports of each server; all others are matched to MP
 *	transfers later. @backbone is how many rings over all servers to lay
 *	first, see to_builder_lay_all(). Returns 0, -ENOMEM, or -ENOSPC when
 *	the family has nothing for this split of the ports.
 * @searches: more of to_builder.knobs.effort makes better ones
 * @asked: competes only when it is the one asked for
 */
struct to_family {
	const char *name;
	bool searches, asked;
	int (*build)(struct to_builder *b, unsigned int backbone);
};

/* All families, NULL at the end; of equally fast topologies the first one's wins. */
extern const struct to_family *const to_families[];

/** to_family_find() - the family called @name; NULL with @err set */
const struct to_family *to_family_find(const char *name, struct to_error *err);

/* Regular rings i -> i + p (TotientPerms). */
extern const struct to_family to_family_totient;

/* The same as the paper would choose them, so that no plan falls behind that. */
extern const struct to_family to_family_totient_evenly;

/*
 * Regular rings that all have the same order, on parallel links: a client that knows one
 * order of ranks, as NCCL does, uses all of their ports.
 */
extern const struct to_family to_family_one_order;

/* Any Hamiltonian cycles, found by local search: see hamilton.h. */
extern const struct to_family to_family_hamiltonian;

/* Pairs of double binary trees, four ports each. */
extern const struct to_family to_family_double_tree;

/* Generalised Kautz graphs, AllReduce on rings of their arcs. */
extern const struct to_family to_family_kautz;

/* Graphs at or near the Moore bound, by their definitions: see moore.h. */
extern const struct to_family to_family_moore;

/* Generalised hypercubes, AllReduce by recursive halving: see recursive_halving.h. */
extern const struct to_family to_family_recursive_halving;

/**
 * to_family_name() - the family of @plan, from its links, rings and trees
 * @graph: of its links
 *
 * "kautz" where the links are nearly all of a generalised Kautz graph, "moore" where
 * all links of such a graph are there and none is a ring's, "double-binary-tree" or
 * "tree" where a tree owns links, "recursive-halving" where all groups are reduced by it,
 * "packed-trees" where other trees share all links,
 * "one-order" where all rings of each group have one order though there are others,
 * "totient" where all rings are regular, "hamiltonian" where one is not, "matching"
 * without rings.
 *
 * Return: the name, NULL when out of memory.
 */
const char *to_family_name(const struct to_plan *plan, const struct to_graph *graph);

#endif
