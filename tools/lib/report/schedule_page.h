/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SCHEDULE_PAGE_H
#define TOPOOPT_SCHEDULE_PAGE_H

/* A schedule of chunks as one HTML page, without script. */

#include "collectives/chunk_run.h"

/**
 * to_schedule_page_save() - write the page of @run of @s to @path ("-" = standard output)
 * @how: policy and order, in words
 * @version: of the program, for the foot of the page
 *
 * When each dimension sends which chunk, and how utilisation changes with the size of the
 * buffer and with the number of chunks: baseline and Themis, run for that.
 */
int to_schedule_page_save(const struct to_chunk_schedule *s, const struct to_chunk_run *run,
			  const char *how, const char *version, const char *path,
			  struct to_error *err);

#endif
