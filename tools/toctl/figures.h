/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_FIGURES_H
#define TOPOOPT_FIGURES_H

#include <stdio.h>

#include "verify/predict.h"

/** to_figures_print() - the figures of @plan beside their lower bounds, as text */
void to_figures_print(FILE *out, const struct to_plan *plan,
		      const struct to_figures *figures);

/** to_figures_compare() - figures of a plan before and after a change, as text */
void to_figures_compare(FILE *out, const struct to_figures *before,
			const struct to_figures *after);

#endif
