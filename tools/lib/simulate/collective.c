// SPDX-License-Identifier: GPL-2.0-or-later
#include "simulate/collective.h"

#include <errno.h>
#include <stdlib.h>

#include "data/allreduce_steps.h"
#include "graph/double_tree.h"

const char *const to_algorithm_names[] = {
	"ring", "ring-both-ways", "double-tree", "halving-doubling", NULL
};

unsigned int to_collective_phases(enum to_algorithm algorithm, uint32_t n)
{
	return algorithm == TO_ALGORITHM_HALVING_DOUBLING ? to_allreduce_steps_halving(n) : 1;
}

/* All steps load the same links: they are one phase. */
static int collective_ring(const uint32_t *members, uint32_t n, struct to_transfer *transfers,
			   unsigned int *steps)
{
	*steps = to_allreduce_steps_ring(n);
	for (uint32_t i = 0; i < n; i++) {
		const struct to_allreduce_send send = to_allreduce_steps_ring_send(n, false, 0, i);

		transfers[i] = (struct to_transfer){ members[send.from], members[send.to],
			(uint64_t)((long double)TO_COLLECTIVE_BUFFER * *steps / send.pieces) };
	}
	return n;
}

static int collective_ring_both_ways(const uint32_t *members, uint32_t n,
				     struct to_transfer *transfers, unsigned int *steps)
{
	collective_ring(members, n, transfers, steps);
	for (uint32_t i = 0; i < n; i++) {
		struct to_transfer *t = &transfers[i];

		t->bytes /= 2;
		transfers[n + i] = (struct to_transfer){ t->dst, t->src, t->bytes };
	}
	return 2 * n;
}

static int collective_double_tree(const uint32_t *members, uint32_t n,
				  struct to_transfer *transfers, unsigned int *steps)
{
	uint32_t *parent = calloc(n, sizeof(*parent));
	int sent = 0;

	if (!parent)
		return -ENOMEM;
	*steps = 0;
	for (int second = 0; second < 2; second++) {
		unsigned int deep;

		to_double_tree(n, second, parent);
		deep = to_allreduce_steps_tree(NULL, n, parent);
		*steps = deep > *steps ? deep : *steps;
		for (uint32_t i = 0; i < n; i++) {
			if (parent[i] == TO_SERVER_NONE)
				continue;
			transfers[sent++] = (struct to_transfer){ members[i], members[parent[i]],
								  TO_COLLECTIVE_BUFFER / 2 };
			transfers[sent++] = (struct to_transfer){ members[parent[i]], members[i],
								  TO_COLLECTIVE_BUFFER / 2 };
		}
	}
	free(parent);
	return sent;
}

static int collective_halving_doubling(const uint32_t *members, uint32_t n, unsigned int phase,
				       struct to_transfer *transfers, unsigned int *steps)
{
	struct to_allreduce_send send;
	int sent = 0;

	*steps = 1;
	for (uint32_t i = 0; i < n; i++)
		if (to_allreduce_steps_halving_send(n, phase, i, &send))
			transfers[sent++] = (struct to_transfer){ members[send.from],
				members[send.to], TO_COLLECTIVE_BUFFER / send.pieces };
	return sent;
}

int to_collective_phase(enum to_algorithm algorithm, const uint32_t *members, uint32_t n,
			unsigned int phase, struct to_transfer *transfers, unsigned int *steps)
{
	switch (algorithm) {
	case TO_ALGORITHM_RING_BOTH_WAYS:
		return collective_ring_both_ways(members, n, transfers, steps);
	case TO_ALGORITHM_DOUBLE_TREE:
		return collective_double_tree(members, n, transfers, steps);
	case TO_ALGORITHM_HALVING_DOUBLING:
		return collective_halving_doubling(members, n, phase, transfers, steps);
	default:
		return collective_ring(members, n, transfers, steps);
	}
}
