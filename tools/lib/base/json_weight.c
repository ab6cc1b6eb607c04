// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/json_weight.h"

#include <errno.h>

#include "base/limits.h"

/* Bytes of jansson's values with malloc()'s own, in the sizes that they begin with. */
#define WEIGHT_ARRAY 144	/* room for 8 */
#define WEIGHT_OBJECT 240	/* a table of 8 buckets */
#define WEIGHT_STRING 64	/* beside its text; of a key, the pair */
#define WEIGHT_NUMBER 32
#define WEIGHT_NEXT 16		/* a place in an array that doubles */

/* Behind the string that begins at @p. */
static const char *weight_string(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		p += *p == '\\' && p + 1 < end;
	return p < end ? p + 1 : end;
}

static void weight_open(struct to_json_weight *w, size_t memory)
{
	w->memory += memory;
	if (++w->depth > w->deepest)
		w->deepest = w->depth;
}

void to_json_weight_add(struct to_json_weight *w, const char *text, size_t len)
{
	const char *end = text + len, *p = text, *string;

	while (p < end) {
		switch (*p) {
		case '"':
			string = p;
			p = weight_string(p, end);
			w->memory += WEIGHT_STRING + (p - string);
			continue;
		case '[':
			weight_open(w, WEIGHT_ARRAY);
			break;
		case '{':
			weight_open(w, WEIGHT_OBJECT);
			break;
		case ']':
		case '}':
			w->depth -= w->depth > 0;
			break;
		case ',':
			w->memory += WEIGHT_NEXT;
			break;
		case '-':
		case '0' ... '9':
			w->memory += WEIGHT_NUMBER;
			while (p < end && (*p == '-' || *p == '+' || *p == '.' ||
					   (*p >= '0' && *p <= '9') || *p == 'e' || *p == 'E'))
				p++;
			continue;
		default:
			break;
		}
		p++;
	}
}

int to_json_weight_check(const struct to_json_weight *weight, size_t most, const char *name,
			 unsigned int line, struct to_error *err)
{
	if (weight->deepest > TO_JSON_DEPTH_MAX)
		return to_error_set(err, -E2BIG,
				    "%s:%u: arrays and objects are nested %u deep, more than %u",
				    name, line, weight->deepest, TO_JSON_DEPTH_MAX);
	if (weight->memory > most)
		return to_error_set(err, -E2BIG,
				    "%s:%u: its values take about %zu MiB, more than %zu", name,
				    line, weight->memory >> 20, most >> 20);
	return 0;
}
