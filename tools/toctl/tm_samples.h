/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOCTL_TM_SAMPLES_H
#define TOCTL_TM_SAMPLES_H

/* Measured traffic of which no server's part is missing. */

#include "base/error.h"
#include "data/tm.h"

/**
 * to_tm_samples_complete() - leave out the samples of @tm that lack a server's part
 * @path: its file
 * @command: says on standard error how many those are
 *
 * A part of the matrix would look like other traffic. Return: 0, or -EINVAL with @err
 * when none is left.
 */
int to_tm_samples_complete(struct to_tm *tm, const char *path, const char *command,
			struct to_error *err);

#endif
