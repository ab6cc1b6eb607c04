/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_STRATEGY_H
#define TOPOOPT_STRATEGY_H

/* Which servers compute which operators of a model. */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "data/demand.h"
#include "data/taskgraph.h"
#include "workload/dnn_model.h"

/**
 * struct to_placement - the servers of one operator
 * @first, @step, @n: servers first, first + step, ..., n of them; @step is 1
 *	if @n is
 * @sharded: each server has an n-th of the parameters and computes that part
 *	of the result for all samples (embeddings by columns, others as in
 *	tensor parallelism). Otherwise each has all parameters, computes an n-th
 *	of the samples and takes part in an AllReduce of the gradients.
 *
 * On one server both are the same, and @sharded is false.
 */
struct to_placement {
	uint32_t first, step, n;
	bool sharded;
};

/** to_placement_same() - whether @a and @b are the same */
bool to_placement_same(const struct to_placement *a, const struct to_placement *b);

/**
 * struct to_strategy - a placement for every operator
 * @samples: of one iteration, over all servers
 * @at: by the operator's index
 */
struct to_strategy {
	const struct to_dnn_model *model;
	uint32_t n_servers;
	uint64_t samples;
	struct to_placement *at;
};

/**
 * to_strategy_new() - data parallelism: every operator on all servers
 * @batch_per_gpu: 0 for the model's own
 * @model: outlives the strategy
 *
 * Return: the strategy, NULL when out of memory.
 */
struct to_strategy *to_strategy_new(const struct to_dnn_model *model, uint32_t n_servers,
				    unsigned int batch_per_gpu);

/**
 * to_strategy_load() - the strategy that tosim simulate --json printed into the file @path
 *
 * Return: NULL with @err set: no such file, operators that @model does not have or that
 * have no placement, placements that @n_servers servers cannot have.
 */
struct to_strategy *to_strategy_load(const char *path, const struct to_dnn_model *model,
				     uint32_t n_servers, unsigned int batch_per_gpu,
				     struct to_error *err);
struct to_strategy *to_strategy_copy(const struct to_strategy *strategy);
void to_strategy_free(struct to_strategy *strategy);

/** to_strategy_set() - give @strategy the placements of @from, of the same model */
void to_strategy_set(struct to_strategy *strategy, const struct to_strategy *from);

/**
 * to_strategy_place_tables() - every embedding on one server, round robin
 *
 * This is the usual hand-made placement for DLRM (TopoOpt section 2.1).
 */
void to_strategy_place_tables(struct to_strategy *strategy);

/** to_strategy_valid() - whether @placement is valid for operator @op */
bool to_strategy_valid(const struct to_strategy *strategy, uint32_t op,
		       const struct to_placement *placement);

/**
 * to_strategy_memory() - bytes of parameters on each server
 * @bytes: n_servers, overwritten
 *
 * Return: the most.
 */
double to_strategy_memory(const struct to_strategy *strategy, double *bytes);

/** to_strategy_fits() - whether the GPUs of every server hold its parameters */
bool to_strategy_fits(const struct to_strategy *strategy, double *scratch);

/**
 * to_strategy_tasks() - one iteration: forward, backward, AllReduce
 * @graph: of as many servers, empty; finished on return
 *
 * A result goes to the servers whose operators take it; these start when they
 * have all of their inputs, and its gradient returns between the same servers.
 * An operator's gradients are reduced as soon as its servers have them, while
 * those of earlier operators are being computed.
 *
 * Return: 0, or -ENOMEM with @err set.
 */
int to_strategy_tasks(const struct to_strategy *strategy, struct to_taskgraph *graph,
		      struct to_error *err);

/**
 * to_strategy_demand() - make the demand of what @strategy sends in an iteration
 *
 * Return: the demand, for to_demand_free(); NULL with @err set when out of memory.
 */
struct to_demand *to_strategy_demand(const struct to_strategy *strategy, struct to_error *err);

/** to_strategy_print() - as text, operators of equal placement on one line */
void to_strategy_print(FILE *out, const struct to_strategy *strategy);

/**
 * to_strategy_json() - array of { operators, how, servers }; NULL when out of
 *	memory
 */
json_t *to_strategy_json(const struct to_strategy *strategy);

#endif
