/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_CHILD_H
#define TOPOOPT_CHILD_H

#include <stdint.h>

#include "base/argv.h"
#include "base/error.h"

/**
 * to_child_run() - run a command to its end, but do not wait for what it leaves running
 * @command: program, by its path or found in $PATH, and its arguments
 * @input: its standard input
 * @timeout_ns: after this time it is killed, with all that it started
 * @output: its standard output, allocated, ends with a NUL; set on success
 *
 * Return: 0 when it exits with status 0; else a negative errno with @err: -ETIMEDOUT; -EIO
 * with the last line that it wrote to standard error; another one when it does not start.
 */
int to_child_run(const struct to_argv *command, const char *input, uint64_t timeout_ns,
		 char **output, struct to_error *err);

#endif
