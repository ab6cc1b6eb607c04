/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOCTL_TM_SAMPLES_H
#define TOCTL_TM_SAMPLES_H

/* Measured traffic of which no server's part is missing. */

#include "cli/command.h"
#include "data/tm.h"

/**
 * to_tm_samples_complete() - remove samples of @tm that lack a server's part, and warn of them
 * @path: file of @tm
 *
 * A part of the matrix would look like other traffic.
 *
 * Return: 0, or -EINVAL with call->err set when no sample is left.
 */
int to_tm_samples_complete(struct to_call *call, struct to_tm *tm, const char *path);

#endif
