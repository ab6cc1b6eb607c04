/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SUB_OPS_H
#define TOPOOPT_SUB_OPS_H

/*
 * Hybrid parallelism for fabrics of few neighbours: the placement of SiP-ML (Khani et al.,
 * SIGCOMM 2021, section 3.2). Operators become sub-ops of about a quantum of time each; a
 * block of contiguous servers computes all of them for its samples, each sub-op near those
 * whose results it takes; and other blocks do the same for other samples.
 */

#include "data/taskgraph.h"
#include "workload/dnn_model.h"

#define TO_SUB_OP_QUANTUM 10e-6	/* seconds: SiP-ML, section 4.1 */

/**
 * struct to_sub_ops_setting - what the model does not say
 * @samples: of an iteration, over all servers
 * @blocks: divide @n_servers
 * @sharded: sub-ops have a part of the operator's parameters and compute for all samples of
 *	the block; else they have all, and a part of the samples
 * @quantum: seconds, least time of a sub-op's forward pass
 * @reach: a sub-op and those that it takes results of are on so many contiguous servers
 */
struct to_sub_ops_setting {
	uint32_t n_servers, blocks;
	uint64_t samples;
	bool sharded;
	double quantum;
	unsigned int reach;
};

/**
 * struct to_sub_ops - placement of sub-ops
 * @first: of each operator, and behind the last, in @server
 * @server: within the block
 * @memory: bytes of parameters, per server of the block
 * @relocated: sub-ops that were moved nearer to each other
 * @forward: seconds of the forward pass, when nothing has to be sent
 */
struct to_sub_ops {
	const struct to_dnn_model *model;
	struct to_sub_ops_setting setting;
	uint32_t block;
	uint32_t *first, *server;
	double *memory, *free_at;
	unsigned int relocated;
	double forward;
};

/**
 * to_sub_ops_place() - place sub-ops in the order of their dependencies, each on the server that is
 *	free first
 * @model: outlives them
 *
 * Of equal ones the first. Where the results that a sub-op takes are farther apart than
 * reach, those are moved to the nearest server that is not: the paper says that they are
 * relocated, the excerpt at hand not where to.
 *
 * Return: 0; -ENOSPC when parameters have no room within reach; -ENOMEM.
 */
int to_sub_ops_place(struct to_sub_ops *s, const struct to_dnn_model *model,
		     const struct to_sub_ops_setting *setting);
void to_sub_ops_free(struct to_sub_ops *s);

/** to_sub_ops_tasks() - one iteration: forward, backward, AllReduce; as to_strategy_tasks() */
int to_sub_ops_tasks(const struct to_sub_ops *s, struct to_taskgraph *graph, struct to_error *err);

#endif
