/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PACKED_TREES_H
#define TOPOOPT_PACKED_TREES_H

/* AllReduce over trees that share all links with each other and with MP transfers. */

#include "plan/plan_completion.h"

/**
 * to_packed_trees_try() - trees instead of the rings of @plan, where they are faster
 * @plan: as of to_plan_completion_primaries(), and so it leaves; keeps its links
 * @fixed: these links are the only ones, not some of those that are compared
 * @effort: as there
 * @figures: of @plan; gets those that it has then
 *
 * The trees of all groups are packed on all links alike, or, where the bounds of
 * AllReduce and MP transfers add up to a twentieth more than that of both together,
 * around MP transfers as they are routed (see tree_packing.h), in turns with routing
 * while that gains something. On @fixed links they also go around MP transfers where that saves
 * a twentieth, whatever the bounds of other links say. Where trees are not faster, @plan stays as
 * it is; where its time is the bound already, none are packed.
 *
 * Where the plan says latencies, they count; where they are a tenth of the time of bytes,
 * recursive halving is tried, too, where the links are a hypercube (recursive_halving.h), and
 * trees of shortest paths (shallow_trees.h).
 *
 * A hop of a tree takes links both ways, so simplex links carry trees only where they
 * lead there and back.
 *
 * Return: 0, or as to_plan_completion_primaries().
 */
int to_packed_trees_try(struct to_plan *plan, bool fixed, unsigned int effort,
			struct to_figures *figures, struct to_error *err);

#endif
