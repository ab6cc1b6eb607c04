/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_APPLIED_H
#define TOPOOPT_APPLIED_H

/*
 * The plans that toctl apply made active last, by job: state files (state_file.h), on a
 * server those of the server, and those that --all made active from here.
 */

#include <limits.h>
#include <stdbool.h>
#include <time.h>

#include "base/error.h"
#include "data/plan.h"

/**
 * to_applied_keep() - @plan is active now, and what was kept as such is the previous one
 * @all: on all servers
 *
 * A plan that is kept already changes nothing.
 */
int to_applied_keep(const struct to_plan *plan, bool all, struct to_error *err);

/** struct to_applied_file - a plan that toctl apply made active on this server */
struct to_applied_file {
	char path[PATH_MAX];
	char job[NAME_MAX + 1];		/* as its directory is called */
	struct timespec written;	/* zeroed: there is none */
};

/** to_applied_latest() - find the plan that was made active last, of any job */
void to_applied_latest(struct to_applied_file *file);

/**
 * to_applied_previous() - where the plan before the active one is
 * @job: NULL for the only one that there is
 * @path: PATH_MAX bytes
 *
 * Return: 0; -ENOENT with @err when there is none, or no only one.
 */
int to_applied_previous(const char *job, bool all, char *path, struct to_error *err);

#endif
