/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_STATE_FILE_H
#define TOPOOPT_STATE_FILE_H

/*
 * What toctl keeps between two runs: /var/lib/topoopt/JOB/FILE for root, for others
 * topoopt/JOB/FILE in $XDG_STATE_HOME or ~/.local/state. $TOPOOPT_STATE is another place
 * for /var/lib/topoopt.
 */

#include <sys/stat.h>

#include "base/error.h"

/**
 * to_state_file() - path of @file of @job, whose directory is made
 * @path: PATH_MAX bytes; characters of @job that a file name should not have become %XX
 *
 * Return: 0, or a negative errno with @err.
 */
int to_state_file(const char *job, const char *file, char *path, struct to_error *err);

/**
 * to_state_each() - Tell of each job that has @file
 * @tell: called with the job as its directory is called, and the file's path and state
 */
void to_state_each(const char *file,
		   void (*tell)(const char *job, const char *path, const struct stat *st, void *data),
		   void *data);

/**
 * to_state_only_job() - the job that alone has @file
 * @job: NAME_MAX + 1 bytes; as its directory is called
 *
 * Return: 0; -ENOENT with @err when no job has it; -EINVAL when several have, by name.
 */
int to_state_only_job(const char *file, char *job, struct to_error *err);

#endif
