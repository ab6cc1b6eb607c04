// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/check.h"
#include "kernel/route_conflicts.h"

void to_check_routes(struct to_checks *checks, const char *device, const struct to_check_view *view)
{
	struct to_route_conflicts conflicts;
	struct to_error err = {};

	/* what keeps this from being asked is the finding of other checks */
	if (to_route_conflicts_here(view->plan, view->server, device, &conflicts, &err))
		return;
	for (unsigned int i = 0; i < conflicts.n; i++) {
		const struct to_route_conflict *c = &conflicts.items[i];

		if (c->n > 1)
			to_check_add(checks, TO_CHECK_FAIL, "route", c->subject, c->fix,
				     "%s; so for %u more addresses", c->text, c->n - 1);
		else
			to_check_add(checks, TO_CHECK_FAIL, "route", c->subject, c->fix, "%s",
				     c->text);
	}
	if (conflicts.more)
		to_check_add(checks, TO_CHECK_FAIL, "route", device, NULL,
			     "%u more routes of others win over the plan's", conflicts.more);
	if (!conflicts.n)
		to_check_add(checks, TO_CHECK_OK, "route", device, NULL,
			     "no route or rule of others wins over the plan's");
}
