/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOCTL_CONFIRM_H
#define TOCTL_CONFIRM_H

/* A change that goes back by itself unless somebody says that it may stay. */

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/** struct to_confirm - a change of a job; @path: of the lock that says who waits */
struct to_confirm {
	char path[PATH_MAX];
};

/**
 * to_confirm_begin() - before the change: that nobody waits for another one of @job
 * @all: for a change of all servers
 *
 * From here on signals that end a process end to_confirm_wait(). Return: 0, -EBUSY with
 * @err, another errno.
 */
int to_confirm_begin(struct to_confirm *confirm, const char *job, bool all, struct to_error *err);

/**
 * to_confirm_wait() - for the word that the change stays
 * @what: is active now, for the question
 * @ns: how long
 *
 * The word is a line at the terminal, or to_confirm_give(). Without a terminal, or when it
 * goes away, only the latter counts. Return: whether it came.
 */
bool to_confirm_wait(const struct to_confirm *confirm, const char *what, uint64_t ns);

/** to_confirm_give() - the word, to who waits for @job; -ENOENT with @err: nobody does */
int to_confirm_give(const char *job, bool all, struct to_error *err);

#endif
