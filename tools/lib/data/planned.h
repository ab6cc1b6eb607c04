/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PLANNED_H
#define TOPOOPT_PLANNED_H

#include <stdint.h>

#include "data/plan.h"

/**
 * to_planned_matrix() - what a job sends under a plan
 * @plan: with the demand
 * @iterations: training iterations, need not be whole
 * @bytes: n x n, row = source; overwritten with payload bytes
 *
 * MP transfers go from source to destination; AllReduce goes from each member
 * of a group to its neighbours on the group's rings or trees, see
 * to_allreduce_hop_bytes() and to_allreduce_tree_bytes().
 */
void to_planned_matrix(const struct to_plan *plan, double iterations,
		       uint64_t *bytes);

#endif
