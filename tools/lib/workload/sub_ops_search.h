/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SUB_OPS_SEARCH_H
#define TOPOOPT_SUB_OPS_SEARCH_H

/* How much data parallelism, and how much of models: the search of SiP-ML, section 4.1. */

#include <jansson.h>
#include <stdio.h>

#include "simulate/simulate.h"
#include "workload/sub_ops.h"

/**
 * struct to_sub_ops_search - what is to be found
 * @n_servers: of the network
 * @batch_per_gpu: 0 for the model's own
 * @reach: see struct to_sub_ops_setting; 0 for any
 * @quantum: the same
 * @progress: called with those tried and all; not 0 ends the search. May be NULL
 */
struct to_sub_ops_search {
	const struct to_dnn_model *model;
	uint32_t n_servers;
	unsigned int batch_per_gpu, reach;
	double quantum;
	int (*progress)(void *data, unsigned int done, unsigned int all);
	void *data;
};

/**
 * to_sub_ops_find() - the blocks whose iteration is fastest on @simulator
 * @found: overwritten; for to_sub_ops_free() on success
 *
 * All powers of two of blocks that divide the servers, each with sub-ops that divide samples
 * and with such that divide parameters, where these have room. One whose lower bound, see
 * to_bound_time(), is no better than what has been found is not simulated.
 *
 * Return: 0, or a negative errno with @err set: parameters that have no room, a search that
 * was ended (-EINTR), no memory.
 */
int to_sub_ops_find(const struct to_sub_ops_search *search, struct to_simulator *simulator,
		    struct to_sub_ops *found, struct to_error *err);

/** to_sub_ops_print() - print a placement */
void to_sub_ops_print(FILE *out, const struct to_sub_ops *s);

/** to_sub_ops_json() - array of { operators, how, servers } as to_strategy_json(); NULL when out of memory */
json_t *to_sub_ops_json(const struct to_sub_ops *s);

#endif
