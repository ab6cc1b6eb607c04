/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PROPOSAL_H
#define TOPOOPT_PROPOSAL_H

/* Random proposals for a strategy, for a Markov chain. */

#include "workload/strategy.h"

/**
 * struct to_proposals - what proposals need to know about a model
 * @first_like: per operator, the first one of the same kind and size
 */
struct to_proposals {
	const struct to_dnn_model *model;
	uint32_t n_servers;
	uint32_t *first_like;
};

/** to_proposals_init() - Return: 0 or -ENOMEM */
int to_proposals_init(struct to_proposals *proposals, const struct to_dnn_model *model,
		      uint32_t n_servers);
void to_proposals_free(struct to_proposals *proposals);

/**
 * to_propose() - change @strategy in one way
 *
 * The proposal is one of: another placement for one operator, for a run of
 * operators, or for all operators like it, together or assigned to servers one
 * by one; stages on servers of their own; the placement of a neighbour; the
 * placements of two operators swapped. The result is valid and may equal the
 * strategy before.
 */
void to_propose(const struct to_proposals *proposals, struct to_strategy *strategy,
		uint64_t *random);

#endif
