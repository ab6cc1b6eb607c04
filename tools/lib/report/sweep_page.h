/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SWEEP_PAGE_H
#define TOPOOPT_SWEEP_PAGE_H

#include <jansson.h>

#include "base/error.h"

/**
 * to_sweep_page_save() - a sweep as an HTML page: charts of its points, and its ratios
 * @swept: what tosim sweep prints with --json (swept.schema.json)
 * @version: of the program, for the foot of the page
 * @path: "-" = standard output
 *
 * Return: 0 or a negative errno with @err set.
 */
int to_sweep_page_save(const json_t *swept, const char *version, const char *path,
		       struct to_error *err);

#endif
