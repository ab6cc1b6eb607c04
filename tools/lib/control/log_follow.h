/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_LOG_FOLLOW_H
#define TOPOOPT_LOG_FOLLOW_H

/* Follows the log of a toctl run elsewhere as tail -F does, also when it is replaced. */

#include <jansson.h>
#include <stdio.h>
#include <sys/stat.h>

/** struct to_log_follow - a log that is followed; zeroed at first */
struct to_log_follow {
	FILE *file;		/* NULL while the log does not exist */
	struct stat opened;	/* of @file, when it was opened */
	char *line;		/* start of a line that has no end yet */
	size_t len;		/* bytes of @line */
};

/**
 * to_log_follow() - tell all lines that were appended since the last call
 * @tell: called for each JSON object with a time and an event; other lines are left out
 *
 * The first call tells the last MiB.
 */
void to_log_follow(struct to_log_follow *log, const char *path,
		   void (*tell)(void *data, const json_t *line), void *data);

/** to_log_follow_end() - close the log, and zero @log */
void to_log_follow_end(struct to_log_follow *log);

#endif
