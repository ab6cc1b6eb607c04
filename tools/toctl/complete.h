/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_COMPLETE_H
#define TOPOOPT_COMPLETE_H

/* Measured traffic of which no server's part is missing. */

#include "base/error.h"
#include "data/tm.h"

/**
 * to_complete_samples() - leave out the samples of @tm that lack a server's part
 * @path: its file
 * @command: says on standard error how many those are
 *
 * A part of the matrix would look like other traffic. Return: 0, or -EINVAL with @err
 * when none is left.
 */
int to_complete_samples(struct to_tm *tm, const char *path, const char *command,
			struct to_error *err);

#endif
