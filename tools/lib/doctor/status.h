/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_STATUS_H
#define TOPOOPT_STATUS_H

/*
 * How a whole fabric is: what its agents count, twice, beside its plan.
 *
 *	to_status_look()	what all agents say now, a JSON object that can be kept
 *	to_status_make()	what that means, and what happened since an earlier look
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "control/fabric.h"
#include "data/plan.h"
#include "doctor/status_view.h"
#include "measure/link_losses.h"

/**
 * to_status_look() - ask all servers of a fabric; to_fabric_options.observe will do
 * @n: servers
 * @look: gets {"time": seconds since the epoch, "end_ns": CLOCK_MONOTONIC, "span_ns": time
 *	that the look took, "servers": {NAME: its reply, or "error"}}
 */
int to_status_look(struct to_fabric *fabric, unsigned int n, json_t **look,
		   struct to_error *err);

/**
 * to_status_losses() - judge all links by a look
 * @losses: see to_link_losses_follow(); of the servers of @cluster
 *
 * Return: 0 or -ENOMEM with @err.
 */
int to_status_losses(struct to_link_losses *losses, const struct to_cluster *cluster,
		     const json_t *look, struct to_error *err);

/**
 * to_status_make() - what @now says
 * @plan: in force
 * @wanted: the operator's; @plan, or what @plan repairs
 * @digests: of the plan's tables, see to_plan_digests(); NULL: tables are not compared, as while
 *	a change is under way
 * @losses: that know @now, or NULL
 * @before: an earlier look at the same servers, NULL for none
 *
 * Return: 0 or -ENOMEM with @err.
 */
int to_status_make(struct to_status *status, const struct to_plan *plan,
		   const struct to_plan *wanted, const uint64_t *digests,
		   const struct to_link_losses *losses, const json_t *before, const json_t *now,
		   struct to_error *err);
void to_status_free(struct to_status *status);

/** to_status_word() - tell how well the fabric is: to_health_words, or "unknown" */
const char *to_status_word(const struct to_status *status);

/** to_status_busiest() - arc with the greatest utilisation; NULL when nothing was counted */
const struct to_status_arc *to_status_busiest(const struct to_status *status);

/** to_status_json() - all of it, see status.schema.json; NULL when out of memory */
json_t *to_status_json(const struct to_status *status);

#endif
