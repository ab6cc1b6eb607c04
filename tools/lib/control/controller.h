/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_CONTROLLER_H
#define TOPOOPT_CONTROLLER_H

/*
 * The closed loop: measure the traffic of a fabric every interval, price it on the plans
 * that the fabric could have, decide which of them it should have (candidates.h), and
 * take the fabric there (transition.h).
 *
 * The file of the plan, PLAN, is the only state, and PLAN.lock says whose it is: of one
 * controller at a time. A change goes through these steps:
 *
 *	save	write the new plan to PLAN.next
 *	make	take servers and optical switches to it
 *	keep	rename PLAN.next to PLAN
 *
 * When a step fails, the fabric is brought back to PLAN, and PLAN.next is removed once
 * it is there. What does not succeed is tried again, ever more rarely, and nothing is
 * decided meanwhile. A controller that ends in the middle leaves PLAN.next behind; the
 * next one looks whether the whole fabric is as PLAN.next says: if so it keeps it,
 * else it brings the fabric back to PLAN.
 *
 * When ports are without light for long (carrier.h), or a server is gone with all of
 * its own, the fabric goes to a plan without them (repair.h), which is kept as
 * PLAN.repair; PLAN stays what was asked for. When the light is back to stay, the fabric
 * returns to PLAN, and PLAN.repair is removed. While it is there, it is what PLAN is
 * above: what is in force, and what failures go back to. Traffic is not planned for
 * meanwhile.
 */

#include "control/controller_config.h"

/**
 * to_controller_run() - finish or undo what an earlier one left, then loop until stopped
 *
 * Return: 0, or 1 when the fabric is not as the plan says at the end; a negative errno
 * with @err set when it cannot start: the plan cannot be read or is another controller's
 * (-EBUSY), agents or optical switches cannot be reached at all.
 */
int to_controller_run(const struct to_controller_config *config, struct to_error *err);

/**
 * to_controller_replay() - decide on recorded traffic
 * @config: dry_run must be set; fabric and carrier_ns are not used
 * @path: file of a merged matrix of the plan's servers
 *
 * Return: 0, or a negative errno with @err set: the plan or @path cannot be read, or
 * @path is of other servers.
 */
int to_controller_replay(const struct to_controller_config *config, const char *path,
			 struct to_error *err);

#endif
