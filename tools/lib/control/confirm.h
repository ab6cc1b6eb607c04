/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_CONFIRM_H
#define TOPOOPT_CONFIRM_H

/* A change that is undone unless somebody confirms it in time. */

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/** struct to_confirm - a change of one job that waits to be confirmed */
struct to_confirm {
	uint64_t wait_ns;			/* time to confirm the change */
	void (*ask)(const char *question);	/* shows the question to the user */
	char path[PATH_MAX];			/* lock whose holder waits; set by to_confirm_begin() */
};

/**
 * to_confirm_begin() - check that no other change of a job waits to be confirmed
 * @confirm: wait_ns and ask are set
 * @job: name of the job
 * @all: the change is one of all servers, not of this one
 *
 * Call it before the change. From then on SIGINT and SIGTERM end to_confirm_wait(), and
 * SIGHUP is ignored.
 *
 * Return: 0; -EBUSY or another negative errno with @err.
 */
int to_confirm_begin(struct to_confirm *confirm, const char *job, bool all, struct to_error *err);

/**
 * to_confirm_wait() - ask for a confirmation and wait for it
 * @what: sentence without its full stop that tells what is active now
 *
 * A line at the terminal confirms, and so does to_confirm_give(). Without a terminal, or
 * once it is gone, only to_confirm_give() does.
 *
 * Return: true if the change was confirmed in time.
 */
bool to_confirm_wait(const struct to_confirm *confirm, const char *what);

/**
 * to_confirm_give() - confirm the change of @job that another process waits with
 * @job: name of the job; NULL: the only one that has state files
 *
 * Return: 0; -ENOENT with @err if no change waits; another negative errno.
 */
int to_confirm_give(const char *job, bool all, struct to_error *err);

#endif
