// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/command.h"
#include "tm_samples.h"
#include "data/cross_connects.h"
#include "format/plan_json.h"
#include "format/tm_json.h"
#include "moves.h"
#include "plan/repair.h"
#include "plan/replan.h"

struct replan_args {
	struct to_words down;
	const char *tm, *plan, *output;
	uint64_t horizon, dark, samples, effort, seed;
	double threshold;
	int discount;
	bool incremental, exit_code;
};

#define REPLAN_DARK_UNSAID UINT64_MAX

/* Exit statuses with --exit-code; keep is 0. */
enum { REPLAN_EXIT_REROUTE = 3, REPLAN_EXIT_REWIRE };

static int replan_print(FILE *out, const struct to_plan *plan, const struct to_replan_result *r)
{
	struct to_cross_connect *cut, *made;
	unsigned int n_cut, n_made;
	int ret;

	unsigned int i;

	fprintf(out, "%s: %s\n", to_replan_action_names[r->action], r->reason);
	fprintf(out, "%.6g bytes in %.6g s\n\n", r->bytes, r->seconds);
	fprintf(out, "   %-16s %12s %5s %5s %5s %9s %9s %9s %9s %9s\n", "links and routes",
		"comm ms", "cut", "made", "steps", "dark ms", "lost ms", "gain ms", "net ms",
		"payback s");
	for (i = 0; i < r->n_choices; i++) {
		const struct to_replan_choice *c = &r->choices[i];

		fprintf(out, " %c %-16s %11.4g%c %5u %5u %5u %9.4g %9.4g %9.4g %9.4g ",
			i == r->chosen ? '*' : ' ', to_replan_source_names[c->source],
			1e3 * c->comm_time, c->estimated ? '~' : ' ', c->cut, c->made, c->steps,
			1e3 * c->dark, 1e3 * c->lost, 1e3 * c->gain, 1e3 * c->net);
		if (isfinite(c->payback))
			fprintf(out, "%9.4g\n", c->payback);
		else
			fprintf(out, "%9s\n", "never");
	}
	for (i = 0; i < r->n_none; i++)
		fprintf(out, "   %-16s none: %s\n", to_replan_source_names[r->none[i].source],
			r->none[i].why.text);
	ret = to_cross_connects_diff(plan, r->plan ? r->plan : plan, &cut, &n_cut, &made, &n_made);
	if (ret)
		return ret;
	to_moves_print(out, plan->cluster, "cut", cut, n_cut);
	to_moves_print(out, plan->cluster, "make", made, n_made);
	free(cut);
	free(made);
	return 0;
}

/* The decision, and the cross-connects that it changes. Return: 0 or -ENOMEM. */
static int replan_print_json(const struct to_plan *plan, const struct to_replan_result *r)
{
	const struct to_plan *then = r->plan ? r->plan : plan;
	struct to_cross_connect *cut, *made;
	unsigned int n_cut, n_made;
	json_t *json = to_replan_json(r);
	int ret = to_cross_connects_diff(plan, then, &cut, &n_cut, &made, &n_made);

	if (ret) {
		json_decref(json);
		return ret;
	}
	if (!json ||
	    json_object_set_new(json, "cut", to_moves_json(plan->cluster, cut, n_cut)) ||
	    json_object_set_new(json, "made", to_moves_json(plan->cluster, made, n_made)) ||
	    json_dumpf(json, stdout, JSON_INDENT(2) | JSON_SORT_KEYS))
		ret = -ENOMEM;
	else
		putchar('\n');
	json_decref(json);
	free(cut);
	free(made);
	return ret;
}

/* Prefix the error with the name of the file it is about. */
static int replan_blame(struct to_call *call, const char *path, int ret)
{
	struct to_error why = call->err;

	return to_error_set(&call->err, ret, "%s: %.400s", path, why.text);
}

static int replan_decide(struct to_call *call, const struct replan_args *args,
			 const struct to_plan *plan, const struct to_traffic *traffic)
{
	const struct to_replan_options options = {
		.horizon = args->horizon * 1e-9, .threshold = args->threshold,
		.dark = args->dark == REPLAN_DARK_UNSAID ? -1 : args->dark * 1e-9,
		.discount = args->discount, .effort = args->effort, .seed = args->seed,
		.topology_finder = !args->incremental, .predict = true };
	bool plan_out = args->output && !strcmp(args->output, "-");
	struct to_replan_result result;
	int ret = to_replan(plan, traffic, &options, &result, &call->err);

	if (ret)
		return replan_blame(call, args->plan, ret);
	if (args->output)
		ret = to_plan_save(result.plan ? result.plan : plan, args->output, &call->err);
	if (!ret && call->json)
		ret = replan_print_json(plan, &result);
	else if (!ret)
		ret = replan_print(plan_out ? stderr : stdout, plan, &result);
	if (!ret && args->exit_code && result.action != TO_REPLAN_KEEP)
		ret = result.action == TO_REPLAN_REWIRE ? REPLAN_EXIT_REWIRE : REPLAN_EXIT_REROUTE;
	to_plan_free(result.plan);
	return ret;
}

static int replan_down_print(FILE *out, const struct to_plan *plan, const struct to_repair *r)
{
	const struct to_figures *figures[] = { &r->before, &r->after };
	char time[16], load[16];
	struct to_cross_connect *cut, *made;
	unsigned int n_cut, n_made;
	int ret = to_cross_connects_diff(plan, r->plan, &cut, &n_cut, &made, &n_made);

	if (ret)
		return ret;
	fprintf(out, "repair: %u dark link%s, %u moved to other ports; rings: %s\n",
		r->dark, r->dark == 1 ? "" : "s", r->moved, to_repair_rings_names[r->rings]);
	if (r->n_cut_off) {
		fprintf(out, "cut off:");
		for (unsigned int s = 0; s < plan->cluster->n_servers; s++)
			if (r->cut_off[s])
				fprintf(out, " %s", plan->cluster->servers[s].name);
		fprintf(out, "\n");
	}
	fprintf(out, "\n   %-8s %13s %13s %9s\n", "", "communication", "busiest link", "hops");
	for (unsigned int i = 0; i < 2; i++)
		fprintf(out, "   %-8s %13s %13s %9.3g\n", i ? "after" : "before",
			to_seconds_text(figures[i]->comm_time, time),
			to_bytes_text(figures[i]->max_link_load, load), figures[i]->mean_hops);
	to_moves_print(out, plan->cluster, "cut", cut, n_cut);
	to_moves_print(out, plan->cluster, "make", made, n_made);
	free(cut);
	free(made);
	return 0;
}

static int replan_down_print_json(const struct to_plan *plan, const struct to_repair *r)
{
	struct to_cross_connect *cut, *made;
	unsigned int n_cut, n_made;
	json_t *json = to_repair_json(r);
	int ret = to_cross_connects_diff(plan, r->plan, &cut, &n_cut, &made, &n_made);

	if (ret) {
		json_decref(json);
		return ret;
	}
	if (json_object_set_new(json, "action", json_string("repair")) ||
	    json_object_set_new(json, "cut", to_moves_json(plan->cluster, cut, n_cut)) ||
	    json_object_set_new(json, "made", to_moves_json(plan->cluster, made, n_made)) ||
	    json_dumpf(json, stdout, JSON_INDENT(2) | JSON_SORT_KEYS))
		ret = -ENOMEM;
	else
		putchar('\n');
	json_decref(json);
	free(cut);
	free(made);
	return ret;
}

static int replan_down_make(struct to_call *call, const struct replan_args *args,
			    const struct to_plan *plan, const struct to_down *down)
{
	const bool plan_out = args->output && !strcmp(args->output, "-");
	struct to_repair repair;
	int ret = to_repair_plan(plan, down, args->effort, &repair, &call->err);

	if (ret)
		return replan_blame(call, args->plan, ret);
	if (args->output)
		ret = to_plan_save(repair.plan, args->output, &call->err);
	if (!ret && call->json)
		ret = replan_down_print_json(plan, &repair);
	else if (!ret)
		ret = replan_down_print(plan_out ? stderr : stdout, plan, &repair);
	if (!ret && args->exit_code && repair.dark)
		ret = repair.moved ? REPLAN_EXIT_REWIRE : REPLAN_EXIT_REROUTE;
	to_repair_free(&repair);
	return ret;
}

/* By hand what toctl run does when it sees ports without light. */
static int replan_down(struct to_call *call, const struct replan_args *args)
{
	struct to_plan *plan = to_plan_load_shared(args->plan, &call->err);
	struct to_down down;
	int ret;

	if (!plan)
		return -EINVAL;
	ret = to_down_init(&down, plan->cluster);
	if (ret)
		to_error_set(&call->err, ret, "out of memory");
	for (unsigned int i = 0; !ret && i < args->down.n; i++) {
		ret = to_down_parse(&down, plan->cluster, args->down.list[i], &call->err);
		if (ret)
			ret = replan_blame(call, args->plan, ret);
	}
	if (!ret)
		ret = replan_down_make(call, args, plan, &down);
	to_down_free(&down);
	to_plan_free(plan);
	return ret;
}

static int replan_run(struct to_call *call, const void *data)
{
	const struct replan_args *args = data;
	struct to_traffic traffic = { 0 };
	struct to_plan *plan;
	struct to_tm *tm;
	int ret;

	if (call->json && args->output && !strcmp(args->output, "-"))
		return to_usage(call, "plan and decision cannot both go to standard output: give -o FILE");
	if (!args->tm == !args->down.n)
		return to_usage(call, args->tm ? "--down goes without --tm" :
						 "--tm or --down is required");
	if (args->down.n)
		return replan_down(call, args);
	if (args->threshold < 0 || args->threshold >= 1)
		return to_usage(call, "--threshold is a share, from 0 to below 1");
	plan = to_plan_load_shared(args->plan, &call->err);
	if (!plan)
		return -EINVAL;
	tm = to_tm_load(args->tm, &call->err);
	ret = tm ? to_traffic_of(tm, plan, args->samples, &traffic, &call->err) : -EINVAL;
	if (tm && ret)
		ret = replan_blame(call, args->tm, ret);
	if (!ret)	/* they did not count: say so */
		ret = to_tm_samples_complete(tm, args->tm, "replan", &call->err);
	if (!ret)
		ret = replan_decide(call, args, plan, &traffic);
	to_traffic_free(&traffic);
	to_tm_free(tm);
	to_plan_free(plan);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct replan_args, field)

static const struct to_option replan_options[] = {
	{ "tm", 't', TO_OPTION_STRING, FIELD(tm), .argument = "FILE",
	  .help = "measured traffic matrix of the fabric, from toctl tm merge" },
	{ "down", 0, TO_OPTION_WORDS, FIELD(down), .argument = "SERVER[:PORT]",
	  .help = "a server, a port or a packet switch that is down, instead of --tm; may be given "
		  "more than once" },
	{ "plan", 'p', TO_OPTION_STRING, FIELD(plan), .required = true, .argument = "FILE",
	  .help = "the plan in force" },
	{ "output", 'o', TO_OPTION_OUTPUT, FIELD(output), .argument = "FILE",
	  .help = "where to write the plan to use from now on, the old one when it is kept; "
		  "default: nowhere" },
	{ "horizon", 0, TO_OPTION_DURATION, FIELD(horizon), .argument = "TIME",
	  .min = 1, .max = INT64_MAX,
	  .help = "how long the traffic is expected to stay as measured; default: 10s" },
	{ "threshold", 0, TO_OPTION_REAL, FIELD(threshold), .argument = "SHARE",
	  .help = "share of the communication time that a change must save; default: 0.05" },
	{ "dark", 0, TO_OPTION_DURATION, FIELD(dark), .argument = "TIME", .max = INT64_MAX,
	  .help = "how long links are dark in a step; default: reconfiguration_ns of the switches" },
	{ "samples", 0, TO_OPTION_NUMBER, FIELD(samples), .argument = "N",
	  .min = 1, .max = UINT32_MAX, .help = "use the last N samples only, of those that lack no server's part; default: all" },
	{ "discount", 0, TO_OPTION_CHOICE, FIELD(discount), .argument = "HOW",
	  .choices = to_discount_names,
	  .help = "how Algorithm 5 discounts further links between the same two servers; "
		  "default: exponential" },
	{ "incremental", 'i', TO_OPTION_FLAG, FIELD(incremental),
	  .help = "skip TopologyFinder, which takes most of the time" },
	{ "effort", 'e', TO_OPTION_NUMBER, FIELD(effort), .argument = "E",
	  .min = TO_EFFORT_MIN, .max = TO_EFFORT_MAX,
	  .help = "1 to 9: better plans for more time, which each step doubles; default: 5" },
	{ "seed", 's', TO_OPTION_NUMBER, FIELD(seed), .argument = "S", .max = INT64_MAX,
	  .help = "random seed; same seed, same plan; default: 1" },
	{ "exit-code", 0, TO_OPTION_FLAG, FIELD(exit_code),
	  .help = "exit with 3 for new routes on the same links, with 4 for new links" },
	{}
};

const struct to_command to_cmd_replan = {
	.name = "replan",
	.summary = "Decide whether traffic justifies another plan",
	.options = replan_options,
	.args_size = sizeof(struct replan_args),
	.defaults = &(const struct replan_args){
		.horizon = 10000000000, .threshold = 0.05, .dark = REPLAN_DARK_UNSAID,
		.effort = TO_EFFORT_DEFAULT, .seed = 1 },
	.run = replan_run,
};
