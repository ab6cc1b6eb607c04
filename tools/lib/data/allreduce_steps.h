/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ALLREDUCE_STEPS_H
#define TOPOOPT_ALLREDUCE_STEPS_H

/* Who sends which part of the buffer to whom in which step of an AllReduce between n members. */

#include <stdbool.h>
#include <stdint.h>

/** struct to_allreduce_send - what one member sends another in a step */
struct to_allreduce_send {
	uint32_t from, to;	/* members, 0 to n - 1 */
	uint32_t pieces;	/* equal pieces of the buffer, 1 or more */
	uint32_t piece;		/* piece that is sent, 0 to @pieces - 1 */
	bool sum;		/* the receiver adds it to its own; else it is a sum, which it keeps */
};

/** to_allreduce_steps_ring() - Count the steps round a ring: 2(n - 1) */
unsigned int to_allreduce_steps_ring(uint32_t n);

/**
 * to_allreduce_steps_ring_send() - Return what member @from of a ring sends in @step
 * @reverse: each member sends to the one before it, else to the one after it
 *
 * Reduce-scatter, then all-gather: a member sends the piece that it received in the step
 * before, in all steps to the same neighbour.
 */
struct to_allreduce_send to_allreduce_steps_ring_send(uint32_t n, bool reverse, unsigned int step,
						      uint32_t from);

/** to_allreduce_steps_ring_share() - Return the part of the buffer that crosses a hop: 2(n - 1)/n */
double to_allreduce_steps_ring_share(uint32_t n);

/**
 * to_allreduce_steps_tree() - Count the steps up and down a tree: twice its depth
 * @vertices: the @n members; NULL for 0 to @n - 1
 * @parents: per vertex its parent, TO_SERVER_NONE at the root
 *
 * The whole buffer crosses each hop once up and once down, in pieces that follow each other.
 */
unsigned int to_allreduce_steps_tree(const uint32_t *vertices, uint32_t n,
				     const uint32_t *parents);

/**
 * to_allreduce_steps_halving() - Count the steps of recursive halving and doubling
 *
 * Distances of 1, 2, 4, ... and back: 2 log2 @n steps. Where @n is no power of two, two more
 * steps fold the members beyond it into the others and back (Thakur, Rabenseifner and Gropp,
 * "Optimization of collective communication operations in MPICH", 2005).
 */
unsigned int to_allreduce_steps_halving(uint32_t n);

/**
 * to_allreduce_steps_halving_send() - Get what member @from sends in @step
 *
 * Piece q of 2^k has the elements whose number, modulo 2^k, is q.
 *
 * Return: false when it sends nothing.
 */
bool to_allreduce_steps_halving_send(uint32_t n, unsigned int step, uint32_t from,
				     struct to_allreduce_send *send);

#endif
