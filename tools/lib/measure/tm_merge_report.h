/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_TM_MERGE_REPORT_H
#define TOPOOPT_TM_MERGE_REPORT_H

/* How well a merged matrix accounts for what links carried. */

#include <jansson.h>
#include <stdio.h>

#include "data/tm.h"

/** to_tm_merge_report_absent() - count samples that lack a server's part */
unsigned int to_tm_merge_report_absent(const struct to_tm *tm);

/** to_tm_merge_report_print() - print links that do not add up, and sums */
void to_tm_merge_report_print(FILE *out, const struct to_tm *tm);

/** to_tm_merge_report_json() - JSON object of links and sums, NULL when out of memory */
json_t *to_tm_merge_report_json(const struct to_tm *tm);

#endif
