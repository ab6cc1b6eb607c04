/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_EFFORT_H
#define TOPOOPT_EFFORT_H

/* How much work a plan is worth: each step of effort doubles it. */

#define TO_EFFORT_MIN 1
#define TO_EFFORT_DEFAULT 5
#define TO_EFFORT_MAX 9

/**
 * to_effort_steps() - steps of a search, at @effort
 * @steps: at TO_EFFORT_DEFAULT
 */
static inline double to_effort_steps(double steps, unsigned int effort)
{
	return effort < TO_EFFORT_DEFAULT ? steps / (1 << (TO_EFFORT_DEFAULT - effort)) :
					    steps * (1 << (effort - TO_EFFORT_DEFAULT));
}

#endif
