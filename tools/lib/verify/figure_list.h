/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_FIGURE_LIST_H
#define TOPOOPT_FIGURE_LIST_H

/* The figures that a plan is judged by, with the names that people see everywhere. */

#include "verify/predict.h"

/** enum to_figure - one of them, those that matter most first */
enum to_figure {
	TO_FIGURE_COMM_TIME,
	TO_FIGURE_ALLREDUCE_TIME,
	TO_FIGURE_LINK_LOAD,
	TO_FIGURE_MP_LINK_LOAD,
	TO_FIGURE_BANDWIDTH_TAX,
	TO_FIGURE_MEAN_HOPS,
	TO_FIGURE_DIAMETER,
	TO_FIGURES
};

/** to_figure_name() - "communication time" */
const char *to_figure_name(enum to_figure which);

/** to_figure_meaning() - "busiest link, per training iteration" */
const char *to_figure_meaning(enum to_figure which);

/** to_figure_value(), to_figure_bound() - of a plan, and what no topology could better */
double to_figure_value(const struct to_figures *figures, enum to_figure which);
double to_figure_bound(const struct to_figures *figures, enum to_figure which);

/** to_figure_text() - a value or bound with its unit: "17.75 ms", "2 hops" */
const char *to_figure_text(enum to_figure which, double value, char text[24]);

#endif
