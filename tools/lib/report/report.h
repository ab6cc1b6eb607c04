/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_REPORT_H
#define TOPOOPT_REPORT_H

/*
 * A plan as one HTML page: topology, demand, link load and hops drawn, the
 * figures beside their lower bounds. The page is whole in itself, a browser needs no
 * network to show it.
 */

#include "data/plan.h"

/**
 * to_report_save() - write the page of @plan to @path ("-" = standard output)
 * @version: of the program, for the foot of the page
 *
 * All figures are recomputed by to_verify(), none is taken from
 * to_plan.predictions; what it finds wrong is on the page. With more servers
 * than TO_REPORT_DETAIL the routes are left out and matrices summed.
 *
 * Return: 0, -EINVAL when the links of @plan are no graph, or a negative errno
 * of writing or memory.
 */
int to_report_save(const struct to_plan *plan, const char *version, const char *path,
		   struct to_error *err);

#endif
