/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SHARD_PAGE_H
#define TOPOOPT_SHARD_PAGE_H

/* A trace of jobs on a shared cluster as one HTML page, without script. */

#include "shard/shard_schedule.h"

/**
 * to_shard_page_save() - write the page of @schedule to @path ("-" = standard output)
 * @how: policy and switching, in words
 * @version: of the program, for the foot of the page
 *
 * Which server runs which job when, and how many jobs wait.
 */
int to_shard_page_save(const struct to_shard_schedule *schedule, const char *how,
		       const char *version, const char *path, struct to_error *err);

#endif
