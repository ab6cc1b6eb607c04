/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_TRANSITION_H
#define TOPOOPT_TRANSITION_H

/*
 * Take a whole fabric from one plan to another: tables of all servers and optical
 * switches, in an order in which no server needs a link while it is dark:
 *
 *	drain	commit tables that use only links which stay, see drain.h;
 *		left out when no link changes
 *	stage	the next tables on all servers
 *	switch	cut and make the links; it returns when they are made
 *	carrier	wait for link up on all of them
 *	commit	the tables that were staged on all servers
 *	verify	generation and carrier of all servers, read-back of the switches
 *
 * Where the links that both plans share do not reach all servers, stage to commit
 * are repeated: the tables for the next step use the links that the last one made.
 *
 * Such tables carry the fabric before, while and after the switches move, so
 * they are confirmed at once: whatever ends this process, every server has a
 * table that works. Those of the new plan are confirmed last, until then agents
 * go back by themselves when their controller goes away.
 */

#include <signal.h>

#include "control/fabric.h"
#include "plan/drain.h"
#include "switch/switch.h"

enum to_transition_step {
	TO_TRANSITION_DRAIN,
	TO_TRANSITION_STAGE,
	TO_TRANSITION_SWITCH,
	TO_TRANSITION_CARRIER,
	TO_TRANSITION_COMMIT,
	TO_TRANSITION_VERIFY,
};

/** NULL-terminated, in the order of enum to_transition_step: "drain", ... */
extern const char *const to_transition_step_names[];

/**
 * A step ended: after @seconds, with @error or NULL. @note: what it did
 * otherwise than described, or NULL.
 */
typedef void to_transition_report(void *data, enum to_transition_step step, double seconds,
				  const char *error, const char *note);

/**
 * struct to_transition - what it works with, all borrowed
 * @switches: NULL when the cluster has none
 * @carrier_ns: how long new links may take to come up
 * @stop: when set, what has not touched an optical switch yet fails with -EINTR
 * @report: may be NULL
 * @drain: owned; the steps between two plans
 * @ahead: plan for which the first tables are staged ahead, held, or NULL; @drain then has
 *	the steps to it
 * @ahead_of: plan that it would follow, held
 * @was_ahead: the last change began with tables that were
 */
struct to_transition {
	struct to_fabric *fabric;
	struct to_switch_set *switches;
	uint64_t carrier_ns;
	const volatile sig_atomic_t *stop;
	to_transition_report *report;
	void *data;
	struct to_drain drain;
	struct to_plan *ahead, *ahead_of;
	bool was_ahead;
};

/**
 * to_transition_ahead() - stage what to_transition_make() would commit first
 *
 * That is what drains the links, or the tables of @next where no link changes. It takes
 * the place of what was staged ahead before.
 *
 * Return: 0, or a negative errno with @err; then nothing is staged.
 */
int to_transition_ahead(struct to_transition *t, const struct to_plan *old,
			const struct to_plan *next, struct to_error *err);

/** to_transition_release() - drop what was staged ahead, if anything; 0 or a negative errno */
int to_transition_release(struct to_transition *t, struct to_error *err);

/**
 * to_transition_make() - from @old, which runs, to @next
 *
 * Return: 0 when all servers run @next; else a negative errno, and the fabric
 * is to be brought back to @old by to_transition_restore().
 */
int to_transition_make(struct to_transition *t, const struct to_plan *old,
		       const struct to_plan *next, struct to_error *err);

/**
 * to_transition_restore() - to @plan, from wherever the fabric is
 * @from: plan that it was being taken to, in this process or an earlier one;
 *	NULL when there was none
 * @changed: gets whether there was anything to do, may be NULL
 *
 * Undoes the change step by step, in reverse; the switches' cross-connects tell
 * which step comes first. The last step does what it can when something fails.
 * Servers that already have the tables of @plan, but under different generations,
 * get one. May be called again.
 *
 * Return: 0 when all servers and switches are as @plan says; else a negative
 * errno of what failed first.
 */
int to_transition_restore(struct to_transition *t, const struct to_plan *from,
			  const struct to_plan *plan, bool *changed, struct to_error *err);

/**
 * to_transition_at() - whether all servers and switches are as @plan says
 *
 * Return: 1, 0, or a negative errno when that cannot be told.
 */
int to_transition_at(struct to_transition *t, const struct to_plan *plan, struct to_error *err);

/** to_transition_free() - when the fabric is closed */
void to_transition_free(struct to_transition *t);

#endif
