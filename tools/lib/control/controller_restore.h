/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_CONTROLLER_RESTORE_H
#define TOPOOPT_CONTROLLER_RESTORE_H

/* The way back to the plan in force, from wherever servers are. */

#include "control/controller_state.h"

/**
 * to_controller_restore() - Bring all servers that answer to c->plan, or set c->broken
 * @why: for the log
 */
void to_controller_restore(struct controller *c, const char *why);

#endif
