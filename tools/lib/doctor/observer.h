/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_OBSERVER_H
#define TOPOOPT_OBSERVER_H

/* Looks at a fabric again and again without changing anything. */

#include <limits.h>
#include <sys/stat.h>

#include "control/fabric.h"
#include "doctor/loop_state.h"
#include "doctor/status.h"

/** struct to_observer - a fabric that is looked at */
struct to_observer {
	const char *path;	/* of the plan */
	const char *log;	/* path of its loop's log, or NULL */
	struct stat loaded;	/* of the file that @plan was loaded from */
	struct to_plan *plan;	/* in force: PLAN.repair while that exists; loaded again when it changes */
	struct stat wanted_loaded;	/* of the file that @wanted was loaded from */
	struct to_plan *wanted;	/* the operator's, while PLAN.repair is in force; else NULL */
	uint64_t *digests;	/* of the plan's tables; NULL until they are needed */
	struct to_fabric *fabric;
	struct to_loop_state loop;
	json_t *before;		/* the look before, or NULL */
	struct to_link_losses losses;	/* by the looks so far */
};

/**
 * to_observer_open() - load the plan in force and prepare to look
 * @path: of the plan
 * @log: path of its loop's log, or NULL
 * @options: how to reach the agents; its strings must outlive the observer
 *
 * Return: 0, or a negative errno with @err. Call to_observer_close() either way.
 */
int to_observer_open(struct to_observer *observer, const char *path, const char *log,
		     const struct to_fabric_options *options, struct to_error *err);

/** to_observer_close() - free all that an observer owns */
void to_observer_close(struct to_observer *observer);

/**
 * to_observer_look() - look at the fabric, and compare with the look before
 * @status: to be freed before the next look, as it borrows the plan
 *
 * Return: 0, or a negative errno with @err.
 */
int to_observer_look(struct to_observer *observer, struct to_status *status,
		     struct to_error *err);

/**
 * to_observer_look_once() - look at the fabric, and compare with the look of another process
 * @not_kept: gets the reason why the next process will not know of this look, or ""
 *
 * Return: 0, or a negative errno with @err.
 */
int to_observer_look_once(struct to_observer *observer, struct to_status *status,
			  struct to_error *not_kept, struct to_error *err);

/** to_observer_json() - return @status and the loop's state, see status.schema.json; or NULL */
json_t *to_observer_json(const struct to_observer *observer, const struct to_status *status);

#endif
