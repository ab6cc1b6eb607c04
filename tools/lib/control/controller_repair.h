/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_CONTROLLER_REPAIR_H
#define TOPOOPT_CONTROLLER_REPAIR_H

/* Repaired plans, for ports that lose their light, and the way back. */

#include "control/controller_state.h"

/**
 * to_controller_repair_adopt() - Count as down what the repaired plan in force does without
 *
 * Return: 0 or -ENOMEM.
 */
int to_controller_repair_adopt(struct controller *c);

/** to_controller_repair_open() - Go on from the repair of an earlier controller; 0 or -ENOMEM */
int to_controller_repair_open(struct controller *c);

/**
 * to_controller_repair_look() - Note what is down by what servers told last
 *
 * Sets controller.down and controller.outdated.
 */
void to_controller_repair_look(struct controller *c);

/** to_controller_repair() - Repair, or return, as the last look asks for */
void to_controller_repair(struct controller *c);

#endif
