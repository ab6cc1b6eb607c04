/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOCTL_OBSERVER_H
#define TOCTL_OBSERVER_H

/* Looks at a fabric, one after the other, without changing anything: for status, top and watch. */

#include <limits.h>
#include <sys/stat.h>

#include "control/fabric.h"
#include "doctor/loop_state.h"
#include "doctor/status.h"

/**
 * struct to_observer - who looks
 * @path, @log: of the plan, and of the log of its loop or NULL
 * @loaded: what stat() said of the file that @plan was loaded from
 * @plan: in force: PLAN.repair while that is there; read anew when a toctl run changes it
 * @digests: of its tables, NULL before they were asked for
 * @before: the look before, or NULL
 */
struct to_observer {
	const char *path, *log;
	struct stat loaded;
	struct to_plan *plan;
	uint64_t *digests;
	struct to_fabric *fabric;
	struct to_loop_state loop;
	json_t *before;
};

/**
 * to_observer_open() - load the plan and get ready to look
 * @options: its strings must outlive the observer
 */
int to_observer_open(struct to_observer *observer, const char *path, const char *log,
		     const struct to_fabric_options *options, struct to_error *err);
void to_observer_close(struct to_observer *observer);

/**
 * to_observer_look() - how it is now
 * @status: gets it, freed before the next look; borrows the plan
 */
int to_observer_look(struct to_observer *observer, struct to_status *status,
		     struct to_error *err);

/** to_observer_json() - @status and what is known of the loop, see status.schema.json; or NULL */
json_t *to_observer_json(const struct to_observer *observer, const struct to_status *status);

#endif
