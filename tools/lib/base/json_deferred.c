// SPDX-License-Identifier: GPL-2.0-or-later
/* Arrays that are too large to be held as JSON values. */

#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "base/json_weight.h"
#include "base/limits.h"

/* A document without what is between @from and @to. */
struct gap {
	const char *next, *from, *to, *end;
};

static size_t deferred_gap_read(void *buffer, size_t size, void *data)
{
	struct gap *gap = data;
	size_t n;

	if (gap->next == gap->from)
		gap->next = gap->to;
	n = (gap->next < gap->from ? gap->from : gap->end) - gap->next;
	if (n > size)
		n = size;
	memcpy(buffer, gap->next, n);
	gap->next += n;
	return n;
}

/* The first line of the document, as an error of the one without the gap counts it. */
static unsigned int deferred_line(const struct gap *gap, const char *text,
				  const json_error_t *error)
{
	unsigned int line = 1;

	if (error->position < gap->from - text)
		return line;
	for (const char *p = gap->from; p < gap->to; p++)
		line += *p == '\n';
	return line;
}

int to_json_open_deferred(struct to_json_doc *doc, struct to_json *at,
			  const char *text, size_t len, const char *name,
			  const char *key, void *context, struct to_error *err)
{
	struct to_json_weight weight = { 0 };
	struct to_json_walk begin, behind;
	json_error_t error = { .line = 1 };
	struct gap gap;
	int ret;

	*doc = (struct to_json_doc){ .name = name, .text = text, .len = len,
				     .context = context, .err = err };
	to_json_walk_start(&begin, text, len);
	if (!to_json_walk_path(&begin, key) || *begin.p != '[')
		return to_json_open(doc, at, text, len, name, context, err);
	behind = begin;
	to_json_walk_value(&behind);
	while (behind.p > begin.p + 1 && behind.p[-1] != ']')
		behind.p--;
	gap = (struct gap){ text, begin.p + 1, behind.p - 1, text + len };
	if (gap.from <= gap.to) {
		to_json_weight_add(&weight, gap.next, gap.from - gap.next);
		to_json_weight_add(&weight, gap.to, gap.end - gap.to);
		ret = to_json_weight_check(&weight, TO_JSON_MEMORY_MAX, name, 1, err);
		if (ret)
			return ret;
		doc->root = json_load_callback(deferred_gap_read, &gap,
					       JSON_REJECT_DUPLICATES, &error);
	}
	/* Not JSON: let jansson say what and where, in all of it if that is not too much. */
	if (!doc->root) {
		ret = to_json_open(doc, at, text, len, name, context, err);
		return ret == -E2BIG && gap.from <= gap.to ?
		       to_json_syntax_error(doc, &error, deferred_line(&gap, text, &error)) : ret;
	}
	doc->deferred = json_object_get(doc->root, key);
	doc->deferred_at = begin;
	doc->deferred_end = behind.p;
	*at = (struct to_json){ .doc = doc, .value = doc->root };
	return 0;
}

void to_json_stop(struct to_json_iter *iter)
{
	json_decref(iter->value);
	iter->value = NULL;
}

static void deferred_skip(struct to_json_walk *w, size_t n)
{
	for (; n; n--, w->p++)
		w->line += *w->p == '\n';
}

static int deferred_next(const struct to_json_doc *doc, struct to_json_iter *iter)
{
	const char *end = doc->deferred_end - 1;
	struct to_json_weight weight = { 0 };
	struct to_json_walk *w = &iter->walk, behind;
	json_error_t error;
	int ret;

	if (!iter->index) {
		*w = doc->deferred_at;
		deferred_skip(w, 1);
	}
	deferred_skip(w, strspn(w->p, " \t\r\n"));
	if (w->p == end)
		return 0;
	if (iter->index) {
		if (*w->p != ',')
			return to_error_set(doc->err, -EINVAL,
					    "%s:%u: not JSON: ',' or ']' expected",
					    doc->name, w->line);
		deferred_skip(w, 1);
	}
	behind = *w;
	to_json_walk_value(&behind);
	to_json_weight_add(&weight, w->p, behind.p - w->p);
	ret = to_json_weight_check(&weight, TO_JSON_MEMORY_MAX, doc->name, w->line,
				   doc->err);
	if (ret)
		return ret;
	iter->value = json_loadb(w->p, doc->deferred_end - w->p,
				 JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK |
				 JSON_DECODE_ANY, &error);
	if (!iter->value)
		return to_json_syntax_error(doc, &error, w->line);
	deferred_skip(w, error.position);
	return 1;
}

int to_json_next(const struct to_json *at, struct to_json_iter *iter,
		 struct to_json *element)
{
	int ret;

	*element = to_json_element(at, iter->index);
	if (at->value == at->doc->deferred) {
		to_json_stop(iter);
		ret = deferred_next(at->doc, iter);
		element->value = iter->value;
	} else {
		ret = element->value != NULL;
	}
	iter->index++;
	return ret;
}
