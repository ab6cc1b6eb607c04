// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/json_walk.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Kinds of bytes, a bit each; all others are of numbers and words. */
enum {
	WALK_SPACE = 1,		/* what says nothing where values are */
	WALK_OPEN_ARRAY = 2,
	WALK_OPEN_OBJECT = 4,
	WALK_CLOSE = 8,
	WALK_QUOTE = 16,
	WALK_OPEN = WALK_OPEN_ARRAY | WALK_OPEN_OBJECT,
	WALK_BRACKET = WALK_OPEN | WALK_CLOSE,
};

/* Every byte of a long file is looked up. */
static const uint8_t walk_kinds[256] = {
	[' '] = WALK_SPACE, ['\t'] = WALK_SPACE, ['\r'] = WALK_SPACE, ['\n'] = WALK_SPACE,
	[','] = WALK_SPACE, [':'] = WALK_SPACE,
	['['] = WALK_OPEN_ARRAY, ['{'] = WALK_OPEN_OBJECT,
	[']'] = WALK_CLOSE, ['}'] = WALK_CLOSE, ['"'] = WALK_QUOTE,
};

static bool walk_at(const struct to_json_walk *w, uint8_t kinds)
{
	return w->p < w->end && walk_kinds[(uint8_t)*w->p] & kinds;
}

static void walk_space(struct to_json_walk *w)
{
	for (; walk_at(w, WALK_SPACE); w->p++)
		w->line += *w->p == '\n';
}

/* Step over one string, number, word, or bracket. */
static void walk_token(struct to_json_walk *w)
{
	if (walk_at(w, WALK_BRACKET)) {
		w->p++;
	} else if (walk_at(w, WALK_QUOTE)) {
		for (w->p++; w->p < w->end && *w->p != '"'; w->p++)
			if (*w->p == '\\' && w->p + 1 < w->end)
				w->p++;
		if (w->p < w->end)
			w->p++;
	} else {
		while (w->p < w->end && !walk_at(w, WALK_SPACE | WALK_BRACKET))
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
		depth += walk_at(w, WALK_OPEN) - walk_at(w, WALK_CLOSE);
		walk_token(w);
	} while (depth > 0 && w->p < w->end);
}

/* Go from an array to its element @index. */
static bool walk_index(struct to_json_walk *w, size_t index)
{
	struct to_json_walk child = *w;

	if (!walk_at(w, WALK_OPEN_ARRAY))
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

	if (!walk_at(w, WALK_OPEN_OBJECT))
		return false;
	walk_token(&child);
	while (walk_at(&child, WALK_QUOTE)) {
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
