/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ITERATION_PAGE_H
#define TOPOOPT_ITERATION_PAGE_H

#include <jansson.h>

#include "base/error.h"

/**
 * to_iteration_page_save() - the last iterations of simulations as an HTML page, side by side
 * @simulations: @n files that tosim simulate -o wrote (simulation.schema.json)
 * @version: of the program, for the foot of the page
 * @path: "-" = standard output
 *
 * Return: 0, -EINVAL with @err when one of them is none or has no tasks; another negative
 * errno of reading, writing or memory.
 */
int to_iteration_page_save(char *const *simulations, unsigned int n, const char *version,
			   const char *path, struct to_error *err);

/** to_iteration_page_write() - the same of @n simulations, whole as tosim simulate -o has them */
int to_iteration_page_write(const json_t *const *runs, unsigned int n, const char *version,
			    const char *path, struct to_error *err);

#endif
