/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_COMPARISON_H
#define TOPOOPT_COMPARISON_H

/* Two plans for the same servers as one HTML page, side by side. */

#include "data/plan.h"

/**
 * to_comparison_save() - write the page to @path ("-" = standard output)
 * @names: of the plans' files, as the page has them
 * @version: of the program, for the foot of the page
 *
 * Figures are recomputed, as to_report_save() does.
 *
 * Return: 0, -EINVAL when the plans are for other servers or the links of one are no graph,
 * or a negative errno of writing or memory.
 */
int to_comparison_save(const struct to_plan *const plans[2], const char *const names[2],
		       const char *version, const char *path, struct to_error *err);

#endif
