// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "command.h"
#include "figures.h"
#include "format/plan_json.h"
#include "verify/verify.h"

#define VERIFY_LINES 100	/* one wrong link can break a million routes */

struct verify_lines {
	bool json;
	json_t *array;
	unsigned long n;
};

static void verify_line(void *data, const char *line)
{
	struct verify_lines *lines = data;

	if (lines->n++ >= VERIFY_LINES)
		return;
	if (lines->json)
		json_array_append_new(lines->array, json_string(line));
	else
		fprintf(stderr, "%s\n", line);
}

static void verify_print_json(const struct to_verify_report *r, const struct verify_lines *lines)
{
	json_t *object = to_predict_json(&r->figures);

	json_object_update_new(object, json_pack(
		"{s:b s:I s:O s:I s:I s:{s:I s:I s:I s:I}}",
		"valid", !r->violations, "violation_count", (json_int_t)r->violations,
		"violations", lines->array,
		"addresses", (json_int_t)r->addresses,
		"unreachable", (json_int_t)r->unreachable,
		"failures", "cases", (json_int_t)r->cases, "covered", (json_int_t)r->covered,
		"last_hops", (json_int_t)r->last_hops, "uncovered", (json_int_t)r->uncovered));
	json_dumpf(object, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
	putchar('\n');
	json_decref(object);
}

static void verify_print(const struct to_plan *plan, const struct to_verify_report *r)
{
	if (r->violations > VERIFY_LINES)
		fprintf(stderr, "and %lu more\n", r->violations - VERIFY_LINES);
	if (!r->figures.servers)
		return;		/* the links are no graph */
	to_figures_print(stdout, plan, &r->figures);
	printf("  %" PRIu64 " addresses from %u servers: %s\n", r->addresses, r->figures.servers,
	       r->violations ? "NOT VALID" : "all reached, no loop");
	if (r->unreachable)
		printf("  for %" PRIu64 " pairs of a server and a port, no path enters through the port\n",
		       r->unreachable);
	printf("  single link failures: %" PRIu64 " of %" PRIu64 " cases covered, %" PRIu64
	       " not; %" PRIu64 " more are the last link into a port\n",
	       r->covered, r->cases - r->last_hops, r->uncovered, r->last_hops);
}

static int verify_run(struct to_call *call, const void *data)
{
	struct verify_lines lines = { .json = call->json };
	struct to_verify_report report;
	struct to_plan *plan;
	int ret;

	(void)data;
	plan = to_plan_load(call->operands[0], &call->err);
	if (!plan)
		return -EINVAL;
	lines.array = json_array();
	ret = to_verify(plan, verify_line, &lines, &report);
	if (ret)
		to_error_set(&call->err, ret, "out of memory");
	else if (call->json)
		verify_print_json(&report, &lines);
	else
		verify_print(plan, &report);
	json_decref(lines.array);
	to_plan_free(plan);
	if (!ret && report.violations)
		ret = TO_EXIT_FAILURE;
	return ret;
}

const struct to_command to_cmd_verify = {
	.name = "verify",
	.summary = "Verify a plan before applying it",
	.operands = "PLAN",
	.min_operands = 1,
	.max_operands = 1,
	.description =
		"Checks links, cross-connects, rings, trees and every route from every server, with all "
		"links up and with any single link down, and recomputes the figures. Prints a line per "
		"violation on standard error; exits with 1 if there is one.",
	.run = verify_run,
};
