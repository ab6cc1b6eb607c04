/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_VERIFY_H
#define TOPOOPT_VERIFY_H

/* Verify a plan before applying it. */

#include "verify/predict.h"

/**
 * struct to_verify_report - what was found
 * @violations: lines handed to the caller
 * @addresses: node and port addresses that were resolved from every server
 * @unreachable: pairs of a server and a port address that no path joins
 *	without crossing the server that owns the port; no violation
 * @cases: pairs of an address and a link that packets to it use, per server
 *	that sends them there; each is one failed link
 * @covered: of these, where all packets still arrive
 * @last_hops: where the link is the only path into the port that owns the
 *	address, so that no table could help
 * @uncovered: the rest
 * @figures: recomputed from links, rings, tables and demand
 */
struct to_verify_report {
	unsigned long violations;
	uint64_t addresses, unreachable;
	uint64_t cases, covered, last_hops, uncovered;
	struct to_figures figures;
};

/** to_verify_line - one violation, a line without newline */
typedef void to_verify_line(void *data, const char *line);

/**
 * to_verify() - check all of @plan
 * @line: called for every violation
 * @data: for @line
 *
 * - every port has one link, links join ports of one optical switch, and
 *   cross-connects are these links and a matching of the switch's ports
 * - rings visit every member once and own a link for every hop, or none
 * - trees span their groups and own the links of every hop, or none
 * - from every server, packets to every node address and to every port address
 *   with a link arrive on all branches, and enter the right port; there is no
 *   loop, also with source-qualified routes
 * - the same for every single failed link, on the next hops and backups left
 *   to the server that sees it; where none is left the case is uncovered
 * - port shares of a pair add up to TO_PORT_SHARES, where it has a route
 * - the predictions are true
 *
 * Return: 0 when checked (see @report for the verdict), or -ENOMEM.
 */
int to_verify(const struct to_plan *plan, to_verify_line *line, void *data,
	      struct to_verify_report *report);

#endif
