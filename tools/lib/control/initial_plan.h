/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_INITIAL_PLAN_H
#define TOPOOPT_INITIAL_PLAN_H

#include "control/controller_config.h"
#include "data/plan.h"

/**
 * to_initial_plan_load() - Load the plan in force or, where there is none, the one to begin with
 *
 * The latter is written as the former, unless it is a dry run. What cannot be read as a
 * plan, such as what a full disk left, is kept as PLAN.damaged. The log tells of both.
 *
 * Return: NULL with the reason in @err: there is neither, or it cannot be written.
 */
struct to_plan *to_initial_plan_load(const struct to_controller_config *config,
				     struct to_error *err);

#endif
