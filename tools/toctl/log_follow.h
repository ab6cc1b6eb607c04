/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOCTL_LOG_FOLLOW_H
#define TOCTL_LOG_FOLLOW_H

/* What is appended to a log of toctl run, as tail -F has it: also when it is replaced. */

#include <jansson.h>
#include <stdio.h>
#include <sys/stat.h>

/** struct to_log_follow - zeros at first; @line: what has no end yet */
struct to_log_follow {
	FILE *file;
	struct stat opened;
	char *line;
	size_t len;
};

/**
 * to_log_follow() - tell all whole lines that are new, of a long log the end
 * @tell: what is no JSON object with a time and an event is left out
 */
void to_log_follow(struct to_log_follow *log, const char *path,
		   void (*tell)(void *data, const json_t *line), void *data);
void to_log_follow_end(struct to_log_follow *log);

#endif
