/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ITERATION_PAGE_H
#define TOPOOPT_ITERATION_PAGE_H

#include "base/error.h"

/**
 * to_iteration_page_save() - the last iteration of a simulation as an HTML page with its timeline
 * @simulation: file that toctl simulate -o wrote (simulation.schema.json)
 * @version: of the program, for the foot of the page
 * @path: "-" = standard output
 *
 * Return: 0, -EINVAL with @err when @simulation is none or has no tasks; another negative
 * errno of reading, writing or memory.
 */
int to_iteration_page_save(const char *simulation, const char *version, const char *path,
			   struct to_error *err);

#endif
