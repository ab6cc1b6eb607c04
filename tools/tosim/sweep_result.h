/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SWEEP_RESULT_H
#define TOPOOPT_SWEEP_RESULT_H

/* What came out of a sweep, beside published ratios, as text and JSON. */

#include "sweep.h"

/** struct to_sweep_result - a sweep and what its points printed */
struct to_sweep_result {
	const struct to_sweep *sweep;
	json_t *const *points;		/* per point; NULL: missing */
	double *times;			/* mean seconds of each point, negative: missing */
	unsigned int missing;		/* number of missing points */
};

/** to_sweep_result_init() - take the times of @points; 0 or -ENOMEM */
int to_sweep_result_init(struct to_sweep_result *r, const struct to_sweep *sweep,
			 json_t *const *points, struct to_error *err);
void to_sweep_result_free(struct to_sweep_result *r);

/** to_sweep_result_print() - print points and ratios as tables */
void to_sweep_result_print(const struct to_sweep_result *r);

/** to_sweep_result_json() - make what --json prints; NULL when out of memory */
json_t *to_sweep_result_json(const struct to_sweep_result *r);

#endif
