// SPDX-License-Identifier: GPL-2.0-or-later
#include "simulate/collective.h"

#include <errno.h>
#include <stdlib.h>

#include "graph/double_tree.h"

const char *const to_algorithm_names[] = {
	"ring", "ring-both-ways", "double-tree", "halving-doubling", NULL
};

/* Rounds of halving between the largest power of two of servers that @n has. */
static unsigned int collective_rounds(uint32_t n)
{
	return 31 - __builtin_clz(n);
}

unsigned int to_collective_phases(enum to_algorithm algorithm, uint32_t n)
{
	if (algorithm != TO_ALGORITHM_HALVING_DOUBLING)
		return 1;
	return 2 * collective_rounds(n) + (n & (n - 1) ? 2 : 0);
}

static int collective_ring(const uint32_t *members, uint32_t n, struct to_transfer *transfers,
			   unsigned int *steps)
{
	for (uint32_t i = 0; i < n; i++)
		transfers[i] = (struct to_transfer){ members[i], members[(i + 1) % n],
			(uint64_t)((long double)TO_COLLECTIVE_BUFFER * 2 * (n - 1) / n) };
	*steps = 2 * (n - 1);
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
	uint32_t *parent = calloc(n, sizeof(*parent)), i, x;
	unsigned int depth, deepest = 0;
	int sent = 0;

	if (!parent)
		return -ENOMEM;
	for (int second = 0; second < 2; second++) {
		to_double_tree(n, second, parent);
		for (i = 0; i < n; i++) {
			for (x = i, depth = 0; parent[x] != TO_SERVER_NONE; depth++)
				x = parent[x];
			deepest = depth > deepest ? depth : deepest;
			if (!depth)
				continue;
			x = members[parent[i]];
			transfers[sent++] = (struct to_transfer){ members[i], x,
								  TO_COLLECTIVE_BUFFER / 2 };
			transfers[sent++] = (struct to_transfer){ x, members[i],
								  TO_COLLECTIVE_BUFFER / 2 };
		}
	}
	free(parent);
	*steps = 2 * deepest;
	return sent;
}

static int collective_halving_doubling(const uint32_t *members, uint32_t n, unsigned int phase,
				       struct to_transfer *transfers, unsigned int *steps)
{
	const unsigned int rounds = collective_rounds(n), phases = 2 * rounds;
	const uint32_t even = 1u << rounds, beyond = n - even;
	uint32_t i;

	*steps = 1;
	if (beyond && (phase == 0 || phase == phases + 1)) {
		for (i = 0; i < beyond; i++)
			transfers[i] = phase ?
				(struct to_transfer){ members[i], members[even + i],
						      TO_COLLECTIVE_BUFFER } :
				(struct to_transfer){ members[even + i], members[i],
						      TO_COLLECTIVE_BUFFER };
		return beyond;
	}
	phase -= beyond ? 1 : 0;
	phase = phase < rounds ? phase : phases - 1 - phase;
	for (i = 0; i < even; i++)
		transfers[i] = (struct to_transfer){ members[i], members[i ^ 1u << phase],
						     TO_COLLECTIVE_BUFFER >> (phase + 1) };
	return even;
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
