/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_BCUBE_LOADS_H
#define TOPOOPT_BCUBE_LOADS_H

/* What an AllReduce puts on the ports of BCube, step by step. */

#include "collectives/collective_plan.h"

/**
 * struct to_bcube_loads - elements through ports
 * @steps: of the thread with most; threads are in step
 * @size: elements of the buffer
 * @out, @in: [(step * servers + server) * k + level]; all threads together
 */
struct to_bcube_loads {
	struct to_bcube bcube;
	uint32_t steps;
	uint64_t size, *out, *in;
};

/**
 * to_bcube_loads_init() - of @algorithm on @bcube, in pieces of equal size
 * @algorithm: TO_COLLECTIVE_RING, along to_bcube_ring(), TO_COLLECTIVE_PS, relayed along
 *	to_bcube_path(), or TO_COLLECTIVE_BML
 *
 * Return: 0 or -ENOMEM.
 */
int to_bcube_loads_init(struct to_bcube_loads *loads, const struct to_bcube *bcube,
			enum to_collective_algorithm algorithm);
void to_bcube_loads_free(struct to_bcube_loads *loads);

/** to_bcube_loads_steps() - what @member does; as to_collective_plan_steps() */
int to_bcube_loads_steps(const struct to_bcube_loads *loads,
			 enum to_collective_algorithm algorithm, uint32_t member,
			 struct to_steps *steps);

/**
 * to_bcube_loads_time() - time in T_F: what one port takes for the buffer
 * @even: whether all ports carry the same in each step
 *
 * A step takes as long as its busiest port, and all threads begin the next one together.
 */
double to_bcube_loads_time(const struct to_bcube_loads *loads, bool *even);

#endif
