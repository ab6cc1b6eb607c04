/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_REPAIR_H
#define TOPOOPT_REPAIR_H

/* A plan for what is left of a fabric when ports or servers are down. */

#include <stdio.h>

#include "data/down.h"
#include "data/plan.h"
#include "verify/predict.h"

/**
 * enum to_repair_rings - what became of the AllReduce rings
 * @TO_REPAIR_KEPT: all keep their order; those that lost a hop are routed
 * @TO_REPAIR_REFORMED: those that lost a hop have another order, on links of their
 *	own where these have one
 * @TO_REPAIR_ANEW: all were laid anew on the links that are left; packed trees were packed
 *	anew there
 */
enum to_repair_rings { TO_REPAIR_KEPT, TO_REPAIR_REFORMED, TO_REPAIR_ANEW, TO_REPAIR_RINGS };

/** NULL-terminated, in the order of enum to_repair_rings: "kept", ... */
extern const char *const to_repair_rings_names[];

/**
 * struct to_repair - a repair and its price
 * @plan: for what is left, with predictions, to_plan.down and to_plan.dark
 * @dark: links that are dark
 * @moved: of them, those that got other ports of the same two servers
 * @parts: into which the links that are left divide the servers
 * @cut_off: per server, whether it is outside the largest part
 * @n_cut_off: how many are
 * @rings: see there
 * @before, @after: figures of the plan and of the repaired one
 */
struct to_repair {
	struct to_plan *plan;
	unsigned int dark, moved, parts, n_cut_off;
	bool *cut_off;
	enum to_repair_rings rings;
	struct to_figures before, after;
};

/**
 * to_repair_plan() - plan without what is down
 * @plan: not changed; what it does without already stays so
 * @down: of its cluster
 * @effort: of routes, TO_EFFORT_MIN to TO_EFFORT_MAX
 *
 * A dark link between ports of an optical switch moves to other ports of the same
 * two servers on that switch, where they have any that are neither down nor in use.
 * Rings and trees that still lost a hop are routed in their order, or rings are
 * formed anew on the links that are left: the first of enum to_repair_rings wins that
 * is nearly as fast as the best of them.
 *
 * Demand between servers without a path is left out: their transfers, and the
 * members of a group outside the part where most of it is.
 *
 * Return: 0, -ENOLINK when no link is left, -ENOMEM, or as to_plan_completion_fill().
 */
int to_repair_plan(const struct to_plan *plan, const struct to_down *down, unsigned int effort,
		   struct to_repair *repair, struct to_error *err);

/** to_repair_free() - free a repair; its plan stays if it was taken and set to NULL */
void to_repair_free(struct to_repair *repair);

/** to_repair_print() - print what a repair did, who is cut off, and figures before and after */
void to_repair_print(FILE *out, const struct to_repair *repair);

/** to_repair_json() - make JSON of a repair, as toctl replan --down --json prints it */
json_t *to_repair_json(const struct to_repair *repair);

#endif
