/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PLANNER_PRICE_H
#define TOPOOPT_PLANNER_PRICE_H

/* What restrictions of a plan cost. */

#include <stdio.h>

#include "verify/predict.h"

/** struct to_planner_price - the plan without restrictions that were asked for */
struct to_planner_price {
	struct to_figures cyclic;	/* with the routes that no_buffer_cycles replaced, else zeros */
	double free_time;		/* communication time with rings of any order, in seconds; else 0 */
};

/**
 * to_planner_price_print() - print a line per restriction
 * @now: figures of the plan
 */
void to_planner_price_print(FILE *out, const struct to_planner_price *price,
			    const struct to_figures *now);

/** to_planner_price_json() - add members to a JSON object. Return: 0 or -ENOMEM. */
int to_planner_price_json(const struct to_planner_price *price, json_t *object);

#endif
