/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_STRATEGY_SEARCH_H
#define TOPOOPT_STRATEGY_SEARCH_H

/* A parallelisation strategy for a network that is given. */

#include "simulate/simulate.h"
#include "workload/strategy.h"

/**
 * struct to_strategy_search - what is to be found
 * @n_servers: of the network
 * @batch_per_gpu: 0 for the model's own
 * @budget: strategies to try
 * @bounded: AllReduce goes round rings, evenly, as to_bound_time() has it: a proposal whose
 *	lower bound is refused need not be simulated, and the outcome is the same
 * @progress: called with those tried and all; not 0 ends the search. May be NULL
 */
struct to_strategy_search {
	const struct to_dnn_model *model;
	uint32_t n_servers;
	unsigned int batch_per_gpu, budget;
	uint64_t seed;
	bool bounded;
	int (*progress)(void *data, unsigned int done, unsigned int all);
	void *data;
};

/**
 * to_strategy_find() - the strategy whose iteration is fastest on @simulator
 *
 * A Markov chain from each of those that people would begin with: data parallelism,
 * embedding tables by hand, tables divided, everything divided. Metropolis on the
 * simulated time, as TopoOpt's section 3.2 has it, but the network stays.
 *
 * Return: the strategy; NULL with @err set: parameters that no start has room for,
 * servers that cannot reach each other, a search that was ended (-EINTR), no memory.
 */
struct to_strategy *to_strategy_find(const struct to_strategy_search *search,
				     struct to_simulator *simulator, struct to_error *err);

#endif
