// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/controller.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "control/controller_lossy.h"
#include "control/controller_repair.h"
#include "control/controller_restore.h"
#include "control/controller_servers.h"
#include "control/initial_plan.h"
#include "control/stale_log.h"
#include "format/plan_json.h"
#include "format/plan_lock.h"
#include "format/tm_json.h"

#define CONTROLLER_LOOKS 4			/* in the time after which a port counts as down */
#define CONTROLLER_STEP_NS 250000000ull		/* from look to look where none ever does */

/* ---- the fabric as the plan says ---- */

static void controller_step(void *data, enum to_transition_step step, double seconds,
			    const char *error, const char *note)
{
	const char *name = to_transition_step_names[step];
	struct controller *c = data;
	json_t *fields = json_pack("{s:s, s:f, s:b}", "step", name, "ms", seconds * 1e3,
				   "ok", !error);

	if (step == TO_TRANSITION_COMMIT && !error)
		c->committed_ns = to_clock_monotonic_ns();
	if (step == TO_TRANSITION_SWITCH)
		c->dark = seconds;
	if (step == TO_TRANSITION_CARRIER && !error)
		c->candidates.dark = c->dark + seconds;
	if (error)
		json_object_set_new(fields, "error", json_string(error));
	if (note)
		json_object_set_new(fields, "note", json_string(note));
	to_run_log(c->config->log, "step", fields, "  %-8s %8.1f ms%s%s", name, seconds * 1e3,
		   error || note ? "  " : "", error ? error : note ? note : "");
}

/* Servers that @plan does without are left out. */
static void controller_leave_out(struct controller *c, const struct to_plan *plan)
{
	bool *out = calloc(plan->cluster->n_servers, sizeof(*out));

	for (unsigned int i = 0; out && i < plan->n_down; i++)
		out[plan->down[i].server] |= plan->down[i].port == TO_DOWN_SERVER;
	if (out)
		to_controller_servers_leave_out(c, out);
	free(out);
}

/*
 * After a controller that ended in the middle of a change: finish or undo it. To
 * return from a repair is done when PLAN.repair is gone. Return: 0 or -ENOMEM.
 */
static int controller_recover(struct controller *c)
{
	struct to_error err = { 0 };
	int ret = 0;

	controller_leave_out(c, c->plan);
	if (access(c->next_path, F_OK)) {
		if (c->asked && c->config->carrier.after_ns) {
			c->next = to_plan_hold(c->asked);
		} else if (c->asked) {
			c->next = c->plan;
			c->plan = c->asked;
			c->asked = NULL;
			to_down_free(&c->without);
			ret = to_down_init(&c->without, c->plan->cluster);
		}
		if (ret)
			return ret;
		to_controller_restore(c, "start");
		return 0;
	}
	c->next = to_plan_load_shared(c->next_path, &err);
	if (c->next)
		controller_leave_out(c, c->next);
	if (c->next && to_transition_at(&c->transition, c->next, &err) == 1 &&
	    !to_file_replace(to_controller_state_is_repair(c, c->next) ? c->repair_path : c->path,
			     c->next_path, &err)) {
		if (to_controller_state_is_repair(c, c->next)) {
			to_controller_state_switch(c, c->next);
			ret = to_controller_repair_adopt(c);
		} else {
			to_controller_state_take(c, c->next);
		}
		c->next = NULL;
		to_controller_restore(c, "change found complete");
		return ret;
	}
	controller_leave_out(c, c->plan);
	to_controller_restore(c, "unfinished change undone");
	return 0;
}

/* ---- decide and act ---- */

/* Return: whether the fabric runs @next, which is taken over. */
static bool controller_change(struct controller *c, const char *action, struct to_plan *next)
{
	uint64_t decided = to_clock_monotonic_ns(), generation = 0;
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
	c->change_ns = decided;
	ret = to_transition_make(&c->transition, c->plan, next, &err);
	if (!ret)
		ret = to_file_replace(c->path, c->next_path, &err);
	if (ret) {
		to_controller_restore(c, err.text);
		return false;
	}
	c->next = NULL;
	shift = ((double)c->committed_ns - c->onset_ns) * 1e-6;
	since = to_clock_seconds_since(decided) * 1e3;
	to_fabric_generation(c->fabric, &generation, &err);
	to_run_log(c->config->log, "changed",
		   json_pack("{s:s, s:I, s:f, s:f, s:b}", "action", action, "generation",
			     (json_int_t)generation, "shift_ms", shift, "ms", since, "ahead",
			     c->transition.was_ahead),
		   "%s done: generation %" PRIu64 " on all servers, committed %.1f ms after the traffic shifted, verified %.1f ms after the decision",
		   action, generation, shift, since);
	to_controller_state_take(c, next);
	to_carrier_forget(&c->carrier, next, NULL, to_clock_monotonic_ns());
	return true;
}

/* It was planned: there are @n new candidates. Return: whether the traffic shifted. */
static bool controller_planned(struct controller *c, const struct controller_look *look, int n,
			       const struct to_error *err)
{
	const double ms = to_clock_seconds_since(look->start_ns) * 1e3;
	const double busy = c->candidates.shift.promise;

	if (n < 0) {
		to_run_log(c->config->log, "refused", json_pack("{s:s}", "error", err->text),
			   "cannot plan: %s", err->text);
		return false;
	}
	if (!n && look->verdict != TO_SHIFT_BUSY)
		return false;
	to_run_log(c->config->log, "shift",
		   json_pack("{s:s, s:f, s:f, s:f, s:i, s:f, s:o}", "kind",
			     to_shift_verdict_names[look->verdict], "promised", look->promise,
			     "busy", busy, "excess_s", look->excess, "new", n, "ms", ms,
			     "candidates", to_candidates_json(&c->candidates)),
		   "%s: the busiest link is busy for %.3g times the lower bound, promised were %.3g; new candidates: %d (%.1f ms)",
		   look->verdict == TO_SHIFT_DUE ?
			   "the traffic is no longer what was planned for" : "the traffic shifted",
		   busy, look->promise, n, ms);
	return true;
}

/*
 * Plan for the traffic as it is, where @verdict says so, beside the loop or at once.
 * Return: whether it shifted, by what was planned now.
 */
static bool controller_plan(struct controller *c, enum to_shift_verdict verdict)
{
	const struct to_shift *shift = &c->candidates.shift;
	struct to_error err = { 0 };
	int n;

	if (c->planning) {
		if (!to_planning_done(c->planning))
			return false;
		n = to_planning_end(c->planning, &err);
		c->planning = NULL;
		return controller_planned(c, &c->planned, n, &err);
	}
	if (verdict == TO_SHIFT_NONE)
		return false;
	c->planned = (struct controller_look){ verdict, shift->excess, shift->promise,
					       to_clock_monotonic_ns() };
	c->planning = c->config->beside ? to_planning_begin(&c->candidates) : NULL;
	if (c->planning)
		return false;
	n = to_candidates_plan(&c->candidates, &err);
	return controller_planned(c, &c->planned, n, &err);
}

/* What the last change came to, for the log. */
static json_t *controller_outcome(const struct controller *c)
{
	const struct to_candidates_outcome *outcome = &c->candidates.outcome;

	if (!outcome->since || !(outcome->kept > 0))
		return NULL;
	return json_pack("{s:f, s:f}", "predicted", outcome->predicted, "realised",
			 1 - outcome->spent / outcome->kept);
}

/* What is done about candidate @to, and why. */
static void controller_note(const struct controller *c, enum to_replan_action action,
			    unsigned int to, const char *reason)
{
	const struct to_regret *regret = &c->candidates.regret;
	const char *name = to_replan_action_names[action];
	const bool dry_run = c->config->dry_run;

	to_run_log(c->config->log, "decision",
		   json_pack("{s:s, s:s, s:b, s:I, s:f, s:f, s:f, s:o, s:o*}", "action", name,
			     "reason", reason, "dry_run", dry_run, "candidate",
			     (json_int_t)c->candidates.candidate[to].id, "regret_s",
			     to_regret_lost(regret, to), "price_s", regret->price[regret->at][to],
			     "saves", to_candidates_saves(&c->candidates, to), "candidates",
			     to_candidates_json(&c->candidates), "before", controller_outcome(c)),
		   "decision: %s%s: %s", name,
		   dry_run && action != TO_REPLAN_KEEP ? " (dry run)" : "", reason);
}

/* None should, for now. */
static void controller_keep(const struct controller *c)
{
	const struct to_candidates *candidates = &c->candidates;
	const struct to_regret *regret = &candidates->regret;
	const double *cost = candidates->intervals[candidates->n_intervals - 1].cost;
	unsigned int best = regret->at;
	char reason[160] = "no candidate is better";

	for (unsigned int k = 0; k < regret->n; k++)
		if (cost[k] < cost[best])
			best = k;
	if (best != regret->at)
		snprintf(reason, sizeof(reason), "candidate %u (%s) would save %.3g %% now, and %.3g s of busy links more must be lost before the change pays",
			 candidates->candidate[best].id, candidates->candidate[best].source,
			 100 * (1 - cost[best] / cost[regret->at]),
			 regret->caution * regret->price[regret->at][best] -
			 to_regret_lost(regret, best));
	controller_note(c, TO_REPLAN_KEEP, best, reason);
}

/* Another candidate should be in force. */
static void controller_decide(struct controller *c, unsigned int to)
{
	const struct to_regret *regret = &c->candidates.regret;
	const struct to_candidates_plan *next = &c->candidates.candidate[to];
	const double lost = to_regret_lost(regret, to), price = regret->price[regret->at][to];
	enum to_replan_action action;
	char reason[160];
	bool changed;

	if (to_candidates_action(&c->candidates, to, &action))
		return;
	snprintf(reason, sizeof(reason), "%.3g s of busy links were lost against candidate %u (%s), a change costs %.3g s; it saves %.3g %%",
		 lost, next->id, next->source, price,
		 to_candidates_saves(&c->candidates, to) * 100);
	controller_note(c, action, to, reason);
	if (c->config->dry_run) {
		to_controller_state_take(c, to_plan_hold(next->busy.plan));
		changed = true;
	} else {
		changed = controller_change(c, to_replan_action_names[action],
					    to_plan_hold(next->busy.plan));
	}
	c->n_changes += changed;
	if (changed) {
		to_candidates_moved(&c->candidates, to);
		return;
	}
	c->decide_ns = to_clock_monotonic_ns() + CONTROLLER_RETRY_MAX_S * TO_NS_PER_S;
	if (to)
		to_candidates_drop(&c->candidates, to);
}

/* What was staged ahead is not likely any more, nor needed at the end. */
static void controller_release(struct controller *c)
{
	struct to_error err = { 0 };

	if (!c->transition.ahead)
		return;
	to_transition_release(&c->transition, &err);
	to_run_log(c->config->log, "released", json_pack("{s:s*}", "error",
							 err.text[0] ? err.text : NULL),
		   "what was staged ahead is dropped%s%s", err.text[0] ? ": " : "", err.text);
}

/*
 * Nothing is decided yet, but if traffic goes on so, it will be: agents stage meanwhile, so
 * that the decision finds everything ready.
 */
static void controller_stage_ahead(struct controller *c)
{
	const struct to_regret *regret = &c->candidates.regret;
	const unsigned int to = to_candidates_likely(&c->candidates, c->transition.ahead);
	const struct to_candidates_plan *next = &c->candidates.candidate[to];
	const uint64_t start = to_clock_monotonic_ns();
	struct to_error err = { 0 };
	double ms;
	int ret;

	if (to == regret->at)
		controller_release(c);
	if (to == regret->at || next->busy.plan == c->transition.ahead || start < c->ahead_ns)
		return;
	ret = to_transition_ahead(&c->transition, c->plan, next->busy.plan, &err);
	ms = to_clock_seconds_since(start) * 1e3;
	if (ret)
		c->ahead_ns = to_clock_monotonic_ns() + CONTROLLER_RETRY_MAX_S * TO_NS_PER_S;
	to_run_log(c->config->log, "ahead",
		   json_pack("{s:I, s:b, s:f, s:f, s:f, s:s*}", "candidate", (json_int_t)next->id,
			     "ok", !ret, "regret_s", to_regret_lost(regret, to), "price_s",
			     regret->price[regret->at][to], "ms", ms, "error",
			     ret ? err.text : NULL),
		   ret ? "candidate %u (%s) could not be staged ahead (%.1f ms): %s" :
			 "candidate %u (%s) is staged ahead (%.1f ms)%s",
		   next->id, next->source, ms, err.text);
}

/* By the clock that nobody sets; what other hosts tell is by theirs. */
static uint64_t controller_moment(uint64_t realtime_ns)
{
	return to_clock_monotonic_ns() - (to_clock_realtime_ns() - realtime_ns);
}

static void controller_observe(struct controller *c, const struct to_tm *tm, unsigned int sample)
{
	const struct to_tm_sample *interval = &tm->samples[sample];
	const unsigned int n = c->plan->cluster->n_servers;
	const size_t cells = (size_t)n * n;
	enum to_shift_verdict verdict;
	unsigned int to;
	bool shifted;

	c->n_intervals++;
	if (!c->traffic.bytes)
		c->traffic = (struct to_traffic){
			.n = n, .bytes = calloc(cells, sizeof(*c->traffic.bytes)),
			.tcp = calloc(cells, sizeof(*c->traffic.tcp)),
		};
	if (!c->traffic.bytes || !c->traffic.tcp) {
		to_traffic_free(&c->traffic);
		return;
	}
	to_traffic_add(&c->traffic, tm, sample);
	/* one that is too short says nothing by itself */
	if (c->traffic.seconds * 2e9 < tm->interval_ns)
		return;
	if (!c->candidates.shift.n)
		c->onset_ns = controller_moment(interval->start_ns);
	if (c->config->traffic)
		c->config->traffic(c->config->data, &c->traffic);
	if (to_candidates_observe(&c->candidates, &c->traffic, &verdict))
		return;
	shifted = controller_plan(c, verdict);
	to = to_candidates_choose(&c->candidates);
	if (to != c->candidates.regret.at && to_clock_monotonic_ns() >= c->decide_ns)
		controller_decide(c, to);
	else if (shifted)
		controller_keep(c);
	if (!c->config->dry_run && !c->broken && !*c->config->stop)
		controller_stage_ahead(c);
}

/* ---- the loop ---- */

/* Log how much was not logged of a server, once that is known. */
static void controller_note_rest(struct controller *c, bool end)
{
	for (unsigned int s = 0; s < c->missing.n_servers; s++) {
		const unsigned int left_out = to_missing_rest(&c->missing, s, end);
		const char *name = c->plan->cluster->servers[s].name;

		if (left_out)
			to_run_log(c->config->log, "left-out",
				   json_pack("{s:s, s:i}", "server", name, "messages", (int)left_out),
				   TO_NOTE_LEFT_OUT, name, left_out);
	}
}

/* Log when other servers are missing, or for another reason, and when all are there. */
static void controller_note_missing(struct controller *c, const struct to_tm *tm)
{
	struct to_missing *m = &c->missing;
	json_t *names;

	if (!to_missing_look(m, tm, to_fabric_servers(c->fabric), true))
		return;
	names = json_array();
	for (unsigned int s = 0; tm->missing && s < tm->n_servers; s++)
		if (tm->missing[s])
			json_array_append_new(names, json_string(tm->servers[s]));
	to_run_log(c->config->log, "missing",
		   json_pack("{s:o, s:s*}", "servers", names,
			     "error", m->why.text[0] ? m->why.text : NULL),
		   m->n ? "no traffic data from:%s%s%s" : "traffic data from all servers%s%s%s",
		   m->names, m->why.text[0] ? "; " : "", m->why.text);
}

/* Return: whether there was a matrix. */
static bool controller_interval(struct controller *c)
{
	const struct to_plan *plan = c->plan;
	struct to_error err = { 0 };
	struct to_tm *tm = NULL;

	controller_note_rest(c, false);
	if (to_fabric_sample(c->fabric, c->config->interval_ns, &tm, &err)) {
		if (!*c->config->stop && strcmp(err.text, c->unknown.text) &&
		    to_missing_may_tell(&c->missing, to_fabric_servers(c->fabric)))
			to_run_log(c->config->log, "refused", json_pack("{s:s}", "error", err.text),
				   "no traffic data: %s", err.text);
		c->unknown = err;
		return false;
	}
	c->unknown.text[0] = '\0';
	controller_note_missing(c, tm);
	to_stale_log(c->config->log, tm, &c->n_stale);
	/* A part of the matrix would look like a shift. */
	if (c->missing.n)
		to_fabric_status(c->fabric, NULL);
	for (unsigned int i = 0; i < tm->n_samples && !c->missing.n && c->plan == plan; i++)
		if (!tm->samples[i].absent && !c->asked)
			controller_observe(c, tm, i);
	to_tm_free(tm);
	return true;
}

/* How often servers are asked how they are, where intervals are longer. */
static uint64_t controller_step_ns(const struct controller *c)
{
	const uint64_t after = c->config->carrier.after_ns;

	return after ? after / CONTROLLER_LOOKS : CONTROLLER_STEP_NS;
}

/* Until the interval ends. */
static uint64_t controller_left_ns(const struct controller *c)
{
	return c->config->interval_ns - to_clock_realtime_ns() % c->config->interval_ns;
}

/* By what servers told last. */
static void controller_look(struct controller *c)
{
	if (to_fabric_is_forgotten(c->fabric) && !c->broken && !c->config->dry_run)
		to_controller_restore(c, "etcd was set back");
	to_controller_servers_look(c);
	to_controller_repair_look(c);
}

/* Wait for the next look, which comes no later than a port goes down. */
static void controller_pause(const struct controller *c)
{
	const uint64_t left = to_carrier_left(&c->carrier, to_clock_monotonic_ns());
	const uint64_t step = controller_step_ns(c);

	to_clock_sleep(left < step ? left : step);
}

static void controller_ask(struct controller *c)
{
	controller_pause(c);
	if (*c->config->stop)
		return;
	to_controller_lossy_look(c);
	to_fabric_status(c->fabric, NULL);
	controller_look(c);
}

static void controller_measure(struct controller *c)
{
	bool measured;

	to_controller_lossy_look(c);
	measured = controller_interval(c);
	controller_look(c);
	to_course_done(&c->course, TO_COURSE_MEASURE);
	if (!measured)
		to_course_failed(&c->course, TO_COURSE_MEASURE, to_clock_monotonic_ns());
}

static enum to_course_state controller_next(const struct controller *c)
{
	const struct to_course_view view = {
		.stop = *c->config->stop, .between = c->broken,
		.down = c->down.n || c->slow.n_held,
		.outdated = c->outdated, .astray = c->n_astray,
		.due = controller_left_ns(c) <= controller_step_ns(c) ||
		       c->config->interval_ns <= controller_step_ns(c),
	};

	return to_course_next(&c->course, &view, to_clock_monotonic_ns());
}

static void controller_loop(struct controller *c)
{
	enum to_course_state state;

	while ((state = controller_next(c)) != TO_COURSE_STOP) {
		switch (state) {
		case TO_COURSE_REPAIR:
		case TO_COURSE_RETURN:
			to_controller_repair(c);
			break;
		case TO_COURSE_RESTORE:
			to_controller_restore(c, "again");
			controller_look(c);
			/* It may fail for want of what is down. */
			if (c->broken && c->outdated && !*c->config->stop)
				to_controller_repair(c);
			break;
		case TO_COURSE_BRING:
			if (!to_controller_servers_bring(c))
				to_controller_restore(c, "a server has a later generation");
			controller_look(c);
			break;
		case TO_COURSE_MEASURE:
			controller_measure(c);
			break;
		default:
			controller_ask(c);
		}
	}
}

/* ---- start and end ---- */

static int controller_open(struct controller *c, const struct to_controller_config *config,
			   struct to_error *err)
{
	*c = (struct controller){ .config = config, .lock = -1 };
	if (!config->dry_run) {
		c->lock = to_plan_lock_take(config->plan, err);
		if (c->lock < 0)
			return c->lock;
	}
	c->plan = to_initial_plan_load(config, err);
	if (!c->plan)
		return -EINVAL;
	c->path = realpath(config->plan, NULL);
	if (!c->path)	/* there only in a dry run: its initial plan was not written */
		c->path = strdup(config->plan);
	c->first = to_plan_hold(c->plan);
	if (!c->path || asprintf(&c->next_path, "%s.next", c->path) < 0 ||
	    asprintf(&c->repair_path, "%s.repair", c->path) < 0 ||
	    to_carrier_init(&c->carrier, &config->carrier, c->plan->cluster->n_servers,
			    to_clock_monotonic_ns()) ||
	    to_missing_init(&c->missing, c->plan->cluster->n_servers) ||
	    to_down_init(&c->without, c->plan->cluster) ||
	    !(c->away = calloc(c->plan->cluster->n_servers, sizeof(*c->away))) ||
	    !(c->astray = calloc(c->plan->cluster->n_servers, sizeof(*c->astray))))
		return to_error_set(err, -ENOMEM, "out of memory");
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

	if (to_controller_repair_open(c))
		return to_error_set(err, -ENOMEM, "out of memory");
	c->fabric = to_fabric_open(c->plan, &c->config->fabric, err);
	if (!c->fabric)
		return -EIO;
	c->transition = (struct to_transition){
		.fabric = c->fabric, .carrier_ns = c->config->carrier_ns, .stop = c->config->stop,
		.report = controller_step, .data = c,
	};
	if (c->config->dry_run) {
		to_fabric_assume(c->fabric, c->plan);
		return 0;
	}
	/* Without optical switches there are still routes to change. */
	ret = to_switch_set_open(&c->switches, c->plan->cluster, c->config->allow, &why);
	if (!ret)
		c->transition.switches = &c->switches;
	else if (ret != -ENOENT)
		return to_error_set(err, ret, "%s", why.text);
	return controller_recover(c) ? to_error_set(err, -ENOMEM, "out of memory") : 0;
}

static int controller_expect(struct controller *c, struct to_error *err)
{
	const struct to_plan *asked = to_controller_state_asked(c);

	if (to_candidates_init(&c->candidates, &c->config->candidates, asked))
		return to_error_set(err, -ENOMEM, "out of memory");
	return 0;
}

/* @ret: why it ends, 0 when it was told to. Return: as to_controller_run(). */
static int controller_end(struct controller *c, int ret)
{
	struct to_error ignored = { 0 };

	if (c->planning) {
		to_planning_cancel(c->planning);
		to_planning_end(c->planning, &ignored);
	}
	controller_release(c);
	controller_note_rest(c, true);
	if (!ret) {
		const bool as_planned = !c->broken && to_controller_servers_as_planned(c);

		to_run_log(c->config->log, "end",
			   json_pack("{s:b, s:I, s:I, s:o*}", "as_planned", as_planned,
				     "intervals", (json_int_t)c->n_intervals, "changes",
				     (json_int_t)c->n_changes, "before", controller_outcome(c)),
			   "end after %" PRIu64 " intervals and %" PRIu64 " changes%s",
			   c->n_intervals, c->n_changes,
			   as_planned ? "" : ", the fabric is NOT as planned");
		ret = !as_planned;
	}
	to_fabric_close(c->fabric);
	to_transition_free(&c->transition);
	if (c->transition.switches)
		to_switch_set_close(&c->switches);
	to_candidates_free(&c->candidates);
	to_traffic_free(&c->traffic);
	free(c->path);
	free(c->next_path);
	free(c->repair_path);
	to_carrier_free(&c->carrier);
	to_lossy_free(&c->lossy);
	to_slow_free(&c->slow);
	to_plan_free(c->lossy_of);
	to_missing_free(&c->missing);
	to_down_free(&c->without);
	to_down_free(&c->down);
	free(c->recabled);
	free(c->away);
	free(c->astray);
	to_plan_free(c->asked);
	to_plan_free(c->plan);
	to_plan_free(c->first);
	to_plan_free(c->next);
	if (c->lock >= 0)
		close(c->lock);
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
