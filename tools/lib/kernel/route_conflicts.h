/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ROUTE_CONFLICTS_H
#define TOPOOPT_ROUTE_CONFLICTS_H

/*
 * Finds routes and rules of others that win over those that apply made: the kernel is asked for
 * its route to each address of the plan, and from each port's address that has a rule.
 */

#include "base/error.h"
#include "data/plan.h"
#include "kernel/netlink.h"
#include "kernel/resolve.h"
#include "kernel/rtnl.h"

#define TO_ROUTE_CONFLICTS_MAX 32u	/* more are counted, not named */

/** struct to_route_conflict - one route or rule that wins */
struct to_route_conflict {
	char subject[64];	/* the first address that it takes */
	char text[200];		/* what wins, and over what */
	char fix[160];		/* command that removes it, "" when none is known */
	unsigned int n;		/* addresses that it takes */
};

/** struct to_route_conflicts - all that were found */
struct to_route_conflicts {
	struct to_route_conflict items[TO_ROUTE_CONFLICTS_MAX];
	unsigned int n;		/* number of @items */
	unsigned int more;	/* conflicts beyond TO_ROUTE_CONFLICTS_MAX */
};

/**
 * to_route_conflicts_find() - Ask the kernel which way it sends to the plan's addresses
 * @found: interfaces of @server
 * @entries: what apply made, or would make, on @server; an address without an entry is left out
 *
 * Asks for many addresses in one message. Return: 0, or a negative errno with @err.
 */
int to_route_conflicts_find(struct to_netlink *rt, const struct to_plan *plan, unsigned int server,
			    const struct to_interfaces *found, const struct to_entries *entries,
			    struct to_route_conflicts *conflicts, struct to_error *err);

/** to_route_conflicts_here() - find them by what this server's kernel should have of @plan */
int to_route_conflicts_here(const struct to_plan *plan, unsigned int server, const char *device,
			    struct to_route_conflicts *conflicts, struct to_error *err);

#endif
