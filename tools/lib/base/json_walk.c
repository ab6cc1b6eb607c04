// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/json_walk.h"

#include <stdlib.h>
#include <string.h>

static bool walk_at(const struct to_json_walk *w, const char *set)
{
	return w->p < w->end && *w->p && strchr(set, *w->p);
}

static void walk_space(struct to_json_walk *w)
{
	for (; walk_at(w, " \t\r\n,:"); w->p++)
		w->line += *w->p == '\n';
}

/* Step over one string, number, word, or bracket. */
static void walk_token(struct to_json_walk *w)
{
	if (walk_at(w, "{}[]")) {
		w->p++;
	} else if (walk_at(w, "\"")) {
		for (w->p++; w->p < w->end && *w->p != '"'; w->p++)
			if (*w->p == '\\' && w->p + 1 < w->end)
				w->p++;
		if (w->p < w->end)
			w->p++;
	} else {
		while (w->p < w->end && !walk_at(w, " \t\r\n,:{}[]"))
			w->p++;
	}
	walk_space(w);
}

void to_json_walk_start(struct to_json_walk *w, const char *text, size_t len)
{
	*w = (struct to_json_walk){ text, text + len, 1 };
	walk_space(w);
}

void to_json_walk_value(struct to_json_walk *w)
{
	int depth = 0;

	do {
		depth += walk_at(w, "{[") - walk_at(w, "}]");
		walk_token(w);
	} while (depth > 0 && w->p < w->end);
}

/* Go from an array to its element @index. */
static bool walk_index(struct to_json_walk *w, size_t index)
{
	struct to_json_walk child = *w;

	if (!walk_at(w, "["))
		return false;
	for (walk_token(&child); index && child.p < child.end && *child.p != ']'; index--)
		to_json_walk_value(&child);
	if (child.p == child.end || *child.p == ']')
		return false;
	*w = child;
	return true;
}

/* Go from an object to the value of the key of @len bytes. */
static bool walk_key(struct to_json_walk *w, const char *key, size_t len)
{
	struct to_json_walk child = *w;

	if (!walk_at(w, "{"))
		return false;
	walk_token(&child);
	while (walk_at(&child, "\"")) {
		bool found = (size_t)(child.end - child.p) > len + 1 &&
			     !memcmp(child.p + 1, key, len) && child.p[len + 1] == '"';

		walk_token(&child);
		if (found) {
			*w = child;
			return true;
		}
		to_json_walk_value(&child);
	}
	return false;
}

bool to_json_walk_path(struct to_json_walk *w, const char *path)
{
	bool found = true;
	size_t index, len;
	char *end;

	while (*path && found) {
		if (*path == '[') {
			index = strtoul(path + 1, &end, 10);
			if (*end != ']')	/* a bracket inside a key */
				return false;
			path = end + 1;
			found = walk_index(w, index);
		} else {
			path += *path == '.';
			len = strcspn(path, ".[");
			found = walk_key(w, path, len);
			path += len;
		}
	}
	return found && w->p < w->end;
}
