/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_JOB_OPTIONS_H
#define TOPOOPT_JOB_OPTIONS_H

/* Options of the commands of toctl job: which group and ring the ranks follow. */

#include "cli/command.h"
#include "job/ranks.h"

/** struct to_job_options - TO_RANKS_NONE where not said */
struct to_job_options {
	uint64_t group, ring;
};

/** @member: a struct to_job_options */
#define TO_JOB_OPTIONS(type, member) \
	{ "group", 'g', TO_OPTION_NUMBER, offsetof(type, member.group), .argument = "G", \
	  .max = TO_RANKS_NONE - 1, .help = "AllReduce group; default: that of the ring, or 0" }, \
	{ "ring", 'r', TO_OPTION_NUMBER, offsetof(type, member.ring), .argument = "R", \
	  .max = TO_RANKS_NONE - 1, \
	  .help = "ring of the plan, as it numbers them; default: the first of the group" }

#define TO_JOB_DEFAULTS { .group = TO_RANKS_NONE, .ring = TO_RANKS_NONE }

/**
 * to_job_open() - the plan that is the first operand, and the order of its ranks
 * @plan: gets it, to be freed
 *
 * Return: 0, or a negative errno with the call's error set.
 */
int to_job_open(struct to_call *call, const struct to_job_options *options,
		struct to_plan **plan, struct to_ranks *ranks);

#endif
