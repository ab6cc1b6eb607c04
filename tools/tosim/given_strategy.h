/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_GIVEN_STRATEGY_H
#define TOPOOPT_GIVEN_STRATEGY_H

/* Strategies that nobody searches for. */

#include "data/demand.h"
#include "workload/strategy.h"

/**
 * to_given_strategy() - the one that @word names
 * @word: "data": data parallelism; "tables": and each embedding table on one server; else
 *	a file for to_strategy_load()
 *
 * Return: NULL with @err set, also when the servers have no room for it.
 */
struct to_strategy *to_given_strategy(const char *word, const struct to_dnn_model *model,
				      uint32_t n_servers, unsigned int batch_per_gpu,
				      struct to_error *err);

/** to_strategy_demand() - what @strategy sends in an iteration; NULL with @err set */
struct to_demand *to_strategy_demand(const struct to_strategy *strategy, struct to_error *err);

#endif
