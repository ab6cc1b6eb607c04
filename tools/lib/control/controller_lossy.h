/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_CONTROLLER_LOSSY_H
#define TOPOOPT_CONTROLLER_LOSSY_H

/*
 * Links of the plan that was asked for that are held down as they lose packets (lossy.h), and
 * its ports that run at a lower rate than it says (slow.h).
 */

#include "control/controller_state.h"

/**
 * to_controller_lossy_look() - Ask all servers what their links count, and at which rate they
 * run, once a second
 *
 * Logs each link and port that is held from now on, or used again. What servers answer otherwise
 * is asked for by the caller afterwards.
 */
void to_controller_lossy_look(struct controller *c);

/** to_controller_lossy_add() - Take the ends of links that are held down, too; 0 or -ENOMEM */
int to_controller_lossy_add(const struct controller *c, struct to_down *down);

#endif
