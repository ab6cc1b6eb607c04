/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_LOOP_STATE_H
#define TOPOOPT_LOOP_STATE_H

/* What toctl run is doing, as the files beside its plan and its log tell. */

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"

/**
 * struct to_loop_state - of one plan's loop
 * @running: a toctl is at work with the plan on this machine
 * @repair: a plan without ports or servers that are down is in force (PLAN.repair)
 * @change: a change is under way, or was interrupted (PLAN.next)
 * @decision: last line of the log about a decision, a change or a refusal; NULL: none
 */
struct to_loop_state {
	bool running, repair, change;
	json_t *decision;
};

/**
 * to_loop_state_read() - look at the files
 * @plan: path of the plan
 * @log: path of the log that toctl run writes, or NULL
 *
 * Return: 0, or a negative errno with @err: the log cannot be read.
 */
int to_loop_state_read(struct to_loop_state *state, const char *plan, const char *log,
		       struct to_error *err);
void to_loop_state_free(struct to_loop_state *state);

/** to_loop_state_text() - @decision for people: "rewire: ..." */
void to_loop_state_text(const struct to_loop_state *state, char *text, size_t size);

#endif
