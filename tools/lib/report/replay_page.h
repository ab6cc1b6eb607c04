/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_REPLAY_PAGE_H
#define TOPOOPT_REPLAY_PAGE_H

#include "base/error.h"

/**
 * to_replay_page_save() - a log of toctl run as an HTML page that goes through it
 * @log: path of JSON lines (run.schema.json); a last one without an end is left out
 * @version: of the program, for the foot of the page
 * @path: "-" = standard output
 *
 * Return: 0, -EINVAL with @err when a line is not an object with a time and an event, or
 * there is none; another negative errno of reading, writing or memory.
 */
int to_replay_page_save(const char *log, const char *version, const char *path,
			struct to_error *err);

#endif
