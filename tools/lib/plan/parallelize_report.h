/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PARALLELIZE_REPORT_H
#define TOPOOPT_PARALLELIZE_REPORT_H

/* Strategies for a model side by side, as text and as JSON. */

#include <jansson.h>
#include <stdio.h>

#include "plan/parallelize.h"
#include "plan/sub_op_plan.h"

/** struct to_parallelize_report - what was found for a model */
struct to_parallelize_report {
	const struct to_dnn_model *model;	/* whose strategies these are */
	struct to_parallelized search;		/* of to_parallelize() */
	struct to_sub_op_plan sip;		/* of to_sub_op_plan(); without a plan if not asked for */
};

/** to_parallelize_report_plan() - return the plan to use: of SiP-ML if asked for, else of the search */
const struct to_plan *to_parallelize_report_plan(const struct to_parallelize_report *report);

/** to_parallelize_report_print() - print a row for each approach, and where operators are */
void to_parallelize_report_print(FILE *out, const struct to_parallelize_report *report);

/** to_parallelize_report_json() - JSON object, NULL when out of memory */
json_t *to_parallelize_report_json(const struct to_parallelize_report *report);

#endif
