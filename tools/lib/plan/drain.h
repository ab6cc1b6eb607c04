/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_DRAIN_H
#define TOPOOPT_DRAIN_H

/* Tables for the time in which an optical switch goes from one plan to another. */

#include "data/plan.h"

/**
 * struct to_drain - the steps from one plan to another
 * @n: steps, see rewire_steps.h; 0 when no link changes
 * @plans: one per step: the links that are lit when it begins, no rings, and
 *	tables that use only those which it leaves
 * @n_cut, @n_made: links that only the old plan has, and only the new one
 * @n_waiting: ordered pairs of servers without a path in the last step
 *
 * Only the addresses of the ports that are cut still need the link that is cut
 * with them, as the last hop: no other link leads to them. Between plans without buffer
 * cycles they have no routes.
 */
struct to_drain {
	unsigned int n;
	struct to_plan **plans;
	unsigned int n_cut, n_made, n_waiting;
};

/**
 * to_drain_make() - what to commit before links are cut
 * @next: on the same servers and ports; its demand is what is routed
 *
 * Commit plans[0] on @old, then set the switches as plans[1] says, commit that,
 * and so on; after the last one set them as @next says. That takes the path from
 * no packet but those to ports that are cut, and those of pairs that wait. The
 * same two plans give the same steps, so they can be made again, forwards and backwards.
 *
 * Return: 0, or -ENOMEM, or -ENOSPC as to_routing_fill().
 */
int to_drain_make(const struct to_plan *old, const struct to_plan *next,
		  struct to_drain *drain, struct to_error *err);
void to_drain_free(struct to_drain *drain);

#endif
