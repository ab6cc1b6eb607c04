/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_CONTROLLER_SERVERS_H
#define TOPOOPT_CONTROLLER_SERVERS_H

/*
 * Servers that keep the others from nothing: those whose agent is away are left out of
 * decisions, and those that are back get the table that was decided on.
 */

#include "control/controller_state.h"

/**
 * to_controller_servers_leave_out() - Decide without servers that are down or whose agent is away
 * @down: per server, whether the plan does without it
 *
 * By the last answers. Each server whose agent is away is named once until it is back.
 */
void to_controller_servers_leave_out(struct controller *c, const bool *down);

/** to_controller_servers_look() - Note which servers are back, and which are astray */
void to_controller_servers_look(struct controller *c);

/**
 * to_controller_servers_bring() - Give servers that are astray the table that was decided on
 *
 * Return: false when one has a later generation: the fabric is to be restored. That is no more
 * often than lines about one server are printed.
 */
bool to_controller_servers_bring(struct controller *c);

/** to_controller_servers_as_planned() - Tell whether all servers have the table of their plan */
bool to_controller_servers_as_planned(const struct controller *c);

#endif
