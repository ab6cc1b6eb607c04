/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_RING_REPORT_H
#define TOPOOPT_RING_REPORT_H

/* What toctl job check and toctl job run say of a measured matrix. */

#include "cli/command.h"
#include "data/plan.h"
#include "data/tm.h"
#include "job/ring_check.h"

/**
 * struct to_ring_limits - what a run may do beside its rings
 * @iterations: of the plan's MP transfers
 * @tolerance: percent of all bytes that may stray
 * @slack: bytes of a pair
 */
struct to_ring_limits {
	double iterations, tolerance;
	uint64_t slack;
};

#define TO_RING_LIMITS { .iterations = 1, .tolerance = 1, .slack = 65536 }

/** @member: a struct to_ring_limits */
#define TO_RING_LIMIT_OPTIONS(type, member) \
	{ "iterations", 'i', TO_OPTION_REAL, offsetof(type, member.iterations), .argument = "X", \
	  .help = "training iterations of the run, for its MP transfers; default: 1" }, \
	{ "tolerance", 't', TO_OPTION_REAL, offsetof(type, member.tolerance), \
	  .argument = "PERCENT", .help = "how much of all bytes may stray; default: 1" }, \
	{ "slack", 's', TO_OPTION_NUMBER, offsetof(type, member.slack), .argument = "BYTES", \
	  .help = "bytes that any pair may have beside, for connections and control traffic; default: 65536" }

/** to_ring_limits_check() - 0, or to_usage() */
int to_ring_limits_check(struct to_call *call, const struct to_ring_limits *limits);

/**
 * to_ring_report_fits() - was @tm merged of recordings under this plan?
 * @path, @plan_path: of either, for the error
 *
 * Return: 0 or -EINVAL.
 */
int to_ring_report_fits(const struct to_tm *tm, const char *path, const char *fingerprint,
			const char *plan_path, const struct to_plan *plan, struct to_error *err);

/**
 * to_ring_report() - print on @out what each ring carried and what strayed
 * @group: as to_ring_check() takes it
 *
 * Return: 0; -ERANGE with the call's error when too much strayed; -ENODATA: there are no
 * bytes; -ENOMEM.
 */
int to_ring_report(struct to_call *call, FILE *out, const struct to_plan *plan, uint32_t group,
		   const struct to_ring_traffic *traffic, const struct to_ring_limits *limits);

#endif
