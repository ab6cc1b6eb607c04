/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_CHILD_H
#define TOPOOPT_CHILD_H

#include <stdint.h>

#include "base/error.h"

/** to_child_command() - @command with @name for every {}; caller frees, NULL: out of memory */
char *to_child_command(const char *command, const char *name);

/**
 * to_child_run() - run a shell command to its end, not that of what it leaves running
 * @command: for sh -c
 * @input: its standard input
 * @timeout_ns: it is killed, with all that it started, when it takes longer
 * @output: its standard output, allocated, ends with a NUL; set on success
 *
 * Return: 0 when it exits with status 0, else a negative errno (-ETIMEDOUT,
 * -EIO) with the last line that it wrote to standard error in @err.
 */
int to_child_run(const char *command, const char *input, uint64_t timeout_ns, char **output,
		 struct to_error *err);

#endif
