/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_JSON_WALK_H
#define TOPOOPT_JSON_WALK_H

/*
 * Positions in the text of a document, which jansson does not tell: the line
 * of a value, for errors; the extent of a value, to parse it by itself. Text
 * that is not JSON gives wrong answers but breaks nothing.
 */

#include <stdbool.h>
#include <stddef.h>

/** struct to_json_walk - where a walk is; @p is never beyond @end */
struct to_json_walk {
	const char *p, *end;
	unsigned int line;
};

/** to_json_walk_start() - stand at the document's value */
void to_json_walk_start(struct to_json_walk *walk, const char *text, size_t len);

/** to_json_walk_value() - step over a value and what separates it from the next */
void to_json_walk_value(struct to_json_walk *walk);

/**
 * to_json_walk_path() - go to the value at @path, "servers[3].name"
 *
 * Return: false when there is none; @walk is at the innermost value that
 * holds it.
 */
bool to_json_walk_path(struct to_json_walk *walk, const char *path);

#endif
