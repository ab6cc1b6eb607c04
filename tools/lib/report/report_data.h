/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_REPORT_DATA_H
#define TOPOOPT_REPORT_DATA_H

/* What report.js draws from, as JSON inside the page. */

#include <jansson.h>
#include <stdio.h>

#include "verify/verify.h"

#define TO_REPORT_DETAIL 256	/* servers */

/**
 * struct to_report - a plan and what is recomputed from it
 * @verdict: of to_verify()
 * @lines: first lines of violations, @n_lines of them
 * @rings: bytes of AllReduce per arc and iteration
 * @mp: the same of MP transfers
 * @hops: ordered pairs of servers by distance in hops, up to the diameter
 */
struct to_report {
	const struct to_plan *plan;
	const char *version;
	struct to_graph *graph;
	struct to_forwarding forwarding;
	struct to_verify_report verdict;
	char *lines[20];
	unsigned int n_lines;
	double *rings, *mp;
	uint64_t *hops;
};

/** to_report_compute() - all but plan and version; freed also when it fails. As to_report_save() */
int to_report_compute(struct to_report *report, struct to_error *err);
void to_report_free(struct to_report *report);

/** to_report_print_json() - print JSON that cannot end the script element around it */
void to_report_print_json(FILE *out, const json_t *value);

/** to_report_print_arcs() - a member: [from, to, link, bytes of AllReduce, of MP], a comma after it */
void to_report_print_arcs(FILE *out, const struct to_report *report);

/** to_report_print_plan() - members of an object, a comma after the last. 0 or -ENOMEM. */
int to_report_print_plan(FILE *out, const struct to_plan *plan);

/**
 * to_report_print_matrix() - a member @key, and a comma: @bytes - @without, n x n
 * @without: NULL for nothing
 *
 * Row by row as [value, how many, value, ...], with as many servers to a cell that there are
 * no more than TO_REPORT_DETAIL rows. Return: 0 or -ENOMEM.
 */
int to_report_print_matrix(FILE *out, const char *key, const uint64_t *bytes,
			   const uint64_t *without, size_t n);

/** to_report_print_data() - JSON that may stand in a script element. 0 or -ENOMEM. */
int to_report_print_data(FILE *out, const struct to_report *report);

#endif
