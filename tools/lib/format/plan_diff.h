/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PLAN_DIFF_H
#define TOPOOPT_PLAN_DIFF_H

/* What is different in another plan. Servers and ports are the same where their names are. */

#include <stdbool.h>

#include "base/error.h"
#include "data/plan.h"

/**
 * struct to_plan_diff_server - a server whose routes or settings differ
 * @from, @to: its index in either plan, -1 where it is not
 * @settings: its addresses or ports are others
 * @added, @removed, @changed: addresses that have a route in one plan only, or other next
 *	hops: another port, weight, role, or another server at the end of that port's link
 * @pairs: routes of single sources that one plan alone has, or that have other next hops
 */
struct to_plan_diff_server {
	int from, to;
	bool settings;
	unsigned int added, removed, changed, pairs;
};

#define TO_PLAN_MEMBERS 32	/* of a plan.json, at most */

/**
 * struct to_plan_diff - what to_plan_diff() found
 * @same: no member differs
 * @cut, @made: links that only the first or only the second plan has
 * @servers: those that differ, in the order of the first plan, then of the second
 * @members: of plan.json, those that differ: "links", "demand"; not "predictions", which
 *	follow from the others
 */
struct to_plan_diff {
	bool same;
	unsigned int n_cut, n_made, n_servers, n_members;
	struct to_link *cut, *made;
	struct to_plan_diff_server *servers;
	char members[TO_PLAN_MEMBERS][24];
};

/** to_plan_diff() - compare @from with @to; Return: 0 or a negative errno with @err */
int to_plan_diff(const struct to_plan *from, const struct to_plan *to, struct to_plan_diff *diff,
		 struct to_error *err);
void to_plan_diff_free(struct to_plan_diff *diff);

/** to_plan_diff_settings() - whether addresses or ports of a server differ, wherever its fibres lead */
bool to_plan_diff_settings(const struct to_server *a, const struct to_server *b);

/** to_plan_diff_switches() - whether both plans have the same optical switches by name */
bool to_plan_diff_switches(const struct to_plan *from, const struct to_plan *to);

#endif
