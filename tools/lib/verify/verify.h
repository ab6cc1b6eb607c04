/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_VERIFY_H
#define TOPOOPT_VERIFY_H

/* Verify a plan before applying it. */

#include "verify/verify_report.h"

/**
 * to_verify_verdict() - "protected", "unprotected" (against some single link or packet
 *	switch) or "invalid"
 */
const char *to_verify_verdict(const struct to_verify_report *report);

/**
 * to_verify() - check all of @plan
 * @line: called for every violation
 * @data: for @line
 *
 * - every port on no packet switch has one link, links join ports of one optical switch, and
 *   cross-connects are these links and a matching of the switch's ports
 * - rings visit every member once and own a link for every hop, or none
 * - trees span their groups and own the links of every hop, or none
 * - from every server, packets to every node address and to every port address
 *   with a link arrive on all branches, and enter the right port; there is no
 *   loop, also with source-qualified routes
 * - no packet meets an alternate while nothing is broken, except those of queue
 *   pairs on ports that the tables do not send by, and these do not loop
 * - there is no loop while any one link, packet switch or port on one is down, on the
 *   next hops, backups and alternates that are left; where packets are lost the case is
 *   uncovered
 * - no next hop has a share that the kernel refuses
 * - port shares of a pair add up to TO_PORT_SHARES, where it has a route
 * - no route is longer than the plan's max_stretch allows
 * - the predictions are true, and there are no buffer cycles where the plan says so
 *
 * Return: 0 when checked (see @report for the verdict), or -ENOMEM.
 */
int to_verify(const struct to_plan *plan, to_verify_line *line, void *data,
	      struct to_verify_report *report);

/**
 * to_verify_progress() - to_verify() that says how far it is
 * @progress: called with the percent of the whole that is done
 * @data: for @line and @progress
 */
int to_verify_progress(const struct to_plan *plan, to_verify_line *line,
		       void (*progress)(void *data, unsigned int percent), void *data,
		       struct to_verify_report *report);

#endif
