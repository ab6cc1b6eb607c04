/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_FACTOR_H
#define TOPOOPT_FACTOR_H

/*
 * A directed graph in which k arcs leave and enter every server is the sum of k
 * permutations, its factors. A factor that is one cycle is a ring.
 */

#include <stdint.h>

/**
 * struct to_factors - permutations that have every arc of a graph once
 * @next: [factor * n + server]
 */
struct to_factors {
	unsigned int n, k;
	uint32_t *next;
	uint32_t *before, *list;	/* scratch: inverse of @next; n + k */
};

/**
 * to_factors_init() - factors of a graph
 * @heads: [server * k + c]: where the arcs of a server go; every server is the
 *	head of @k arcs
 *
 * By colouring its arcs as those of a bipartite graph (König). Return: 0 or
 * -ENOMEM.
 */
int to_factors_init(struct to_factors *f, const uint32_t *heads, unsigned int n,
		    unsigned int k);
void to_factors_free(struct to_factors *f);

/**
 * to_factors_merge() - make rings of all factors
 * @steps: exchanges of arcs between factors to try, at most
 * @seed: of the choice
 *
 * Exchanges keep the parity of the number of all cycles, so what is left after
 * them is joined by arcs that the graph does not have: two for each cycle too
 * many.
 *
 * Return: how many arcs the graph does not have.
 */
unsigned int to_factors_merge(struct to_factors *f, unsigned int steps, uint64_t seed);

#endif
