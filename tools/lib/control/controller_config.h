/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_CONTROLLER_CONFIG_H
#define TOPOOPT_CONTROLLER_CONFIG_H

#include <signal.h>

#include "control/candidates.h"
#include "control/carrier.h"
#include "control/fabric.h"
#include "control/lossy.h"
#include "control/run_log.h"
#include "measure/shift.h"

/** struct to_controller_config - what a controller works with, all borrowed */
struct to_controller_config {
	const char *plan;	/* file of the plan in force; to_plan_save() refuses it to others */
	const char *initial;	/* file of the plan to begin with where @plan has none; or NULL */
	const char *allow;	/* see to_switch_allow_check() */
	bool dry_run;		/* decide, but change neither the fabric nor files */
	bool beside;		/* plan in a thread of its own, beside the loop; not for a replay */
	uint64_t interval_ns;	/* how often to look at the traffic */
	uint64_t carrier_ns;	/* how long new links may take to come up */
	struct to_carrier_config carrier;	/* when a port counts as down, and is repaired */
	struct to_lossy_config lossy;	/* when a link is held down as it loses packets */
	struct to_candidates_config candidates;
	struct to_fabric_options fabric;
	/*
	 * Ends the loop when set; handlers that set it must not restart system calls. A change
	 * that has not touched an optical switch yet is undone, any other is finished.
	 */
	const volatile sig_atomic_t *stop;
	const struct to_run_log *log;	/* told of all that is seen, decided and done */
	/* told of the traffic of every interval that is planned for; may be NULL */
	void (*traffic)(void *data, const struct to_traffic *traffic);
	void *data;		/* of @traffic */
};

#endif
