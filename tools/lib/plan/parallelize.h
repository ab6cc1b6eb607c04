/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PARALLELIZE_H
#define TOPOOPT_PARALLELIZE_H

/*
 * Which servers compute which operators of a model, and the plan that suits
 * them: the alternating optimisation of TopoOpt section 3.2.
 */

#include "data/plan.h"
#include "workload/strategy.h"

/**
 * struct to_parallelize_options - what the model does not say
 * @degree: ports of a server that may be used, 0 for all
 * @batch_per_gpu: 0 for the model's own
 * @budget: steps of each of the search's Markov chains
 * @seed: same inputs and seed, same result on any number of cores
 * @progress: called with the steps done and all steps, one thread at a time;
 *	may be NULL
 */
struct to_parallelize_options {
	unsigned int degree, batch_per_gpu, budget;
	uint64_t seed;
	void (*progress)(void *data, unsigned int done, unsigned int all);
	void *data;
};

#define TO_PARALLELIZE_BUDGET 1000

/**
 * enum to_approach - how to find a strategy and its plan
 * @TO_APPROACH_DATA: data parallelism
 * @TO_APPROACH_NAIVE: the best strategy for an ideal network, see
 *	to_bound_time(); then a plan for it
 * @TO_APPROACH_TABLES: by hand, see to_strategy_place_tables()
 * @TO_APPROACH_SEARCH: alternating optimisation
 */
enum to_approach {
	TO_APPROACH_DATA, TO_APPROACH_NAIVE, TO_APPROACH_TABLES, TO_APPROACH_SEARCH,
	TO_APPROACHES
};

/**
 * struct to_choice - a strategy with its plan
 * @time: of one iteration, simulated, seconds
 * @bound: lower bound of the time over all topologies, see to_bound_time()
 * @memory: bytes of parameters on the server that has most
 * @fits: whether its GPUs hold them
 */
struct to_choice {
	struct to_strategy *strategy;
	struct to_plan *plan;
	double time, bound, memory;
	bool fits;
};

/** struct to_parallelized - what was found; the search is never behind one that fits */
struct to_parallelized {
	struct to_choice by[TO_APPROACHES];
};

/**
 * to_parallelize() - find a strategy and a plan for @model
 * @model: outlives the result
 * @cluster: the first @n_servers of it take part
 * @found: overwritten; for to_parallelized_free(), also on failure
 *
 * Markov chains over strategies from several starts, on all cores, accept by
 * Metropolis on the simulated time on the chain's current plan. A plan is made
 * anew for each improvement and after 50 steps without one. Chains that have
 * fallen behind go on from the best one's strategy, in a few rounds.
 *
 * Return: 0, or a negative errno with @err set: too many servers or ports
 * asked for, a model that no strategy known to the search fits on the servers,
 * what to_planner_make() refuses.
 */
int to_parallelize(const struct to_dnn_model *model, const struct to_cluster *cluster,
		   uint32_t n_servers, const struct to_parallelize_options *options,
		   struct to_parallelized *found, struct to_error *err);
void to_parallelized_free(struct to_parallelized *found);

#endif
