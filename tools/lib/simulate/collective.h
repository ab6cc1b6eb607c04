/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_COLLECTIVE_H
#define TOPOOPT_COLLECTIVE_H

/* Who sends what to whom in an AllReduce, in phases. */

#include "data/taskgraph.h"

/** Bytes of the buffer that to_collective_phase() counts for: shares of it are whole bytes. */
#define TO_COLLECTIVE_BUFFER (1ull << 40)

/**
 * enum to_algorithm - of AllReduce between n servers
 * @TO_ALGORITHM_RING: in the order of the servers, in 2(n - 1) steps that load the same
 *	links and are one phase
 * @TO_ALGORITHM_RING_BOTH_WAYS: half of the buffer each way round, for duplex links
 *	between neighbours, of which one ring uses one direction
 * @TO_ALGORITHM_DOUBLE_TREE: half of the buffer up and down each of two binary trees
 *	(Sanders, Speck and Träff, see graph/double_tree.h), pipelined: one phase of
 *	twice as many steps as the deeper is deep
 * @TO_ALGORITHM_HALVING_DOUBLING: recursive halving, then doubling, a phase for each step
 *	of to_allreduce_steps_halving()
 */
enum to_algorithm {
	TO_ALGORITHM_RING, TO_ALGORITHM_RING_BOTH_WAYS, TO_ALGORITHM_DOUBLE_TREE,
	TO_ALGORITHM_HALVING_DOUBLING
};

/** Names of enum to_algorithm, NULL-terminated. */
extern const char *const to_algorithm_names[];

/** to_collective_phases() - of AllReduce between @n servers, 2 or more */
unsigned int to_collective_phases(enum to_algorithm algorithm, uint32_t n);

/**
 * to_collective_phase() - transfers of @phase for TO_COLLECTIVE_BUFFER bytes
 * @transfers: 4 @n of them, filled in
 * @steps: gets the steps that follow each other in the phase
 *
 * Return: how many transfers, or -ENOMEM.
 */
int to_collective_phase(enum to_algorithm algorithm, const uint32_t *members, uint32_t n,
			unsigned int phase, struct to_transfer *transfers, unsigned int *steps);

#endif
