/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_TM_COMPARE_H
#define TOPOOPT_TM_COMPARE_H

/* Traffic as planned beside traffic as measured. */

#include <jansson.h>
#include <stdio.h>

#include "data/plan.h"
#include "data/tm.h"

/** struct to_tm_compare - two matrices of bytes, n x n, row = source */
struct to_tm_compare {
	const struct to_plan *plan;	/* whose job is planned */
	double iterations;		/* training iterations that the measurement covers */
	double tolerance;		/* percent of the planned bytes by which a pair may differ */
	uint64_t slack;			/* bytes by which a pair may differ besides */
	unsigned int n;			/* servers */
	uint64_t *planned, *measured;	/* bytes of pairs */
	unsigned int beyond;		/* pairs that differ by more than is tolerated */
	size_t worst;			/* index of the pair that exceeds the tolerance most */
};

/**
 * to_tm_compare_make() - compare the plan's traffic with @tm
 * @compare: plan, iterations, tolerance and slack are set; for to_tm_compare_free()
 * @tm: merged matrix of the plan's servers
 *
 * Return: 0 or -ENOMEM.
 */
int to_tm_compare_make(struct to_tm_compare *compare, const struct to_tm *tm);
void to_tm_compare_free(struct to_tm_compare *compare);

/** to_tm_compare_print() - print matrices that fit a terminal, and sums */
void to_tm_compare_print(FILE *out, const struct to_tm_compare *compare);

/** to_tm_compare_json() - JSON object, NULL when out of memory */
json_t *to_tm_compare_json(const struct to_tm_compare *compare);

/**
 * to_tm_compare_verdict() - refuse if a pair exceeds the tolerance
 *
 * Return: 0, or -ERANGE with @err naming the worst pair.
 */
int to_tm_compare_verdict(const struct to_tm_compare *compare, struct to_error *err);

#endif
