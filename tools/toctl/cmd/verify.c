// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "assessment_print.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "format/plan_json.h"

#define VERIFY_LINES 100	/* one wrong link can break a million routes */

struct verify_args {
	struct to_words down;
};

/* Violations of a plan, as they are found. */
struct verify_lines {
	const struct to_call *call;
	json_t *array;			/* of the lines, for --json */
	unsigned long n;		/* lines found */
	struct to_progress progress;
};

static void verify_line(void *data, const char *line)
{
	struct verify_lines *lines = data;

	if (lines->n++ >= VERIFY_LINES)
		return;
	if (lines->call->json) {
		json_array_append_new(lines->array, json_string(line));
	} else {
		to_progress_end(&lines->progress);
		fprintf(stderr, "toctl verify: %s: %s\n", lines->call->operands[0], line);
	}
}

static void verify_progress(void *data, unsigned int percent)
{
	struct verify_lines *lines = data;

	to_progress(&lines->progress, percent, 100);
}

/* @found: NULL when nothing is to be down */
static void verify_print_json(const struct to_plan *plan, const struct to_assessment *a,
			      json_t *violations, const struct to_down *down,
			      const struct to_verify_down *found)
{
	json_t *object = to_assessment_json(plan, a, violations);

	if (found)
		json_object_set_new(object, "down", to_verify_down_json(plan, down, found));
	to_json_write(object, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
	putchar('\n');
	json_decref(object);
}

static void verify_print(const struct to_call *call, const struct to_plan *plan,
			 const struct to_assessment *a, const struct to_down *down,
			 const struct to_verify_down *found)
{
	if (a->report.violations > VERIFY_LINES)
		fprintf(stderr, "toctl verify: %s: and %lu more\n", call->operands[0],
			a->report.violations - VERIFY_LINES);
	to_assessment_print(stdout, plan, a, call->verbose);
	if (found)
		to_assessment_print_down(stdout, plan, &a->report.figures, down, found);
	to_assessment_print_verdict(stdout, plan, a);
}

/* @down: what is to be down, nothing if it names nothing */
static int verify_check(struct to_call *call, const struct to_plan *plan, const struct to_down *down)
{
	struct verify_lines lines = { .call = call, .array = json_array() };
	struct to_verify_down found, *shown = NULL;
	struct to_assessment a;
	int ret = to_assessment_make(plan, verify_line, call->quiet ? NULL : verify_progress, &lines,
				     &a);

	to_progress_end(&lines.progress);
	if (ret) {
		json_decref(lines.array);
		return to_error_set(&call->err, ret, "out of memory");
	}
	/* nobody should apply an invalid plan, so there is no telling what it does then */
	if (down->n && !a.report.violations) {
		ret = to_verify_down(plan, down, &found);
		shown = &found;
	}
	if (ret)
		to_error_set(&call->err, ret, "out of memory");
	else if (call->json)
		verify_print_json(plan, &a, json_incref(lines.array), down, shown);
	else
		verify_print(call, plan, &a, down, shown);
	json_decref(lines.array);
	to_assessment_free(&a);
	return !ret && a.report.violations ? TO_EXIT_FAILURE : ret;
}

static int verify_run(struct to_call *call, const void *data)
{
	const struct verify_args *args = data;
	struct to_plan *plan = to_plan_load_shared(call->operands[0], &call->err);
	struct to_down down;
	int ret;

	if (!plan)
		return -EINVAL;
	ret = to_down_parse_all(&down, plan->cluster, args->down.list, args->down.n,
				call->operands[0], &call->err);
	if (!ret) {
		ret = verify_check(call, plan, &down);
		to_down_free(&down);
	}
	to_plan_free(plan);
	return ret;
}

static const struct to_option verify_options[] = {
	{ "down", 0, TO_OPTION_WORDS, offsetof(struct verify_args, down),
	  .argument = "SERVER[:PORT]",
	  .help = "also show what is lost while SERVER[:PORT] is down; repeat to combine failures" },
	{}
};

const struct to_command to_cmd_verify = {
	.name = "verify",
	.summary = "Verify a plan before applying it",
	.operands = "PLAN",
	.min_operands = 1,
	.max_operands = 1,
	.options = verify_options,
	.args_size = sizeof(struct verify_args),
	.run = verify_run,
};
