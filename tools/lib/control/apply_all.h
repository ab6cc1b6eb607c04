/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_APPLY_ALL_H
#define TOPOOPT_APPLY_ALL_H

/* Applies a plan to all its servers, or to none. */

#include "control/confirm.h"
#include "control/fabric.h"

/** struct to_applied_all - what to_apply_all() has done */
struct to_applied_all {
	unsigned int servers;	/* number of servers of the plan */
	uint64_t generation;	/* active on all of them */
	bool changed;		/* a new generation was committed */
	double reached;		/* seconds from the start until the agents were asked */
	double staged;		/* seconds from the start until all had staged the plan */
	double committed;	/* seconds from the start until all had committed it */
};

/**
 * to_apply_all() - stage @plan on all its servers, and commit it on all
 * @options: how to reach the agents
 * @confirm: NULL: the change stays. Otherwise it is undone unless it is confirmed
 * @result: filled in on success
 *
 * Return: 0; -ECANCELED with @err: not confirmed, all servers went back; another negative
 * errno with @err.
 */
int to_apply_all(const struct to_plan *plan, const struct to_fabric_options *options,
		 const struct to_confirm *confirm, struct to_applied_all *result,
		 struct to_error *err);

#endif
