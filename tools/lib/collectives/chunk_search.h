/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_CHUNK_SEARCH_H
#define TOPOOPT_CHUNK_SEARCH_H

/*
 * The best schedule of small cases, as a yardstick for Themis: branch and bound over the
 * order of dimensions of each chunk, those of its all-gathers by themselves, and over the
 * order of chunks in each dimension (active schedules: Giffler and Thompson, "Algorithms
 * for Solving Production-Scheduling Problems", Operations Research 8, 1960).
 */

#include "collectives/chunk_run.h"

#define TO_CHUNK_SEARCH_STAGES 128	/* chunks times stages */
#define TO_CHUNK_SEARCH_ROUTES 576	/* orders of dimensions: 4 there, 4 back */

/**
 * struct to_chunk_search - what was found out
 * @nodes_max: partial schedules to look at, at most; set by the caller
 * @nodes: that were
 * @bound_ps: no schedule takes less
 * @proved: the schedule is the best one; else the search ended at @nodes_max
 */
struct to_chunk_search {
	uint64_t nodes_max, nodes, bound_ps;
	bool proved;
};

/**
 * to_chunk_search() - schedule @s as well as possible; never worse than Themis
 * @run: of @s, with its order
 *
 * Return: 0; -E2BIG for a case that is not small, or where to_chunk_setting.parallel
 * limits; -ENOMEM.
 */
int to_chunk_search(struct to_chunk_schedule *s, struct to_chunk_run *run,
		    struct to_chunk_search *search, struct to_error *err);

#endif
