// SPDX-License-Identifier: GPL-2.0-or-later
#include "data/allreduce_steps.h"

#include "data/cluster.h"

unsigned int to_allreduce_steps_ring(uint32_t n)
{
	return 2 * (n - 1);
}

double to_allreduce_steps_ring_share(uint32_t n)
{
	return (double)to_allreduce_steps_ring(n) / n;
}

struct to_allreduce_send to_allreduce_steps_ring_send(uint32_t n, bool reverse, unsigned int step,
						      uint32_t from)
{
	const uint32_t back = (reverse ? step : 2 * n - step) % n;

	return (struct to_allreduce_send){ .from = from, .to = (from + (reverse ? n - 1 : 1)) % n,
					   .pieces = n, .piece = (from + back) % n,
					   .sum = step < n - 1 };
}

unsigned int to_allreduce_steps_tree(const uint32_t *vertices, uint32_t n, const uint32_t *parents)
{
	unsigned int deepest = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t x = vertices ? vertices[i] : i;
		unsigned int depth = 0;

		for (; parents[x] != TO_SERVER_NONE; depth++)
			x = parents[x];
		deepest = depth > deepest ? depth : deepest;
	}
	return 2 * deepest;
}

/* Halvings of the largest power of two that @n has. */
static unsigned int allreduce_steps_rounds(uint32_t n)
{
	return 31 - __builtin_clz(n);
}

unsigned int to_allreduce_steps_halving(uint32_t n)
{
	return 2 * allreduce_steps_rounds(n) + (n & (n - 1) ? 2 : 0);
}

bool to_allreduce_steps_halving_send(uint32_t n, unsigned int step, uint32_t from,
				     struct to_allreduce_send *send)
{
	const unsigned int rounds = allreduce_steps_rounds(n), steps = to_allreduce_steps_halving(n);
	const uint32_t even = 1u << rounds, beyond = n - even;
	const bool first = !step, last = step + 1 == steps;
	unsigned int round = step - (beyond ? 1 : 0);

	if (beyond && (first || last)) {
		const bool sends = first ? from >= even : from < beyond;

		*send = (struct to_allreduce_send){ .from = from, .pieces = 1, .sum = first,
						    .to = first ? from - even : from + even };
		return sends;
	}
	*send = (struct to_allreduce_send){ .from = from, .sum = round < rounds };
	round = round < rounds ? round : 2 * rounds - 1 - round;
	send->to = from ^ 1u << round;
	send->pieces = 2u << round;
	send->piece = (send->sum ? send->to : from) % send->pieces;
	return from < even;
}
