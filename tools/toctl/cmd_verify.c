// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "command.h"
#include "data/down.h"
#include "figures.h"
#include "format/plan_json.h"
#include "verify/verify.h"

#define VERIFY_LINES 100	/* one wrong link can break a million routes */

#define VERIFY_CASES 5		/* that are named in text */
#define VERIFY_CASE_TEXT (4 * (TO_NAME_MAX + IFNAMSIZ) + 64)

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

/* "s3 > s7 (s7:eth0) while s3:eth1 - s5:eth0 is dark" */
static const char *verify_case(const struct to_plan *plan, const struct to_unprotected *u,
			       char text[VERIFY_CASE_TEXT])
{
	const struct to_cluster *c = plan->cluster;
	const struct to_server *dst = &c->servers[u->dst];
	const struct to_link *l = &c->links[u->link];
	char a[TO_DOWN_NAME_MAX], b[TO_DOWN_NAME_MAX], address[TO_DOWN_NAME_MAX + 4] = "";

	if (u->slot)
		snprintf(address, sizeof(address), " (%s:%s)", dst->name, dst->ports[u->slot - 1].name);
	snprintf(text, VERIFY_CASE_TEXT, "%s > %s%s while %s %s %s is dark",
		 c->servers[u->src].name, dst->name, address, to_down_name(c, l->a, a),
		 c->link_mode == TO_LINKS_DUPLEX ? "-" : ">", to_down_name(c, l->b, b));
	return text;
}

static json_t *verify_cases_json(const struct to_failure_cases *c)
{
	return json_pack("{s:I s:I s:I s:I s:I}",
			 "cases", (json_int_t)c->cases, "covered", (json_int_t)c->covered,
			 "uncovered", (json_int_t)c->uncovered,
			 "last_hops", (json_int_t)c->last_hops,
			 "disconnected", (json_int_t)c->disconnected);
}

static void verify_print_json(const struct to_plan *plan, const struct to_verify_report *r,
			      const struct verify_lines *lines)
{
	json_t *object = to_predict_json(&r->figures), *failures = verify_cases_json(&r->links);
	json_t *unprotected = json_array();
	char text[VERIFY_CASE_TEXT];
	unsigned int i;

	for (i = 0; i < r->n_unprotected; i++)
		json_array_append_new(unprotected,
				      json_string(verify_case(plan, &r->unprotected[i], text)));
	json_object_set_new(failures, "unprotected", unprotected);
	json_object_set_new(failures, "servers", verify_cases_json(&r->servers));
	json_object_update_new(object, json_pack(
		"{s:b s:s s:I s:O s:I s:I s:o}",
		"valid", !r->violations, "verdict", to_verify_verdict(r),
		"violation_count", (json_int_t)r->violations, "violations", lines->array,
		"addresses", (json_int_t)r->addresses,
		"unreachable", (json_int_t)r->unreachable, "failures", failures));
	json_dumpf(object, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
	putchar('\n');
	json_decref(object);
}

static void verify_print_cases(const char *what, const struct to_failure_cases *c)
{
	printf("  any one %s down: %" PRIu64 " of %" PRIu64 " cases covered, %" PRIu64 " not",
	       what, c->covered, c->covered + c->uncovered, c->uncovered);
	if (c->last_hops)
		printf("; %" PRIu64 " more take the port they lead to with them", c->last_hops);
	if (c->disconnected)
		printf("; %" PRIu64 " more leave no path", c->disconnected);
	putchar('\n');
}

static void verify_print(const struct to_plan *plan, const struct to_verify_report *r)
{
	char text[VERIFY_CASE_TEXT];
	unsigned int i;

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
	verify_print_cases("link", &r->links);
	verify_print_cases("server", &r->servers);
	if (!r->links.uncovered)
		return;
	printf("  NOT PROTECTED against every single link:\n");
	for (i = 0; i < r->n_unprotected && i < VERIFY_CASES; i++)
		printf("    %s\n", verify_case(plan, &r->unprotected[i], text));
	if (r->links.uncovered > i)
		printf("    and %" PRIu64 " more\n", r->links.uncovered - i);
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
		verify_print_json(plan, &report, &lines);
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
		"links up and with any single link or server down, and recomputes the figures. Prints "
		"a line per violation on standard error; exits with 1 if there is one. A plan that "
		"loses packets while one link is down, though a path remains, is valid, but not "
		"protected: the pairs are named, \"verdict\" is \"unprotected\", and the exit status 0.",
	.run = verify_run,
};
