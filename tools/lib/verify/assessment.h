/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ASSESSMENT_H
#define TOPOOPT_ASSESSMENT_H

/* What an operator decides by: whether a plan is right, how fast, how safe. */

#include "verify/buffer_cycle.h"
#include "verify/verify.h"

/** struct to_assessment - a verified plan and its buffer cycles */
struct to_assessment {
	struct to_verify_report report;	/* with the figures of the plan */
	struct to_buffer_cycle routes;	/* a cycle on routes of all pairs, if there is one */
	struct to_buffer_cycle job;	/* a cycle on routes that the job's transfers take */
};

/**
 * to_assessment_make() - verify @plan and look for buffer cycles
 * @line: called for every violation, NULL: not called
 * @progress: called with the percent that is done, NULL: not called
 * @data: for @line and @progress
 * @assessment: set, for to_assessment_free(); without cycles when there are violations
 *
 * Return: 0 when checked, or -ENOMEM.
 */
int to_assessment_make(const struct to_plan *plan, to_verify_line *line,
		       void (*progress)(void *data, unsigned int percent), void *data,
		       struct to_assessment *assessment);
void to_assessment_free(struct to_assessment *assessment);

/**
 * to_assessment_json() - JSON object as toctl verify --json prints it
 * @violations: JSON array of lines, one reference is taken over
 *
 * Return: the object, NULL when out of memory.
 */
json_t *to_assessment_json(const struct to_plan *plan, const struct to_assessment *assessment,
			   json_t *violations);

#endif
