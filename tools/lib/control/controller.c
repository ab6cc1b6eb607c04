// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/controller.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "control/transition.h"
#include "data/allreduce.h"
#include "format/plan_json.h"
#include "format/tm_json.h"
#include "plan/replan.h"

#define CONTROLLER_RETRY_S 1
#define CONTROLLER_RETRY_MAX_S 30

/**
 * struct controller - a controller at work
 * @next_path: PLAN.next
 * @first: the plan at the start, whose cluster @switches borrows
 * @plan: in force
 * @next: while the fabric may be anywhere between @plan and this one, else NULL
 * @switches: open when @transition has them
 * @bytes: of the last interval, n x n, row = source
 * @mean: bytes per second to plan for, n x n
 * @onset_ns: CLOCK_REALTIME; start of the interval in which the traffic was first new
 * @committed_ns: CLOCK_REALTIME; when all servers had last committed
 * @broken: the fabric is not as @plan says
 * @unknown: why there is no matrix; empty when there is
 * @n_missing: servers that gave no recording of the last interval; before the
 *	first, UINT_MAX
 * @n_intervals, @n_changes: so far
 */
struct controller {
	const struct to_controller_config *config;
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

static size_t controller_cells(const struct controller *c)
{
	return (size_t)c->plan->cluster->n_servers * c->plan->cluster->n_servers;
}

/* ---- the fabric as the plan says ---- */

static void controller_step(void *data, enum to_transition_step step, double seconds,
			    const char *error, const char *note)
{
	const char *name = to_transition_step_names[step];
	struct controller *c = data;
	json_t *fields = json_pack("{s:s, s:f, s:b}", "step", name, "ms", seconds * 1e3,
				   "ok", !error);

	if (step == TO_TRANSITION_COMMIT && !error)
		c->committed_ns = to_clock_realtime_ns();
	if (error)
		json_object_set_new(fields, "error", json_string(error));
	if (note)
		json_object_set_new(fields, "note", json_string(note));
	to_run_log(c->config->log, "step", fields, "  %-8s %8.1f ms%s%s", name, seconds * 1e3,
		   error || note ? "  " : "", error ? error : note ? note : "");
}

/* To c->plan; when that fails, the caller tries again. */
static void controller_restore(struct controller *c, const char *why)
{
	uint64_t start = to_clock_monotonic_ns();
	struct to_error err = { 0 };
	bool changed = false;
	int ret = to_transition_restore(&c->transition, c->next, c->plan, &changed, &err);
	double ms = to_clock_seconds_since(start) * 1e3;

	c->broken = ret;
	if (!ret) {
		unlink(c->next_path);
		to_plan_free(c->next);
		c->next = NULL;
	}
	to_run_log(c->config->log, "restored",
		   json_pack("{s:s, s:b, s:b, s:f, s:s*}", "why", why, "ok", !ret, "changed",
			     changed, "ms", ms, "error", ret ? err.text : NULL),
		   ret ? "%s: NOT as planned, will try again: %s" : "%s: %s", why,
		   ret ? err.text : changed ? "brought to the plan" : "everything is as planned");
}

/* The plan in force becomes @plan, which is taken over. */
static void controller_take(struct controller *c, struct to_plan *plan)
{
	to_plan_free(c->plan);
	c->plan = plan;
}

/* After a controller that ended in the middle of a change: finish or undo it. */
static void controller_recover(struct controller *c)
{
	struct to_error err = { 0 };

	if (access(c->next_path, F_OK)) {
		controller_restore(c, "start");
		return;
	}
	c->next = to_plan_load(c->next_path, &err);
	if (c->next && to_transition_at(&c->transition, c->next, &err) == 1 &&
	    !rename(c->next_path, c->config->plan)) {
		controller_take(c, c->next);
		c->next = NULL;
		controller_restore(c, "change found complete");
		return;
	}
	controller_restore(c, "unfinished change undone");
}

/* ---- decide and act ---- */

/* Return: whether the fabric runs @next, which is taken over. */
static bool controller_change(struct controller *c, const char *action, struct to_plan *next)
{
	uint64_t decided = to_clock_realtime_ns(), generation = 0;
	struct to_error err = { 0 };
	double shift, since;
	int ret = to_plan_save(next, c->next_path, &err);

	if (ret) {
		to_run_log(c->config->log, "refused", json_pack("{s:s}", "error", err.text),
			   "cannot change: %s", err.text);
		to_plan_free(next);
		return false;
	}
	c->next = next;
	ret = to_transition_make(&c->transition, c->plan, next, &err);
	if (!ret && rename(c->next_path, c->config->plan))
		ret = to_error_set(&err, -errno, "%s: %s", c->config->plan, strerror(errno));
	if (ret) {
		controller_restore(c, err.text);
		return false;
	}
	c->next = NULL;
	shift = (c->committed_ns - c->onset_ns) * 1e-6;
	since = (to_clock_realtime_ns() - decided) * 1e-6;
	to_fabric_generation(c->fabric, &generation, &err);
	to_run_log(c->config->log, "changed",
		   json_pack("{s:s, s:I, s:f, s:f}", "action", action, "generation",
			     (json_int_t)generation, "shift_ms", shift, "ms", since),
		   "%s done: generation %" PRIu64 " on all servers, committed %.1f ms after the traffic shifted, verified %.1f ms after the decision",
		   action, generation, shift, since);
	controller_take(c, next);
	return true;
}

static void controller_decide(struct controller *c, enum to_shift_verdict verdict)
{
	struct to_replan_options options = TO_REPLAN_DEFAULTS;
	struct to_traffic traffic = {
		.n = c->plan->cluster->n_servers, .bytes = c->bytes, .seconds = 1,
	};
	const char *kind = to_shift_verdict_names[verdict], *action;
	uint64_t start = to_clock_monotonic_ns();
	const bool dry_run = c->config->dry_run;
	struct to_replan_result result;
	struct to_error err = { 0 };
	bool changed = false;
	double ms;

	to_run_log(c->config->log, "shift",
		   json_pack("{s:s, s:f, s:f}", "kind", kind, "new", c->shift.novelty,
			     "distance", c->shift.distance),
		   "the traffic shifted (%s): %.0f %% of the last interval is new, the mean is %.0f %% from the plan's",
		   kind, c->shift.novelty * 100, c->shift.distance * 100);
	to_shift_mean(&c->shift, c->mean);
	for (size_t i = 0; i < controller_cells(c); i++)
		c->bytes[i] = c->mean[i];
	options.horizon = c->config->horizon_ns * 1e-9;
	if (to_replan(c->plan, &traffic, &options, &result, &err)) {
		to_run_log(c->config->log, "refused", json_pack("{s:s}", "error", err.text),
			   "cannot replan: %s", err.text);
		to_shift_decided(&c->shift, false);
		return;
	}
	action = to_replan_action_names[result.action];
	ms = to_clock_seconds_since(start) * 1e3;
	to_run_log(c->config->log, "decision",
		   json_pack("{s:s, s:s, s:f, s:b, s:o}", "action", action, "reason",
			     result.reason, "ms", ms, "dry_run", dry_run, "replan",
			     to_replan_json(&result)),
		   "decision: %s%s: %s (%.1f ms)", action,
		   dry_run && result.plan ? " (dry run)" : "", result.reason, ms);
	if (result.plan && dry_run) {
		controller_take(c, result.plan);
		changed = true;
	} else if (result.plan) {
		changed = controller_change(c, action, result.plan);
	}
	c->n_changes += changed;
	to_shift_decided(&c->shift, changed);
}

static void controller_observe(struct controller *c, const struct to_tm *tm, unsigned int sample)
{
	const struct to_tm_sample *interval = &tm->samples[sample];
	enum to_shift_verdict verdict;

	c->n_intervals++;
	to_tm_matrix(tm, sample, -1, TO_TM_ALL, c->bytes);
	if (!c->shift.n_fresh)
		c->onset_ns = interval->start_ns;
	verdict = to_shift_observe(&c->shift, c->bytes, interval->elapsed_ns);
	if (verdict == TO_SHIFT_STEP || verdict == TO_SHIFT_DRIFT)
		controller_decide(c, verdict);
}

/* ---- the loop ---- */

/* Logs when servers are missing, with the first reason given, and when all are there. */
static void controller_note_missing(struct controller *c, const struct to_tm *tm)
{
	const struct to_fabric_server *servers = to_fabric_servers(c->fabric);
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
	if (missing != c->n_missing)
		to_run_log(c->config->log, "missing",
			   json_pack("{s:O, s:s*}", "servers", names,
				     "error", why.text[0] ? why.text : NULL),
			   missing ? "no traffic data from:%s%s%s" :
				     "traffic data from all servers%s%s%s",
			   text, why.text[0] ? "; " : "", why.text);
	json_decref(names);
	c->n_missing = missing;
}

/* Return: whether there was a matrix. */
static bool controller_interval(struct controller *c)
{
	struct to_error err = { 0 };
	struct to_tm *tm = NULL;

	if (to_fabric_sample(c->fabric, c->config->interval_ns, &tm, &err)) {
		if (!*c->config->stop && strcmp(err.text, c->unknown.text))
			to_run_log(c->config->log, "refused", json_pack("{s:s}", "error", err.text),
				   "no traffic data: %s", err.text);
		c->unknown = err;
		return false;
	}
	c->unknown.text[0] = '\0';
	controller_note_missing(c, tm);
	/* A part of the matrix would look like a shift. */
	if (c->n_missing)
		to_fabric_status(c->fabric, &err);
	else
		controller_observe(c, tm, 0);
	to_tm_free(tm);
	return true;
}

/* A signal ends it early. */
static void controller_pause(const struct controller *c, unsigned int seconds)
{
	if (!*c->config->stop)
		to_clock_sleep(seconds * TO_NS_PER_S);
}

/* Every attempt sends a plan to all servers, so they get ever rarer. */
static void controller_mend(struct controller *c)
{
	unsigned int pause = CONTROLLER_RETRY_S;

	while (c->broken && !*c->config->stop) {
		controller_pause(c, pause);
		if (!*c->config->stop)
			controller_restore(c, "again");
		pause = 2 * pause < CONTROLLER_RETRY_MAX_S ? 2 * pause : CONTROLLER_RETRY_MAX_S;
	}
}

static void controller_loop(struct controller *c)
{
	while (!*c->config->stop) {
		controller_mend(c);
		if (!*c->config->stop && !controller_interval(c) && !c->broken)
			controller_pause(c, CONTROLLER_RETRY_S);
	}
}

/* ---- start and end ---- */

static int controller_open(struct controller *c, const struct to_controller_config *config,
			   struct to_error *err)
{
	*c = (struct controller){ .config = config, .n_missing = UINT_MAX };
	c->plan = to_plan_load(config->plan, err);
	if (!c->plan)
		return -EINVAL;
	c->first = to_plan_hold(c->plan);
	if (asprintf(&c->next_path, "%s.next", config->plan) < 0) {
		c->next_path = NULL;
		return to_error_set(err, -ENOMEM, "out of memory");
	}
	to_run_log(config->log, "start",
		   json_pack("{s:s, s:i, s:f, s:b}", "plan", config->plan, "servers",
			     (int)c->plan->cluster->n_servers, "interval_ms",
			     config->interval_ns * 1e-6, "dry_run", config->dry_run),
		   "%s: %u servers, intervals of %g ms%s", config->plan,
		   c->plan->cluster->n_servers, config->interval_ns * 1e-6,
		   config->dry_run ? ", dry run" : "");
	return 0;
}

static int controller_connect(struct controller *c, struct to_error *err)
{
	struct to_error why = { 0 };
	int ret;

	c->fabric = to_fabric_open(c->plan, &c->config->fabric, err);
	if (!c->fabric)
		return -EIO;
	c->transition = (struct to_transition){
		.fabric = c->fabric, .carrier_ns = c->config->carrier_ns, .stop = c->config->stop,
		.report = controller_step, .data = c,
	};
	if (c->config->dry_run)
		return 0;
	/* Without optical switches there are still routes to change. */
	ret = to_switch_set_open(&c->switches, c->plan->cluster, &why);
	if (!ret)
		c->transition.switches = &c->switches;
	else if (ret != -ENOENT)
		return to_error_set(err, ret, "%s", why.text);
	controller_recover(c);
	return 0;
}

/* What the plan was made for: transfers, and AllReduce over its rings and trees. */
static int controller_expect(struct controller *c, struct to_error *err)
{
	const struct to_demand *demand = c->plan->demand;
	const struct to_rings rings = to_allreduce_of(c->plan);

	c->bytes = calloc(controller_cells(c), sizeof(*c->bytes));
	c->mean = calloc(controller_cells(c), sizeof(*c->mean));
	if (!c->bytes || !c->mean)
		return to_error_set(err, -ENOMEM, "out of memory");
	memcpy(c->bytes, demand->mp, controller_cells(c) * sizeof(*c->bytes));
	to_allreduce_add(&rings, true, 1, c->bytes);
	for (size_t i = 0; i < controller_cells(c); i++)
		c->mean[i] = c->bytes[i];
	if (to_shift_init(&c->shift, &c->config->shift, demand->n, c->mean))
		return to_error_set(err, -ENOMEM, "out of memory");
	return 0;
}

/* @ret: why it ends, 0 when it was told to. Return: as to_controller_run(). */
static int controller_end(struct controller *c, int ret)
{
	if (!ret) {
		to_run_log(c->config->log, "end",
			   json_pack("{s:b, s:I, s:I}", "as_planned", !c->broken, "intervals",
				     (json_int_t)c->n_intervals, "changes",
				     (json_int_t)c->n_changes),
			   "end after %" PRIu64 " intervals and %" PRIu64 " changes%s",
			   c->n_intervals, c->n_changes,
			   c->broken ? ", the fabric is NOT as planned" : "");
		ret = c->broken;
	}
	to_fabric_close(c->fabric);
	to_transition_free(&c->transition);
	if (c->transition.switches)
		to_switch_set_close(&c->switches);
	to_shift_free(&c->shift);
	free(c->bytes);
	free(c->mean);
	free(c->next_path);
	to_plan_free(c->plan);
	to_plan_free(c->first);
	to_plan_free(c->next);
	return ret;
}

int to_controller_run(const struct to_controller_config *config, struct to_error *err)
{
	struct controller c;
	int ret = controller_open(&c, config, err);

	ret = ret ? ret : controller_connect(&c, err);
	ret = ret ? ret : controller_expect(&c, err);
	if (!ret)
		controller_loop(&c);
	return controller_end(&c, ret);
}

int to_controller_replay(const struct to_controller_config *config, const char *path,
			 struct to_error *err)
{
	struct to_tm *tm = to_tm_load(path, err);
	struct to_error why = { 0 };
	struct controller c;
	int ret;

	if (!tm)
		return -EINVAL;
	ret = controller_open(&c, config, err);
	ret = ret ? ret : controller_expect(&c, err);
	if (!ret && to_tm_check_fabric(tm, c.plan->cluster, &why))
		ret = to_error_set(err, -EINVAL, "%s: %.400s", path, why.text);
	/* As live: a part of the matrix would look like a shift. */
	for (unsigned int i = 0; !ret && i < tm->n_samples && !*config->stop; i++)
		if (!tm->samples[i].absent)
			controller_observe(&c, tm, i);
	to_tm_free(tm);
	return controller_end(&c, ret);
}
