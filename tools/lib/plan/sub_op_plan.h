/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SUB_OP_PLAN_H
#define TOPOOPT_SUB_OP_PLAN_H

/* The placement of SiP-ML, see workload/sub_ops.h, and the plan that suits it. */

#include "plan/parallelize.h"
#include "workload/sub_ops_search.h"

/**
 * struct to_sub_op_plan - what was found
 * @time, @bound, @memory: as in struct to_choice
 */
struct to_sub_op_plan {
	struct to_sub_ops placed;
	struct to_plan *plan;
	double time, bound, memory;
};

/**
 * to_sub_op_plan() - place @model, and plan for it, to compare with to_parallelize()
 * @model, @cluster, @n_servers, @options: the same; sub-ops reach as many neighbours as a
 *	server has ports
 * @found: overwritten; for to_sub_op_plan_free(), also on failure
 *
 * How many blocks there are is decided on a switch for all ports of the servers, before
 * there is a plan.
 *
 * Return: 0, or a negative errno with @err set.
 */
int to_sub_op_plan(const struct to_dnn_model *model, const struct to_cluster *cluster,
		   uint32_t n_servers, const struct to_parallelize_options *options,
		   struct to_sub_op_plan *found, struct to_error *err);
void to_sub_op_plan_free(struct to_sub_op_plan *found);

#endif
