/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_HEATMAP_DATA_H
#define TOPOOPT_HEATMAP_DATA_H

/* Matrices to draw, of a plan, of a job or of measured traffic. */

#include "data/plan.h"
#include "data/tm.h"
#include "report/heatmap.h"

/**
 * to_heatmap_data_of_plan() - take the demand of a plan, or the load of its links
 * @map: zeroed, for to_heatmap_data_free(), also on failure; names are those of @plan
 *
 * Return: 0 or -ENOMEM.
 */
int to_heatmap_data_of_plan(struct to_heatmap *map, const struct to_plan *plan, bool load);

/** to_heatmap_data_of_job() - take the demand of a job, as to_heatmap_data_of_plan() */
int to_heatmap_data_of_job(struct to_heatmap *map, const struct to_demand *demand);

/** to_heatmap_data_of_tm() - take measured traffic or link load, as to_heatmap_data_of_plan() */
int to_heatmap_data_of_tm(struct to_heatmap *map, const struct to_tm *tm, bool load);

/** to_heatmap_data_free() - free the arrays of a map */
void to_heatmap_data_free(struct to_heatmap *map);

#endif
