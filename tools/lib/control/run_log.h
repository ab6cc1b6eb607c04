/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_RUN_LOG_H
#define TOPOOPT_RUN_LOG_H

/* What toctl run tells: Documentation/schemas/run.schema.json, a line each. */

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

/**
 * struct to_run_log - where it goes
 * @file: JSON lines, appended, or NULL
 * @json: standard output gets these as well, instead of text
 * @tell: gets each line, with @data; may be NULL
 */
struct to_run_log {
	FILE *file;
	bool json;
	void (*tell)(void *data, const json_t *line);
	void *data;
};

/** to_run_log_open() - @path may be NULL. Return: 0 or a negative errno */
int to_run_log_open(struct to_run_log *log, const char *path, bool json, struct to_error *err);
void to_run_log_close(struct to_run_log *log);

/**
 * to_run_log() - one line
 * @event: its name
 * @fields: of the event, taken over; NULL for none
 * @fmt: text for a person, printed as of to_text_clean()
 */
void to_run_log(const struct to_run_log *log, const char *event, json_t *fields,
		const char *fmt, ...) __attribute__((format(printf, 4, 5)));

#endif
