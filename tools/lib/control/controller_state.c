// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/controller_state.h"

#include <unistd.h>

#include "base/clock.h"

void to_controller_state_take(struct controller *c, struct to_plan *plan)
{
	to_plan_free(c->plan);
	c->plan = plan;
}

void to_controller_state_switch(struct controller *c, struct to_plan *plan)
{
	if (plan == c->asked) {
		c->asked = NULL;
		to_controller_state_take(c, plan);
	} else if (c->asked) {
		to_controller_state_take(c, plan);
	} else {
		c->asked = c->plan;
		c->plan = plan;
	}
}

bool to_controller_state_is_repair(const struct to_plan *plan)
{
	return plan->n_down || plan->n_dark;
}

const struct to_plan *to_controller_state_asked(const struct controller *c)
{
	return c->asked ? c->asked : c->plan;
}

void to_controller_state_restore(struct controller *c, const char *why)
{
	uint64_t start = to_clock_monotonic_ns();
	struct to_error err = { 0 };
	bool changed = false;
	int ret = to_transition_restore(&c->transition, c->next, c->plan, &changed, &err);
	double ms = to_clock_seconds_since(start) * 1e3;

	c->broken = ret;
	if (!ret) {
		unlink(c->next_path);
		if (!c->asked)
			unlink(c->repair_path);
		to_plan_free(c->next);
		c->next = NULL;
	}
	to_run_log(c->config->log, "restored",
		   json_pack("{s:s, s:b, s:b, s:f, s:s*}", "why", why, "ok", !ret, "changed",
			     changed, "ms", ms, "error", ret ? err.text : NULL),
		   ret ? "%s: NOT as planned, will try again: %s" : "%s: %s", why,
		   ret ? err.text : changed ? "brought to the plan" : "everything is as planned");
}
