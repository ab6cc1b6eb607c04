/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PLANNER_KNOBS_H
#define TOPOOPT_PLANNER_KNOBS_H

/* Choices of the planner that neither the cluster nor the job makes. */

#include <stdbool.h>
#include <stdint.h>

#include "base/effort.h"
#include "data/plan.h"

struct to_family;

/** struct to_planner_knobs - one set of choices for planner, search and builder */
struct to_planner_knobs {
	unsigned int degree;	/* ports of a server to use at most; 0 for the planner: all */
	unsigned int effort;	/* TO_EFFORT_MIN to TO_EFFORT_MAX; 0 for the planner: TO_EFFORT_DEFAULT */
	uint64_t seed;		/* same inputs and seed, same plan to the byte */
	const struct to_family *family;	/* the only family to try; NULL: all. Not with fixed links */
	bool fixed;		/* keep the links of the cluster; all its servers take part */
	bool rings;		/* AllReduce on rings alone, for clients that know no trees */
	bool no_buffer_cycles;	/* routes on which no lossless class can deadlock */
	double max_stretch;	/* of to_plan; 0: TO_STRETCH_DEFAULT */
	struct to_latency latency;	/* of AllReduce, in seconds; zeros: none */
	enum to_collective_algorithm algorithm;	/* how the job does AllReduce; plan: on rings or trees */
	void (*progress)(void *data, unsigned int percent);	/* percent done; NULL: not called */
	void *data;		/* for progress() */
};

#endif
