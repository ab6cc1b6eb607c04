// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/log_follow.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"

#define FOLLOW_TAIL (1 << 20)	/* bytes at the end of a log that are told at first */
#define FOLLOW_LINE (1 << 20)	/* bytes of a line; longer lines are left out */

void to_log_follow_end(struct to_log_follow *log)
{
	if (log->file)
		fclose(log->file);
	free(log->line);
	*log = (struct to_log_follow){};
}

/* Open the file at @path, unless it is the one that is open. */
static void follow_open(struct to_log_follow *log, const char *path)
{
	struct stat now;
	int c;

	if (stat(path, &now))
		return;
	if (log->file && now.st_ino == log->opened.st_ino && now.st_dev == log->opened.st_dev &&
	    now.st_size >= ftello(log->file))
		return;
	to_log_follow_end(log);
	log->file = fopen(path, "re");
	log->opened = now;
	if (!log->file || now.st_size <= FOLLOW_TAIL)
		return;
	fseeko(log->file, now.st_size - FOLLOW_TAIL, SEEK_SET);
	do	/* skip the rest of a line */
		c = getc(log->file);
	while (c != '\n' && c != EOF);
}

static void follow_tell(const char *text, size_t len,
			void (*tell)(void *data, const json_t *line), void *data)
{
	json_t *line = to_json_load(text, len, TO_JSON_MEMORY_MAX, "log", NULL);

	to_json_clean(line);
	if (json_is_number(json_object_get(line, "time")) &&
	    json_is_string(json_object_get(line, "event")))
		tell(data, line);
	json_decref(line);
}

void to_log_follow(struct to_log_follow *log, const char *path,
		   void (*tell)(void *data, const json_t *line), void *data)
{
	char *more = NULL;
	size_t room = 0;
	ssize_t len;

	follow_open(log, path);
	while (log->file && (len = getline(&more, &room, log->file)) > 0) {
		char *line = log->len + len <= FOLLOW_LINE ? realloc(log->line, log->len + len) : NULL;

		if (line) {
			memcpy(line + log->len, more, len);
			log->line = line;
			log->len += len;
		}
		if (more[len - 1] != '\n')
			break;
		if (line)
			follow_tell(log->line, log->len, tell, data);
		log->len = 0;
	}
	if (log->file)
		clearerr(log->file);
	free(more);
}
