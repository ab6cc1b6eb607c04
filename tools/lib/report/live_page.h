/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_LIVE_PAGE_H
#define TOPOOPT_LIVE_PAGE_H

/*
 * The page of a fabric as it is now. Its script listens at "events" for these
 * (server-sent events, each with a JSON object):
 *
 *	plan	the plan in force, as to_live_plan_print() has it
 *	status	a look at all servers, as toctl status --json has it
 *	traffic	bytes from server to server, as to_live_traffic_print() has it
 *	happened	a line of toctl run's log (run.schema.json); or "plan", with links "cut"
 *		and "made"; "change", what is not well any more or well again; "trouble",
 *		when nobody can look
 */

#include <stdio.h>

#include "data/plan.h"
#include "plan/traffic.h"

/** to_live_page_print() - print a page that shows any fabric, by events */
void to_live_page_print(FILE *out, const char *version);

/** to_live_plan_print() - an object with what the page draws of @plan; 0 or -ENOMEM */
int to_live_plan_print(FILE *out, const struct to_plan *plan);

/** to_live_traffic_print() - an object with the matrix and its seconds; 0 or -ENOMEM */
int to_live_traffic_print(FILE *out, const struct to_traffic *traffic);

#endif
