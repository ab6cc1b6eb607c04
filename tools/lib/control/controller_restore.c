// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/controller_restore.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "control/controller_servers.h"

/* Whether links move on the way back: whoever is left out would send into those that go. */
static bool restore_moves_links(const struct controller *c)
{
	const struct to_plan *a = c->plan, *b = c->next;

	return b && (a->n_cross_connects != b->n_cross_connects ||
		     memcmp(a->cross_connects, b->cross_connects,
			    a->n_cross_connects * sizeof(*a->cross_connects)));
}

void to_controller_restore(struct controller *c, const char *why)
{
	const bool moves = restore_moves_links(c);
	uint64_t start = to_clock_monotonic_ns();
	struct to_error err = { 0 };
	bool changed = false;
	double ms;
	int ret;

	to_fabric_status(c->fabric, NULL);
	if (moves)
		to_fabric_leave_out(c->fabric, c->without.servers);
	else
		to_controller_servers_leave_out(c, c->without.servers);
	ret = to_transition_restore(&c->transition, c->next, c->plan, &changed, &err);
	ms = to_clock_seconds_since(start) * 1e3;
	c->broken = ret;
	if (ret)
		to_course_failed(&c->course, TO_COURSE_RESTORE, to_clock_monotonic_ns());
	else
		to_course_done(&c->course, TO_COURSE_RESTORE);
	if (!ret && moves)
		to_carrier_forgive(&c->carrier, c->plan->cluster, c->change_ns,
				   to_clock_monotonic_ns());
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
