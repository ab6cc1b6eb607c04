// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/transition.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

#define TRANSITION_POLL_NS 2000000

const char *const to_transition_step_names[] = {
	[TO_TRANSITION_DRAIN] = "drain",
	[TO_TRANSITION_STAGE] = "stage",
	[TO_TRANSITION_SWITCH] = "switch",
	[TO_TRANSITION_CARRIER] = "carrier",
	[TO_TRANSITION_COMMIT] = "commit",
	[TO_TRANSITION_VERIFY] = "verify",
	NULL
};

static int transition_ended(const struct to_transition *t, enum to_transition_step step,
			    uint64_t start, int ret, const struct to_error *err, const char *note)
{
	if (t->report)
		t->report(t->data, step, to_clock_seconds_since(start), ret ? err->text : NULL, note);
	return ret;
}

static int transition_interrupted(const struct to_transition *t, struct to_error *err)
{
	return t->stop && *t->stop ? to_error_set(err, -EINTR, "interrupted") : 0;
}

/*
 * Links of servers that answer have carrier; who is left out says nothing. Checks do not tell:
 * tables expect who was there before the switches were set.
 */
static int transition_check_carrier(const struct to_transition *t, const struct to_plan *plan,
				    struct to_error *err)
{
	const struct to_fabric_server *servers = to_fabric_servers(t->fabric);
	const struct to_cluster *cluster = plan->cluster;

	for (unsigned int l = 0; l < cluster->n_links; l++) {
		const struct to_port_ref ends[] = { cluster->links[l].a, cluster->links[l].b };

		for (unsigned int i = 0; i < 2; i++) {
			const struct to_server *server = &cluster->servers[ends[i].server];

			if (servers[ends[i].server].reached &&
			    !(servers[ends[i].server].light >> ends[i].port & 1))
				return to_error_set(err, -ENOLINK, "%s:%s has no carrier",
						    server->name,
						    server->ports[ends[i].port].name);
		}
	}
	return 0;
}

static int transition_wait_carrier(const struct to_transition *t, const struct to_plan *plan,
				   struct to_error *err)
{
	/* Nothing but an optical switch makes light that is not there yet. */
	const uint64_t deadline = to_clock_monotonic_ns() + (t->switches ? t->carrier_ns : 0);

	for (;;) {
		int ret = to_fabric_status(t->fabric, err);

		if (!ret)
			ret = transition_check_carrier(t, plan, err);
		if (!ret || to_clock_monotonic_ns() > deadline)
			return ret;
		to_clock_sleep(TRANSITION_POLL_NS);
	}
}

static int transition_set_switches(const struct to_transition *t, const struct to_plan *plan,
				   bool *moved, struct to_error *err)
{
	int ret;

	*moved = false;
	if (!t->switches)
		return 0;
	ret = to_switch_set_compare(t->switches, plan, err);
	if (!ret && to_switch_set_differ(t->switches)) {
		*moved = true;
		ret = to_switch_set_apply(t->switches, err);
	}
	/* no table may rely on links that a late change would end */
	return ret ? ret : to_switch_set_late(t->switches, err);
}

static int transition_check_switches(const struct to_transition *t, const struct to_plan *plan,
				     struct to_error *err)
{
	int ret;

	if (!t->switches)
		return 0;
	ret = to_switch_set_compare(t->switches, plan, err);
	if (!ret && to_switch_set_differ(t->switches))
		ret = to_error_set(err, -EIO,
				   "the optical switches are not as the plan says when read back");
	return ret;
}

/* Make the staged tables active, for good. */
static int transition_put(const struct to_transition *t, struct to_error *err)
{
	int ret = to_fabric_commit(t->fabric, err);

	return ret ? ret : to_fabric_confirm(t->fabric, err);
}

/* What is staged ahead is not to be, or is now. */
static void transition_forget_ahead(struct to_transition *t)
{
	to_plan_free(t->ahead);
	to_plan_free(t->ahead_of);
	t->ahead = t->ahead_of = NULL;
}

/* The steps from @old to @next, which may be known already. */
static int transition_plan_steps(struct to_transition *t, const struct to_plan *old,
				 const struct to_plan *next, struct to_error *err)
{
	const bool known = t->ahead == next && t->ahead_of == old;

	transition_forget_ahead(t);
	if (known)
		return 0;
	to_drain_free(&t->drain);
	return to_drain_make(old, next, &t->drain, err);
}

/* Unless it was done ahead. @further: after another step of the change */
static int transition_stage(struct to_transition *t, const struct to_plan *plan, bool further,
			    bool *ahead, struct to_error *err)
{
	*ahead = to_fabric_is_staged(t->fabric, plan);
	t->was_ahead |= *ahead;
	if (*ahead)
		return 0;
	return further ? to_fabric_stage_further(t->fabric, plan, err) :
			 to_fabric_stage(t->fabric, plan, NULL, err);
}

int to_transition_ahead(struct to_transition *t, const struct to_plan *old,
			const struct to_plan *next, struct to_error *err)
{
	int ret = transition_plan_steps(t, old, next, err);

	if (!ret)
		ret = to_fabric_stage_ahead(t->fabric, t->drain.n ? t->drain.plans[0] : next, err);
	if (ret)
		return ret;
	t->ahead = to_plan_hold(next);
	t->ahead_of = to_plan_hold(old);
	return 0;
}

int to_transition_release(struct to_transition *t, struct to_error *err)
{
	if (!t->ahead)
		return 0;
	transition_forget_ahead(t);
	return to_fabric_abort(t->fabric, err);
}

static int transition_drain(struct to_transition *t, const struct to_plan *old,
			    const struct to_plan *next, struct to_error *err)
{
	const struct to_drain *drain = &t->drain;
	uint64_t start = to_clock_monotonic_ns();
	char note[160];
	bool ahead;
	int ret, n;

	ret = transition_plan_steps(t, old, next, err);
	if (ret)
		return transition_ended(t, TO_TRANSITION_DRAIN, start, ret, err, NULL);
	if (!drain->n)
		return 0;
	n = snprintf(note, sizeof(note), "%u links are cut and %u made", drain->n_cut,
		     drain->n_made);
	if (drain->n > 1)
		n += snprintf(note + n, sizeof(note) - n, ", in %u steps", drain->n);
	if (drain->n_waiting)
		n += snprintf(note + n, sizeof(note) - n,
			      "; %u pairs of servers have no path meanwhile", drain->n_waiting);
	ret = transition_stage(t, drain->plans[0], false, &ahead, err);
	if (ahead)
		snprintf(note + n, sizeof(note) - n, "; staged ahead");
	if (!ret)
		ret = transition_put(t, err);
	return transition_ended(t, TO_TRANSITION_DRAIN, start, ret, err, note);
}

static int transition_rewire(const struct to_transition *t, const struct to_plan *next,
			     struct to_error *err)
{
	uint64_t start = to_clock_monotonic_ns();
	bool moved;
	int ret;

	ret = transition_ended(t, TO_TRANSITION_SWITCH, start,
			       transition_set_switches(t, next, &moved, err), err, NULL);
	if (ret)
		return ret;
	start = to_clock_monotonic_ns();
	return transition_ended(t, TO_TRANSITION_CARRIER, start,
				transition_wait_carrier(t, next, err), err, NULL);
}

static int transition_verify(const struct to_transition *t, const struct to_plan *next,
			     struct to_error *err)
{
	uint64_t generation;
	int ret = to_fabric_status(t->fabric, err);

	if (!ret)
		ret = to_fabric_generation(t->fabric, &generation, err);
	if (!ret)
		ret = transition_check_carrier(t, next, err);
	if (!ret)
		ret = transition_check_switches(t, next, err);
	return ret;
}

/*
 * To the links and tables of @plan, from where the tables use only links that
 * stay. Once a switch was set it is sooner finished than undone: not @stoppable.
 */
static int transition_advance(struct to_transition *t, const struct to_plan *plan, bool stoppable,
			      struct to_error *err)
{
	uint64_t start = to_clock_monotonic_ns();
	bool ahead;
	int ret = transition_stage(t, plan, t->drain.n, &ahead, err);

	transition_ended(t, TO_TRANSITION_STAGE, start, ret, err, ahead ? "staged ahead" : NULL);
	if (!ret && stoppable)
		ret = transition_interrupted(t, err);
	if (!ret && t->drain.n)
		ret = transition_rewire(t, plan, err);
	if (ret)
		return ret;
	start = to_clock_monotonic_ns();
	return transition_ended(t, TO_TRANSITION_COMMIT, start, to_fabric_commit(t->fabric, err),
				err, NULL);
}

int to_transition_make(struct to_transition *t, const struct to_plan *old,
		       const struct to_plan *next, struct to_error *err)
{
	uint64_t start;
	int ret;

	t->was_ahead = false;
	ret = transition_interrupted(t, err);
	if (!ret)
		ret = transition_drain(t, old, next, err);
	if (!ret)
		ret = transition_interrupted(t, err);
	for (unsigned int i = 1; !ret && i < t->drain.n; i++) {
		ret = transition_advance(t, t->drain.plans[i], i == 1, err);
		if (!ret)
			ret = to_fabric_confirm(t->fabric, err);
	}
	if (!ret)
		ret = transition_advance(t, next, t->drain.n < 2, err);
	if (ret)
		return ret;
	start = to_clock_monotonic_ns();
	ret = transition_verify(t, next, err);
	if (!ret)
		ret = to_fabric_confirm(t->fabric, err);
	return transition_ended(t, TO_TRANSITION_VERIFY, start, ret, err, NULL);
}

/* The first failure is the one that is told. */
static int transition_first(int ret, const struct to_error *now, int was, struct to_error *err)
{
	if (!ret || was)
		return was;
	*err = *now;
	return ret;
}

/*
 * Which step the switches are at, to_drain.n after the last one. Between two steps
 * the tables suit both, so either will do, except at the end: until the switches got
 * there, no table needed its links.
 */
static int transition_locate(const struct to_transition *t, const struct to_plan *end,
			     unsigned int *at, struct to_error *err)
{
	unsigned int least = UINT_MAX;

	*at = 0;
	for (unsigned int i = 0; t->switches && i <= t->drain.n; i++) {
		const struct to_plan *plan = i < t->drain.n ? t->drain.plans[i] : end;
		int ret = to_switch_set_compare(t->switches, plan, err);
		unsigned int differ;

		if (ret)
			return ret;
		differ = to_switch_set_differ(t->switches);
		if (differ < least && (plan != end || !differ)) {
			least = differ;
			*at = i;
		}
	}
	return 0;
}

/*
 * Undo one step: all links of step @at, then the tables that use those of them
 * which the step before has too.
 */
static int transition_go_back(struct to_transition *t, unsigned int at, struct to_error *err)
{
	const struct to_drain *drain = &t->drain;
	bool moved = false, differs;
	int ret = to_fabric_stage(t->fabric, drain->plans[at - 1], &differs, err);

	if (!ret && at < drain->n) {
		ret = transition_set_switches(t, drain->plans[at], &moved, err);
		if (!ret && moved)
			ret = transition_wait_carrier(t, drain->plans[at], err);
	}
	if (!ret)
		ret = differs ? transition_put(t, err) : to_fabric_abort(t->fabric, err);
	return ret;
}

int to_transition_restore(struct to_transition *t, const struct to_plan *from,
			  const struct to_plan *plan, bool *changed, struct to_error *err)
{
	bool differs = false, moved;
	struct to_error why = { 0 };
	unsigned int at = 0, steps;
	int ret, staged, unset;
	uint64_t generation;

	transition_forget_ahead(t);
	/* Neither is open after most failures; what matters is what comes then. */
	ret = to_fabric_revert(t->fabric, err);
	if (to_fabric_abort(t->fabric, &why) == -EBUSY)
		return ret;
	ret = 0;
	to_fabric_status(t->fabric, &why);
	if (from) {
		to_drain_free(&t->drain);
		ret = to_drain_make(plan, from, &t->drain, err);
		if (!ret)
			ret = transition_locate(t, from, &at, err);
	}
	for (steps = at; !ret && at; at--)
		ret = transition_go_back(t, at, err);
	if (ret)
		return ret;
	staged = to_fabric_stage(t->fabric, plan, &differs, &why);
	/* The same tables under different generations: their recordings cannot be merged. */
	if (!staged && (to_fabric_generation(t->fabric, &generation, NULL) ||
			to_fabric_is_forgotten(t->fabric)))
		differs = true;
	ret = transition_first(staged, &why, 0, err);
	/* Also when a server does not answer: others need their links. */
	unset = transition_set_switches(t, plan, &moved, &why);
	ret = transition_first(unset, &why, ret, err);
	if (moved && !ret)
		ret = transition_first(transition_wait_carrier(t, plan, &why), &why, ret, err);
	if (!staged && !unset && differs)
		ret = transition_first(transition_put(t, &why), &why, ret, err);
	else if (!staged)
		ret = transition_first(to_fabric_abort(t->fabric, &why), &why, ret, err);
	if (changed)
		*changed = differs || moved || steps;
	return ret;
}

int to_transition_at(struct to_transition *t, const struct to_plan *plan, struct to_error *err)
{
	bool differs;
	int ret;

	if (t->switches) {
		ret = to_switch_set_compare(t->switches, plan, err);
		if (ret || to_switch_set_differ(t->switches))
			return ret;
	}
	ret = to_fabric_stage(t->fabric, plan, &differs, err);
	if (!ret)
		ret = to_fabric_abort(t->fabric, err);
	return ret ? ret : !differs;
}

void to_transition_free(struct to_transition *t)
{
	transition_forget_ahead(t);
	to_drain_free(&t->drain);
}
