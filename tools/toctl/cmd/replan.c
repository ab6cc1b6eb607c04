// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "assessment_print.h"
#include "base/json.h"
#include "cli/command.h"
#include "data/cross_connects.h"
#include "format/plan_json.h"
#include "format/tm_json.h"
#include "moves.h"
#include "plan/repair.h"
#include "plan/replan.h"
#include "tm_samples.h"

/* Over 200 lines: it decides on traffic or on failures. */

struct replan_args {
	struct to_words down;
	const char *tm, *output;
	uint64_t horizon, dark, effort, seed;
	double threshold;
	bool incremental;
};

#define REPLAN_DARK_UNSAID UINT64_MAX

/* Where text goes: the new plan may be on standard output. */
static FILE *replan_out(const struct replan_args *args)
{
	return args->output && !strcmp(args->output, "-") ? stderr : stdout;
}

/* Prefix the error with the name of the file that it is about. */
static int replan_blame(struct to_call *call, const char *path, int ret)
{
	struct to_error why = call->err;

	return to_error_set(&call->err, ret, "%s: %.400s", path, why.text);
}

/* Print the figures of plan @then, and the cross-connects between @plan and @then to move by hand. */
static int replan_print_plan(struct to_call *call, FILE *out, const struct to_plan *plan,
			     const struct to_plan *then)
{
	struct to_cross_connect *cut, *made;
	struct to_assessment assessment;
	unsigned int n_cut, n_made;
	int ret = to_assessment_make(then, NULL, NULL, NULL, &assessment);

	if (ret)
		return to_error_set(&call->err, ret, "out of memory");
	to_assessment_print(out, then, &assessment, call->verbose);
	to_assessment_free(&assessment);
	ret = to_cross_connects_diff(plan, then, &cut, &n_cut, &made, &n_made);
	if (ret)
		return to_error_set(&call->err, ret, "out of memory");
	to_moves_print(out, plan->cluster, "cut", cut, n_cut);
	to_moves_print(out, plan->cluster, "make", made, n_made);
	free(cut);
	free(made);
	return 0;
}

/* Print @decision, a reference to which is taken over, with the cross-connects that change. */
static int replan_print_json(struct to_call *call, const struct to_plan *plan,
			     const struct to_plan *then, json_t *decision)
{
	struct to_cross_connect *cut, *made;
	unsigned int n_cut, n_made;
	int ret = to_cross_connects_diff(plan, then, &cut, &n_cut, &made, &n_made);

	if (!ret) {
		if (json_object_set_new(decision, "cut", to_moves_json(plan->cluster, cut, n_cut)) ||
		    json_object_set_new(decision, "made", to_moves_json(plan->cluster, made, n_made)) ||
		    to_json_write(decision, stdout, JSON_INDENT(2) | JSON_SORT_KEYS))
			ret = -ENOMEM;
		else
			putchar('\n');
		free(cut);
		free(made);
	}
	json_decref(decision);
	return ret ? to_error_set(&call->err, ret, "out of memory") : 0;
}

static int replan_decide(struct to_call *call, const struct replan_args *args,
			 const struct to_plan *plan, const struct to_traffic *traffic)
{
	const struct to_replan_options options = {
		.horizon = args->horizon * 1e-9, .threshold = args->threshold,
		.dark = args->dark == REPLAN_DARK_UNSAID ? -1 : args->dark * 1e-9,
		.effort = args->effort, .seed = args->seed,
		.topology_finder = !args->incremental, .predict = true };
	struct to_replan_result result;
	FILE *out = replan_out(args);
	int ret = to_replan(plan, traffic, &options, &result, &call->err);

	if (ret)
		return replan_blame(call, call->operands[0], ret);
	if (args->output)
		ret = to_plan_save(result.plan ? result.plan : plan, args->output, &call->err);
	if (!ret && call->json) {
		ret = replan_print_json(call, plan, result.plan ? result.plan : plan,
					to_replan_json(&result));
	} else if (!ret) {
		fprintf(out, "%s: %s\n", to_replan_action_names[result.action], result.reason);
		if (result.plan)
			ret = replan_print_plan(call, out, plan, result.plan);
		if (!ret && call->verbose)
			to_replan_print_choices(out, &result);
	}
	to_plan_free(result.plan);
	return ret;
}

static int replan_traffic(struct to_call *call, const struct replan_args *args,
			  const struct to_plan *plan)
{
	struct to_tm *tm = to_tm_load(args->tm, &call->err);
	struct to_traffic traffic = { 0 };
	int ret = tm ? to_traffic_of(tm, plan, &traffic, &call->err) : -EINVAL;

	if (tm && ret)
		ret = replan_blame(call, args->tm, ret);
	if (!ret)	/* incomplete samples did not count: warn of them */
		ret = to_tm_samples_complete(call, tm, args->tm);
	if (!ret)
		ret = replan_decide(call, args, plan, &traffic);
	to_traffic_free(&traffic);
	to_tm_free(tm);
	return ret;
}

/* Make by hand the plan that toctl run makes when it sees ports without light. */
static int replan_down(struct to_call *call, const struct replan_args *args,
		       const struct to_plan *plan)
{
	FILE *out = replan_out(args);
	struct to_repair repair;
	struct to_down down;
	json_t *json;
	int ret = to_down_parse_all(&down, plan->cluster, args->down.list, args->down.n,
				    call->operands[0], &call->err);

	if (ret)
		return ret;
	ret = to_repair_plan(plan, &down, args->effort, &repair, &call->err);
	to_down_free(&down);
	if (ret)
		return replan_blame(call, call->operands[0], ret);
	if (args->output)
		ret = to_plan_save(repair.plan, args->output, &call->err);
	if (!ret && call->json) {
		json = to_repair_json(&repair);
		json_object_set_new(json, "action", json_string("repair"));
		ret = replan_print_json(call, plan, repair.plan, json);
	} else if (!ret) {
		to_repair_print(out, &repair);
		ret = replan_print_plan(call, out, plan, repair.plan);
	}
	to_repair_free(&repair);
	return ret;
}

static int replan_run(struct to_call *call, const void *data)
{
	const struct replan_args *args = data;
	struct to_plan *plan;
	int ret;

	if (call->json && args->output && !strcmp(args->output, "-"))
		return to_usage(call, "plan and decision cannot both go to standard output: give -o FILE");
	if (!args->tm == !args->down.n)
		return to_usage(call, args->tm ? "--down goes without --tm" :
						 "--tm or --down is required");
	if (args->threshold < 0 || args->threshold >= 1)
		return to_usage(call, "--threshold is a share, from 0 to below 1");
	plan = to_plan_load_shared(call->operands[0], &call->err);
	if (!plan)
		return -EINVAL;
	ret = args->tm ? replan_traffic(call, args, plan) : replan_down(call, args, plan);
	to_plan_free(plan);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct replan_args, field)

static const struct to_option replan_options[] = {
	{ "tm", 0, TO_OPTION_STRING, FIELD(tm), .argument = "FILE",
	  .help = "measured traffic matrix of the fabric, from toctl tm merge" },
	{ "down", 0, TO_OPTION_WORDS, FIELD(down), .argument = "SERVER[:PORT]",
	  .help = "server, port or packet switch that is down, instead of --tm; may be repeated" },
	{ "output", 'o', TO_OPTION_OUTPUT, FIELD(output), .argument = "FILE",
	  .help = "plan to use next: the new one, or a copy of the old one; default: none is written" },
	{ "horizon", 0, TO_OPTION_DURATION, FIELD(horizon), .argument = "TIME",
	  .min = 1, .max = INT64_MAX,
	  .help = "how long the traffic is expected to stay as measured; default: 10s" },
	{ "threshold", 0, TO_OPTION_REAL, FIELD(threshold), .argument = "SHARE",
	  .help = "share of the communication time that a change must save; default: 0.05" },
	{ "dark", 0, TO_OPTION_DURATION, FIELD(dark), .argument = "TIME", .max = INT64_MAX,
	  .help = "how long links are dark in a step; default: reconfiguration_ns of the switches" },
	{ "incremental", 0, TO_OPTION_FLAG, FIELD(incremental),
	  .help = "skip TopologyFinder, which takes most of the time" },
	{ "effort", 'e', TO_OPTION_NUMBER, FIELD(effort), .argument = "E",
	  .min = TO_EFFORT_MIN, .max = TO_EFFORT_MAX,
	  .help = "1 to 9; each step doubles the time; default: 5" },
	{ "seed", 's', TO_OPTION_NUMBER, FIELD(seed), .argument = "S", .max = INT64_MAX,
	  .help = "random seed; same seed, same plan; default: 1" },
	{}
};

const struct to_command to_cmd_replan = {
	.name = "replan",
	.summary = "Decide whether traffic justifies another plan",
	.operands = "PLAN",
	.min_operands = 1,
	.max_operands = 1,
	.options = replan_options,
	.args_size = sizeof(struct replan_args),
	.defaults = &(const struct replan_args){
		.horizon = 10000000000, .threshold = 0.05, .dark = REPLAN_DARK_UNSAID,
		.effort = TO_EFFORT_DEFAULT, .seed = 1 },
	.run = replan_run,
};
