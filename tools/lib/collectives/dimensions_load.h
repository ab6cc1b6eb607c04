/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_DIMENSIONS_LOAD_H
#define TOPOOPT_DIMENSIONS_LOAD_H

#include "collectives/dimensions.h"

/** struct to_dimensions_of - what a plan does not say of its dimensions */
struct to_dimensions_of {
	uint64_t latency_ns;		/* of a step */
	unsigned int gpus;		/* ranks of a server that share its ports, 0 for one */
	uint64_t gpu_bandwidth;		/* bits/s of a rank into its server's switch */
};

/**
 * to_dimensions_load() - read the dimensions of dims.json, or of a plan
 * @path: file
 * @plan: how a plan is read; NULL refuses plans
 *
 * Return: 0, or a negative errno with @err set, also where links are no dimensions.
 */
int to_dimensions_load(const char *path, const struct to_dimensions_of *plan,
		       struct to_dimensions *dims, struct to_error *err);

#endif
