/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_GIVEN_STRATEGY_H
#define TOPOOPT_GIVEN_STRATEGY_H

/* Strategies that a word or a file says, so that no search is needed. */

#include "workload/strategy.h"

/**
 * to_given_strategy() - make the strategy that @word names
 * @word: "data" for data parallelism, "tables" for data parallelism with each embedding table
 *	on one server, or a file for to_strategy_load()
 * @model: outlives the strategy
 * @n_servers: number of servers that train the model
 * @batch_per_gpu: samples of a GPU in an iteration, 0 for the model's own
 *
 * Return: the strategy, for to_strategy_free(); NULL with @err set, also when the servers
 * have no room for the parameters.
 */
struct to_strategy *to_given_strategy(const char *word, const struct to_dnn_model *model,
				      uint32_t n_servers, unsigned int batch_per_gpu,
				      struct to_error *err);

#endif
