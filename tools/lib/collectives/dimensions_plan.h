/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_DIMENSIONS_PLAN_H
#define TOPOOPT_DIMENSIONS_PLAN_H

#include "collectives/dimensions.h"
#include "data/plan.h"

/**
 * to_dimensions_of_plan() - the dimensions that the links of @plan are
 * @latency_ns: of a step
 *
 * A torus or a product of full meshes, with the servers in its order: server i has the
 * digits of i, the innermost one first, and each link joins two servers that differ in one
 * digit; in a ring by one, in a direct dimension by anything, and so in a switch dimension
 * whose links are packet switches: a digit of BCube, or rails. The bandwidth is that of the
 * server with the least of it.
 *
 * Return: 0; -EINVAL where links are of no such network.
 */
int to_dimensions_of_plan(const struct to_plan *plan, uint64_t latency_ns,
			  struct to_dimensions *dims, struct to_error *err);

#endif
