// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "control/run_log.h"
#include "control/transition.h"
#include "data/allreduce.h"
#include "fabric_options.h"
#include "format/plan_json.h"
#include "format/tm_json.h"
#include "measure/shift.h"
#include "plan/replan.h"

#define RUN_RETRY_S 1
#define RUN_RETRY_MAX_S 30

struct run_args {
	const char *plan, *log, *replay;
	bool dry_run;
	uint64_t interval_ns, horizon_ns, carrier_ns, confirm, idle_bps;
	struct to_shift_config shift;
	struct to_fabric_options fabric;
};

/**
 * struct run - a controller at work
 * @next_path: where the plan is while the fabric is on its way to it
 * @first: the plan at the start, whose servers and switches are referred to
 * @plan: in force
 * @next: owned; the fabric may be anywhere on the way from @plan to it, NULL
 *	when it is not on its way
 * @onset_ns: CLOCK_REALTIME; start of the interval in which the traffic was
 *	first new
 * @committed_ns: CLOCK_REALTIME; when all servers had last committed
 * @broken: the fabric is not as @plan says
 * @unknown: why there is no matrix; empty when there is
 * @n_missing: servers that gave no recording of the last interval; before the
 *	first, UINT_MAX
 * @n_intervals, @n_changes: so far
 */
struct run {
	const struct run_args *args;
	struct to_run_log log;
	char *next_path;
	struct to_plan *first, *plan, *next;
	struct to_fabric *fabric;
	struct to_switch_set switches;
	struct to_transition transition;
	struct to_shift shift;
	uint64_t *bytes, onset_ns, committed_ns;
	double *mean;
	bool broken;
	struct to_error unknown;
	unsigned int n_missing;
	uint64_t n_intervals, n_changes;
};

static volatile sig_atomic_t run_stop;

static void run_signal(int signal)
{
	(void)signal;
	run_stop = 1;
}

static uint64_t run_now(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static size_t run_cells(const struct run *run)
{
	return (size_t)run->plan->cluster->n_servers * run->plan->cluster->n_servers;
}

/* ---- the fabric as the plan says ---- */

static void run_step(void *data, enum to_transition_step step, double seconds,
		     const char *error, const char *note)
{
	const char *name = to_transition_step_names[step];
	struct run *run = data;
	json_t *fields = json_pack("{s:s, s:f, s:b}", "step", name, "ms", seconds * 1e3,
				   "ok", !error);

	if (step == TO_TRANSITION_COMMIT && !error)
		run->committed_ns = run_now(CLOCK_REALTIME);
	if (error)
		json_object_set_new(fields, "error", json_string(error));
	if (note)
		json_object_set_new(fields, "note", json_string(note));
	to_run_log(&run->log, "step", fields, "  %-8s %8.1f ms%s%s", name, seconds * 1e3,
		   error || note ? "  " : "", error ? error : note ? note : "");
}

/* To run->plan; what fails is tried again by the caller. */
static void run_restore(struct run *run, const char *why)
{
	uint64_t start = run_now(CLOCK_MONOTONIC);
	struct to_error err = { 0 };
	bool changed = false;
	int ret = to_transition_restore(&run->transition, run->next, run->plan, &changed, &err);
	double ms = (run_now(CLOCK_MONOTONIC) - start) * 1e-6;

	run->broken = ret;
	if (!ret) {
		unlink(run->next_path);
		to_plan_free(run->next);
		run->next = NULL;
	}
	to_run_log(&run->log, "restored",
		   json_pack("{s:s, s:b, s:b, s:f, s:s*}", "why", why, "ok", !ret, "changed",
			     changed, "ms", ms, "error", ret ? err.text : NULL),
		   ret ? "%s: NOT as planned, to be tried again: %s" : "%s: %s", why,
		   ret ? err.text : changed ? "brought to the plan" : "all is as planned");
}

/* The plan in force becomes @plan, which is taken over. */
static void run_take(struct run *run, struct to_plan *plan)
{
	if (run->plan != run->first)
		to_plan_free(run->plan);
	run->plan = plan;
}

/* After a controller that ended in the middle: the change is whole, or undone. */
static void run_recover(struct run *run)
{
	struct to_error err = { 0 };

	if (access(run->next_path, F_OK)) {
		run_restore(run, "start");
		return;
	}
	run->next = to_plan_load(run->next_path, &err);
	if (run->next && to_transition_at(&run->transition, run->next, &err) == 1 &&
	    !rename(run->next_path, run->args->plan)) {
		run_take(run, run->next);
		run->next = NULL;
		run_restore(run, "change found complete");
		return;
	}
	run_restore(run, "unfinished change undone");
}

static int run_open(struct run *run, struct to_error *err)
{
	struct to_error none = { 0 };
	int ret;

	run->fabric = to_fabric_open(run->plan, &run->args->fabric, err);
	if (!run->fabric)
		return -EIO;
	run->transition = (struct to_transition){
		.fabric = run->fabric, .carrier_ns = run->args->carrier_ns, .stop = &run_stop,
		.report = run_step, .data = run,
	};
	if (run->args->dry_run)
		return 0;
	/* Without optical switches there are still routes to change. */
	ret = to_switch_set_open(&run->switches, run->plan->cluster, &none);
	if (!ret)
		run->transition.switches = &run->switches;
	else if (ret != -ENOENT)
		return to_error_set(err, ret, "%s", none.text);
	run_recover(run);
	return 0;
}

/* ---- decide and act ---- */

/* Return: whether the fabric runs @next, which is taken over. */
static bool run_change(struct run *run, const char *action, struct to_plan *next)
{
	uint64_t decided = run_now(CLOCK_REALTIME), generation = 0;
	struct to_error err = { 0 };
	double shift, since;
	int ret = to_plan_save(next, run->next_path, &err);

	if (ret) {
		to_run_log(&run->log, "refused", json_pack("{s:s}", "error", err.text),
			   "cannot change: %s", err.text);
		to_plan_free(next);
		return false;
	}
	run->next = next;
	ret = to_transition_make(&run->transition, run->plan, next, &err);
	if (!ret && rename(run->next_path, run->args->plan))
		ret = to_error_set(&err, -errno, "%s: %s", run->args->plan, strerror(errno));
	if (ret) {
		run_restore(run, err.text);
		return false;
	}
	run->next = NULL;
	shift = (run->committed_ns - run->onset_ns) * 1e-6;
	since = (run_now(CLOCK_REALTIME) - decided) * 1e-6;
	to_fabric_generation(run->fabric, &generation, &err);
	to_run_log(&run->log, "changed",
		   json_pack("{s:s, s:I, s:f, s:f}", "action", action, "generation",
			     (json_int_t)generation, "shift_ms", shift, "ms", since),
		   "%s done: generation %" PRIu64 " on all servers, committed %.1f ms after the traffic shifted, verified %.1f ms after the decision",
		   action, generation, shift, since);
	run_take(run, next);
	return true;
}

static void run_decide(struct run *run, enum to_shift_verdict verdict)
{
	struct to_replan_options options = TO_REPLAN_DEFAULTS;
	struct to_traffic traffic = {
		.n = run->plan->cluster->n_servers, .bytes = run->bytes, .seconds = 1,
	};
	const char *kind = to_shift_verdict_names[verdict], *action;
	uint64_t start = run_now(CLOCK_MONOTONIC);
	struct to_replan_result result;
	struct to_error err = { 0 };
	bool changed = false;
	double ms;

	to_run_log(&run->log, "shift",
		   json_pack("{s:s, s:f, s:f}", "kind", kind, "new", run->shift.novelty,
			     "distance", run->shift.distance),
		   "the traffic shifted (%s): %.0f %% of the last interval is new, the mean is %.0f %% from the plan's",
		   kind, run->shift.novelty * 100, run->shift.distance * 100);
	to_shift_mean(&run->shift, run->mean);
	for (size_t i = 0; i < run_cells(run); i++)
		run->bytes[i] = run->mean[i];
	options.horizon = run->args->horizon_ns * 1e-9;
	if (to_replan(run->plan, &traffic, &options, &result, &err)) {
		to_run_log(&run->log, "refused", json_pack("{s:s}", "error", err.text),
			   "cannot replan: %s", err.text);
		to_shift_decided(&run->shift, false);
		return;
	}
	action = to_replan_action_names[result.action];
	ms = (run_now(CLOCK_MONOTONIC) - start) * 1e-6;
	to_run_log(&run->log, "decision",
		   json_pack("{s:s, s:s, s:f, s:b, s:o}", "action", action, "reason",
			     result.reason, "ms", ms, "dry_run", run->args->dry_run, "replan",
			     to_replan_json(&result)),
		   "decision: %s%s: %s (%.1f ms)", action,
		   run->args->dry_run && result.plan ? " (dry run)" : "", result.reason, ms);
	if (result.plan && run->args->dry_run) {
		run_take(run, result.plan);
		changed = true;
	} else if (result.plan) {
		changed = run_change(run, action, result.plan);
	}
	run->n_changes += changed;
	to_shift_decided(&run->shift, changed);
}

static void run_observe(struct run *run, const struct to_tm *tm, unsigned int sample)
{
	const struct to_tm_sample *interval = &tm->samples[sample];
	enum to_shift_verdict verdict;

	run->n_intervals++;
	to_tm_matrix(tm, sample, -1, TO_TM_ALL, run->bytes);
	if (!run->shift.n_fresh)
		run->onset_ns = interval->start_ns;
	verdict = to_shift_observe(&run->shift, run->bytes, interval->elapsed_ns);
	if (verdict == TO_SHIFT_STEP || verdict == TO_SHIFT_DRIFT)
		run_decide(run, verdict);
}

/* ---- the loop ---- */

/* Says so when servers are missing, with the first reason given, and when all are there. */
static void run_note_missing(struct run *run, const struct to_tm *tm)
{
	const struct to_fabric_server *servers = to_fabric_servers(run->fabric);
	json_t *names = json_array();
	unsigned int missing = 0;
	struct to_error why = {};
	char text[256] = "";

	for (unsigned int s = 0; tm->missing && s < tm->n_servers; s++) {
		if (!tm->missing[s])
			continue;
		missing++;
		json_array_append_new(names, json_string(tm->servers[s]));
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " %s", tm->servers[s]);
		if (!why.text[0] && servers[s].error[0])
			to_error_set(&why, 0, "%s: %s", servers[s].name, servers[s].error);
	}
	if (missing != run->n_missing)
		to_run_log(&run->log, "missing",
			   json_pack("{s:O, s:s*}", "servers", names,
				     "error", why.text[0] ? why.text : NULL),
			   missing ? "no traffic is known of:%s%s%s" : "all servers count%s%s%s",
			   text, why.text[0] ? "; " : "", why.text);
	json_decref(names);
	run->n_missing = missing;
}

/* Return: whether there was a matrix. */
static bool run_interval(struct run *run)
{
	struct to_error err = { 0 };
	struct to_tm *tm = NULL;

	if (to_fabric_sample(run->fabric, run->args->interval_ns, &tm, &err)) {
		if (!run_stop && strcmp(err.text, run->unknown.text))
			to_run_log(&run->log, "refused", json_pack("{s:s}", "error", err.text),
				   "no traffic is known: %s", err.text);
		run->unknown = err;
		return false;
	}
	run->unknown.text[0] = '\0';
	run_note_missing(run, tm);
	/* A part of the matrix would look like a shift. */
	if (run->n_missing)
		to_fabric_status(run->fabric, &err);
	else
		run_observe(run, tm, 0);
	to_tm_free(tm);
	return true;
}

/* A signal ends it early. */
static void run_pause(unsigned int seconds)
{
	const struct timespec time = { .tv_sec = seconds };

	if (!run_stop)
		nanosleep(&time, NULL);
}

/* Every attempt is a plan for all servers, so they get ever rarer. */
static void run_mend(struct run *run)
{
	unsigned int pause = RUN_RETRY_S;

	while (run->broken && !run_stop) {
		run_pause(pause);
		if (!run_stop)
			run_restore(run, "again");
		pause = 2 * pause < RUN_RETRY_MAX_S ? 2 * pause : RUN_RETRY_MAX_S;
	}
}

static void run_live(struct run *run)
{
	while (!run_stop) {
		run_mend(run);
		if (!run_stop && !run_interval(run) && !run->broken)
			run_pause(RUN_RETRY_S);
	}
}

static int run_replay(struct run *run, const struct to_tm *tm, struct to_error *err)
{
	struct to_error why = { 0 };
	int ret = to_tm_check_fabric(tm, run->plan->cluster, &why);

	if (ret)
		return to_error_set(err, ret, "%s: %.400s", run->args->replay, why.text);
	/* As live: a part of the matrix would look like a shift. */
	for (unsigned int i = 0; i < tm->n_samples && !run_stop; i++)
		if (!tm->samples[i].absent)
			run_observe(run, tm, i);
	return 0;
}

/* What the plan was made for: transfers, and AllReduce over its rings and trees. */
static int run_init_shift(struct run *run)
{
	const struct to_demand *demand = run->plan->demand;
	const struct to_rings rings = to_allreduce_of(run->plan);
	struct to_shift_config config = run->args->shift;

	config.confirm = run->args->confirm;
	config.idle = run->args->idle_bps / 8.0;
	run->bytes = calloc(run_cells(run), sizeof(*run->bytes));
	run->mean = calloc(run_cells(run), sizeof(*run->mean));
	if (!run->bytes || !run->mean)
		return -ENOMEM;
	memcpy(run->bytes, demand->mp, run_cells(run) * sizeof(*run->bytes));
	to_allreduce_add(&rings, true, 1, run->bytes);
	for (size_t i = 0; i < run_cells(run); i++)
		run->mean[i] = run->bytes[i];
	return to_shift_init(&run->shift, &config, demand->n, run->mean);
}

static void run_close(struct run *run)
{
	to_fabric_close(run->fabric);
	to_transition_free(&run->transition);
	if (run->transition.switches)
		to_switch_set_close(&run->switches);
	to_shift_free(&run->shift);
	free(run->bytes);
	free(run->mean);
	free(run->next_path);
	to_run_log_close(&run->log);
	if (run->plan != run->first)
		to_plan_free(run->plan);
	to_plan_free(run->first);
	to_plan_free(run->next);
}

static int run_start(struct run *run, struct to_call *call)
{
	const struct run_args *args = run->args;
	struct to_tm *tm = NULL;
	int ret;

	run->plan = run->first = to_plan_load(args->plan, &call->err);
	if (!run->plan)
		return -EINVAL;
	if (asprintf(&run->next_path, "%s.next", args->plan) < 0) {
		run->next_path = NULL;
		return to_error_set(&call->err, -ENOMEM, "out of memory");
	}
	ret = to_run_log_open(&run->log, args->log, call->json, &call->err);
	if (ret)
		return ret;
	if (args->replay) {
		tm = to_tm_load(args->replay, &call->err);
		if (!tm)
			return -EINVAL;
	}
	to_run_log(&run->log, "start",
		   json_pack("{s:s, s:i, s:f, s:b}", "plan", args->plan, "servers",
			     (int)run->plan->cluster->n_servers, "interval_ms",
			     args->interval_ns * 1e-6, "dry_run", args->dry_run || tm),
		   "%s: %u servers, intervals of %g ms%s", args->plan,
		   run->plan->cluster->n_servers, args->interval_ns * 1e-6,
		   args->dry_run ? ", dry run" : "");
	if (!tm)
		ret = run_open(run, &call->err);
	if (!ret && run_init_shift(run))
		ret = to_error_set(&call->err, -ENOMEM, "out of memory");
	if (!ret && tm)
		ret = run_replay(run, tm, &call->err);
	else if (!ret)
		run_live(run);
	to_tm_free(tm);
	if (!ret)
		to_run_log(&run->log, "end",
			   json_pack("{s:b, s:I, s:I}", "as_planned", !run->broken, "intervals",
				     (json_int_t)run->n_intervals, "changes",
				     (json_int_t)run->n_changes),
			   "end after %" PRIu64 " intervals and %" PRIu64 " changes%s",
			   run->n_intervals, run->n_changes,
			   run->broken ? ", the fabric is NOT as planned" : "");
	return ret ? ret : run->broken ? TO_EXIT_FAILURE : 0;
}

static int run_run(struct to_call *call, const void *data)
{
	const struct sigaction action = { .sa_handler = run_signal };
	struct run_args args = *(const struct run_args *)data;
	struct run run = { .args = &args, .n_missing = UINT_MAX };
	int ret;

	if (args.shift.threshold <= 0 || args.shift.threshold >= 1)
		return to_usage(call, "--threshold is a share of the traffic, between 0 and 1");
	args.dry_run |= !!args.replay;
	if (args.fabric.etcd.endpoints)
		args.fabric.command = NULL;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	ret = run_start(&run, call);
	run_close(&run);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct run_args, field)

static const struct to_option run_options[] = {
	{ "plan", 'p', TO_OPTION_STRING, FIELD(plan), true, "FILE",
	  .help = "plan in force; replaced when it changes" },
	{ "dry-run", 0, TO_OPTION_FLAG, FIELD(dry_run),
	  .help = "log decisions, as if they were carried out; change nothing" },
	{ "replay", 0, TO_OPTION_STRING, FIELD(replay), .argument = "FILE",
	  .help = "take the traffic from a merged tm.json, not from a fabric; implies --dry-run" },
	{ "log", 'l', TO_OPTION_STRING, FIELD(log), .argument = "FILE",
	  .help = "append JSON lines to FILE" },
	{ "interval", 'i', TO_OPTION_DURATION, FIELD(interval_ns), .argument = "TIME",
	  .min = 1000000, .max = 3600000000000,
	  .help = "how often traffic is looked at; default: 50ms" },
	{ "threshold", 0, TO_OPTION_REAL, FIELD(shift.threshold), .argument = "SHARE",
	  .help = "of the traffic that must be another; default: 0.3" },
	{ "confirm", 0, TO_OPTION_NUMBER, FIELD(confirm), .argument = "N", .min = 1,
	  .max = 1000000, .help = "intervals in a row that make a shift; default: 2" },
	{ "hold", 0, TO_OPTION_DURATION, FIELD(shift.hold_ns), .argument = "TIME",
	  .min = 1000000,
	  .help = "none at first and after a change: an iteration or more; default: 2.5s" },
	{ "memory", 0, TO_OPTION_DURATION, FIELD(shift.memory_ns), .argument = "TIME",
	  .min = 1000000,
	  .help = "in which the past is forgotten: 4 iterations or more; default: 10s" },
	{ "idle", 0, TO_OPTION_RATE, FIELD(idle_bps), .argument = "RATE",
	  .help = "traffic of the fabric that tells nothing; default: 1M" },
	{ "horizon", 0, TO_OPTION_DURATION, FIELD(horizon_ns), .argument = "TIME", .min = 1,
	  .help = "in which a change must pay back; default: 10s" },
	{ "carrier-timeout", 0, TO_OPTION_DURATION, FIELD(carrier_ns), .argument = "TIME",
	  .min = 1, .help = "for new links to get light; default: 5s" },
	TO_FABRIC_OPTIONS(struct run_args, fabric, NULL),
	{}
};

const struct to_command to_cmd_run = {
	.name = "run",
	.summary = "Keep a fabric planned for its traffic: measure, decide, rewire, commit",
	.description =
		"Looks at the traffic of all servers every interval. When it is no longer what\n"
		"the plan was made for, decides as toctl replan does: keep the plan, give its\n"
		"links new routes, or rewire. A change moves traffic off the links that are to\n"
		"be cut, stages the new tables on all servers, sets the optical switches, waits\n"
		"for light, commits everywhere and verifies; where all at once would cut servers\n"
		"off, in several rounds. If any step fails on any server, all goes back to the\n"
		"old plan.\n\n"
		"FILE is the state: a change replaces it, and FILE.next is there while one is\n"
		"under way, so that the next run finishes or undoes what was interrupted. At the\n"
		"start the fabric is brought to the plan. SIGTERM and SIGINT end it between two\n"
		"steps: before the switches are set by undoing, then by finishing.\n\n"
		"Each line tells what was seen, decided and done, and why.",
	.options = run_options,
	.args_size = sizeof(struct run_args),
	.defaults = &(const struct run_args){
		.interval_ns = 50000000, .horizon_ns = 10000000000, .carrier_ns = 5000000000,
		.confirm = 2, .idle_bps = 1000000,
		.shift = TO_SHIFT_DEFAULTS, .fabric = TO_FABRIC_DEFAULTS,
	},
	.run = run_run,
};
