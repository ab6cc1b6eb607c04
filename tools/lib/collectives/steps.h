/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_STEPS_H
#define TOPOOPT_STEPS_H

/*
 * One member's part of an AllReduce: threads, which run at once; the steps of a thread, one
 * after the other; the transfers of a step. A step sends first, what it finds in the
 * buffer when it begins, and ends when all that it receives has come.
 */

#include <stdbool.h>
#include <stdint.h>

#include "graph/bcube.h"

/** enum to_steps_kind - to the peer, or from it: added to the buffer, or put in its place */
enum to_steps_kind { TO_STEPS_SEND, TO_STEPS_ADD, TO_STEPS_COPY };

/** struct to_elements - of the buffer */
struct to_elements {
	uint64_t first, n;
};

/**
 * struct to_steps_transfer - some elements between two members
 * @peer: the other member
 * @lane: transfers of one lane, pair and direction keep their order; a step has one at most
 * @first, @n: into to_steps.elements, ascending
 */
struct to_steps_transfer {
	enum to_steps_kind kind;
	uint32_t peer, lane, first, n;
};

/** struct to_steps_part - of a thread its steps, of a step its transfers */
struct to_steps_part {
	uint32_t first, n;
};

/**
 * struct to_steps - what member @self does
 * @size: elements of the buffer
 * @failed: out of memory; what was to be added is missing
 */
struct to_steps {
	uint32_t self;
	uint64_t size;
	uint32_t n_threads, n_steps, n_transfers, n_elements;
	struct to_steps_part *threads, *steps;
	struct to_steps_transfer *transfers;
	struct to_elements *elements;
	bool failed;
};

/** to_steps_init() - nothing to do yet for @self, in a buffer of @size elements */
void to_steps_init(struct to_steps *steps, uint32_t self, uint64_t size);
void to_steps_free(struct to_steps *steps);

/* A thread, then a step of it, then a transfer of that, then elements of it. */
void to_steps_thread(struct to_steps *steps);
void to_steps_step(struct to_steps *steps);
void to_steps_transfer(struct to_steps *steps, enum to_steps_kind kind, uint32_t peer,
		       uint32_t lane);
void to_steps_elements(struct to_steps *steps, struct to_elements elements);

/** to_steps_piece() - piece @index of @of nearly equal ones of @whole, at most 2^48 elements */
struct to_elements to_steps_piece(struct to_elements whole, uint32_t index, uint32_t of);

/** to_steps_transfer_size() - elements of @transfer */
uint64_t to_steps_transfer_size(const struct to_steps *steps, const struct to_steps_transfer *transfer);

/**
 * to_steps_bml() - BML (Algorithm 1 of the paper) on @bcube
 * @parts: as in struct to_steps_tree
 *
 * k threads of 2k steps; the buffer has k N pieces, of which thread e sums piece (e, q) on
 * server q. In step w thread t sends N/n^(w+1) pieces to each neighbour on level (w + t) mod
 * k; it broadcasts the sums in reverse. Lane t + p k has part p of what thread t sends.
 */
void to_steps_bml(struct to_steps *steps, const struct to_bcube *bcube, const uint8_t *parts);

/**
 * to_steps_ps() - a parameter server on each of @n members
 *
 * Two steps: all push to the server of each of n pieces, and pull the sums. In lane 0.
 */
void to_steps_ps(struct to_steps *steps, uint32_t n);

/**
 * to_steps_ring() - a thread for a ring
 * @order: the members in its order
 * @whole: elements that it reduces
 *
 * Reduce-scatter, then all-gather: 2(n - 1) steps of 1/n of the elements to the next member.
 */
void to_steps_ring(struct to_steps *steps, const uint32_t *order, uint32_t n, uint32_t lane,
		   struct to_elements whole);

/**
 * struct to_steps_tree - a tree over @n members
 * @parents: per member, TO_SERVER_NONE at the root
 * @parts: per peer, into how many its transfers are divided, alike at both ends; NULL for 1
 */
struct to_steps_tree {
	uint32_t n;
	const uint32_t *parents;
	const uint8_t *parts;
};

/**
 * to_steps_tree() - two threads for a tree, at its root one
 * @whole: elements that it reduces
 * @chunk: elements that are reduced at a time, on their way up or down while others are
 *
 * Part p goes up in @lane + 2p, and comes back in the next lane.
 */
void to_steps_tree(struct to_steps *steps, const struct to_steps_tree *tree, uint32_t lane,
		   struct to_elements whole, uint64_t chunk);

#endif
