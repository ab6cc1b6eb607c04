/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_RING_REPORT_H
#define TOPOOPT_RING_REPORT_H

/* A report of what a measured matrix says of the rings of a plan. */

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "data/plan.h"
#include "data/tm.h"
#include "job/ring_check.h"

/** struct to_ring_limits - what a run may send beside its rings */
struct to_ring_limits {
	uint64_t iterations;	/* training iterations, for the MP transfers of the plan */
	double tolerance;	/* percent of all bytes that may stray */
};

/**
 * to_ring_report_fits() - check that a matrix was merged of recordings under a plan
 * @path: of the matrix, for the error
 * @plan_path: of the plan, for the error
 *
 * Return: 0 or -EINVAL with @err.
 */
int to_ring_report_fits(const struct to_tm *tm, const char *path, const char *fingerprint,
			const char *plan_path, const struct to_plan *plan, struct to_error *err);

/**
 * to_ring_report() - print what each ring carried and what strayed
 * @json: print JSON in place of text
 * @reasons: by server, why recordings of it were missing, for the JSON; NULL if that is not known
 *
 * Return: 0; 1 with @err when more strayed than @limits allow; -ENODATA with @err when nothing
 * was sent; -ENOMEM.
 */
int to_ring_report(FILE *out, bool json, const struct to_plan *plan,
		   const struct to_ring_traffic *traffic, json_t *reasons,
		   const struct to_ring_limits *limits, struct to_error *err);

#endif
