/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_JOB_OPTIONS_H
#define TOPOOPT_JOB_OPTIONS_H

/* Options that several commands of toctl job have. */

#include "cli/command.h"
#include "job/ranks.h"
#include "job/ring_report.h"

/** struct to_job_options - group and ring whose order the ranks have; TO_RANKS_NONE: not given */
struct to_job_options {
	uint64_t group, ring;
};

/** TO_JOB_OPTIONS - options that fill @member, a struct to_job_options */
#define TO_JOB_OPTIONS(type, member) \
	{ "group", 0, TO_OPTION_NUMBER, offsetof(type, member.group), .argument = "G", \
	  .max = TO_RANKS_NONE - 1, .help = "AllReduce group; default: that of the ring, or 0" }, \
	{ "ring", 0, TO_OPTION_NUMBER, offsetof(type, member.ring), .argument = "R", \
	  .max = TO_RANKS_NONE - 1, .help = "ring of the plan; default: the group's first" }

#define TO_JOB_DEFAULTS { .group = TO_RANKS_NONE, .ring = TO_RANKS_NONE }

/** TO_RING_LIMIT_OPTIONS - options that fill @member, a struct to_ring_limits */
#define TO_RING_LIMIT_OPTIONS(type, member) \
	{ "iterations", 0, TO_OPTION_NUMBER, offsetof(type, member.iterations), .argument = "N", \
	  .help = "training iterations whose MP transfers are planned; default: 1" }, \
	{ "tolerance", 0, TO_OPTION_REAL, offsetof(type, member.tolerance), \
	  .argument = "PERCENT", .help = "share of all bytes that may stray; default: 1" }

#define TO_RING_LIMIT_DEFAULTS { .iterations = 1, .tolerance = 1 }

/** to_ring_limits_check() - refuse a negative tolerance; return 0 or to_usage() */
int to_ring_limits_check(struct to_call *call, const struct to_ring_limits *limits);

/**
 * to_job_open() - load the plan that is the first operand, and find the order of its ranks
 * @plan: set to the plan, for to_plan_free()
 *
 * Return: 0, or a negative errno with the call's error set.
 */
int to_job_open(struct to_call *call, const struct to_job_options *options,
		struct to_plan **plan, struct to_ranks *ranks);

#endif
