/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_VERIFY_H
#define TOPOOPT_VERIFY_H

/* Verify a plan before applying it. */

#include "verify/predict.h"

#define TO_UNPROTECTED_MAX 100

/**
 * struct to_failure_cases - what happens when something dies
 * @cases: sources, addresses, and a thing that dies which packets from the one to the
 *	other meet while nothing is broken
 * @covered: of these, where all packets still arrive, whatever their flow hashes
 * @last_hops: where not, and the port that owns the address is dark with it, so
 *	that no table could help
 * @disconnected: where not, and no path is left
 * @uncovered: the rest
 */
struct to_failure_cases {
	uint64_t cases, covered, last_hops, disconnected, uncovered;
};

/**
 * struct to_unprotected - packets from @src for @slot of @dst can be lost when something is down
 * @link: that is the link, UINT32_MAX when it is
 * @packet_switch: 1 + index of the packet switch, else 0
 */
struct to_unprotected {
	uint32_t src, dst, link;
	uint16_t slot;
	unsigned int packet_switch;
};

/**
 * struct to_verify_report - what was found
 * @violations: lines handed to the caller
 * @addresses: node and port addresses that were resolved from every server
 * @unreachable: pairs of a server and a port address that no path joins
 *	without crossing the server that owns the port; no violation. Of a plan without
 *	buffer cycles also those that it has no route for
 * @links: when any one cable is down; both its ends see that, of a simplex link the
 *	server that sends
 * @servers: when any one server is down, seen by its neighbours on cables; not as a
 *	destination, nor as a source
 * @switches: when any one packet switch is down, seen by all who have a port on it
 * @ports: when any one port on a packet switch is down, seen by its server alone: what
 *	others send to it is lost
 * @n_unprotected, @unprotected: the first of links.uncovered and switches.uncovered
 * @figures: recomputed from links, rings, tables and demand
 */
struct to_verify_report {
	unsigned long violations;
	uint64_t addresses, unreachable;
	struct to_failure_cases links, servers, switches, ports;
	unsigned int n_unprotected;
	struct to_unprotected unprotected[TO_UNPROTECTED_MAX];
	struct to_figures figures;
};

/**
 * to_verify_verdict() - "protected", "unprotected" (against some single link or packet
 *	switch) or "invalid"
 */
const char *to_verify_verdict(const struct to_verify_report *report);

/** to_verify_line - one violation, a line without newline */
typedef void to_verify_line(void *data, const char *line);

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
