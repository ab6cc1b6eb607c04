// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/continuity_json.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "data/continuity.h"
#include "format/names.h"

static int continuity_read_interval(const struct to_json *at, void *to)
{
	struct to_cluster *c = to;
	int interval = to_json_choice(at, to_continuity_intervals);

	if (interval < 0)
		return interval;
	c->continuity.interval = interval;
	return 0;
}

static int continuity_read_fabric(const struct to_json *at, void *to)
{
	struct to_cluster *c = to;

	return to_names_read(at, c->continuity.fabric);
}

/* The value of a hexadecimal digit, or -1. */
static int continuity_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, tolower((unsigned char)c)) : NULL;

	return at ? at - digits : -1;
}

/* An error never quotes the key. */
static int continuity_read_key(const struct to_json *at, void *to)
{
	struct to_cluster *c = to;
	const char *text = json_string_value(at->value);
	bool digits = text && strlen(text) == 2 * TO_CONTINUITY_KEY;

	for (unsigned int i = 0; digits && i < TO_CONTINUITY_KEY; i++) {
		int high = continuity_digit(text[2 * i]), low = continuity_digit(text[2 * i + 1]);

		digits = high >= 0 && low >= 0;
		c->continuity.key[i] = digits ? high << 4 | low : 0;
	}
	c->continuity.has_key = digits;
	return digits ? 0 : to_json_error(at, -EINVAL, "expected %d hexadecimal digits",
					  2 * TO_CONTINUITY_KEY);
}

static int continuity_read_grace(const struct to_json *at, void *to)
{
	struct to_cluster *c = to;
	int ret = to_json_u32(at, &c->continuity.grace_ms);

	c->continuity.has_grace = !ret;
	if (!ret && c->continuity.grace_ms > TO_CONTINUITY_GRACE_MAX_MS)
		ret = to_json_error(at, -ERANGE, "expected milliseconds, 0 to %d",
				    TO_CONTINUITY_GRACE_MAX_MS);
	return ret;
}

static int continuity_read_unable(const struct to_json *at, void *to)
{
	struct to_cluster *c = to;
	unsigned int n;
	int ret = to_json_array(at, 0, NULL, &n);

	for (unsigned int i = 0; i < n && !ret; i++) {
		struct to_json child = to_json_element(at, i);
		const char *name;
		int server;

		ret = to_json_string(&child, &name);
		if (ret)
			break;
		server = to_cluster_find_server(c, name);
		if (server < 0)
			ret = to_json_error(&child, -ENOENT, "no server is called \"%s\"", name);
		else if (c->servers[server].unable)
			ret = to_json_error(&child, -EEXIST, "\"%s\" is there already", name);
		else
			c->servers[server].unable = true;
	}
	return ret;
}

static const struct to_json_field continuity_fields[] = {
	{ "interval", continuity_read_interval, 0, true },
	{ "fabric", continuity_read_fabric, 0, true },
	{ "key", continuity_read_key, 0, true },
	{ "grace", continuity_read_grace, 0, true },
	{ "unable", continuity_read_unable, 0, true },
	{}
};

int to_continuity_read(const struct to_json *at, void *to)
{
	return to_json_object(at, continuity_fields, to);
}

/* Return: what goes before the next member. @unable: more servers, or NULL. */
static const char *continuity_print_unable(FILE *out, const struct to_cluster *c,
					   const bool *unable, const char *before)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < c->n_servers; i++) {
		if (!c->servers[i].unable && !(unable && unable[i]))
			continue;
		fprintf(out, n++ ? "," : "%s\"unable\":[", before);
		fprintf(out, "\"%s\"", c->servers[i].name);
	}
	if (n)
		fputc(']', out);
	return n ? "," : before;
}

/* Print what is not the default, after @before. Return: whether anything is. */
static bool continuity_print(FILE *out, const struct to_cluster *c, const bool *unable,
			     const char *before)
{
	const struct to_continuity *is = &c->continuity;
	const char *const first = before;

	if (is->interval != TO_CONTINUITY_100MS) {
		fprintf(out, "%s\"interval\":\"%s\"", before, to_continuity_intervals[is->interval]);
		before = ",";
	}
	if (is->fabric[0]) {
		fprintf(out, "%s\"fabric\":\"%s\"", before, is->fabric);
		before = ",";
	}
	if (is->has_key) {
		to_file_hide(out);
		fprintf(out, "%s\"key\":\"", before);
		for (unsigned int i = 0; i < TO_CONTINUITY_KEY; i++)
			fprintf(out, "%02x", is->key[i]);
		fputc('"', out);
		before = ",";
	}
	if (is->has_grace) {
		fprintf(out, "%s\"grace\":%u", before, is->grace_ms);
		before = ",";
	}
	before = continuity_print_unable(out, c, unable, before);
	return before != first;
}

void to_continuity_print(FILE *out, const struct to_cluster *c)
{
	if (continuity_print(out, c, NULL, ",\n\"checks\":{"))
		fputc('}', out);
}

json_t *to_continuity_json(const struct to_cluster *c, const bool *unable)
{
	json_t *checks = NULL;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	bool any;

	if (!out)
		return NULL;
	any = continuity_print(out, c, unable, "{");
	fputc('}', out);
	if (!fclose(out) && any)
		checks = json_loadb(text, len, 0, NULL);
	free(text);
	return checks;
}
