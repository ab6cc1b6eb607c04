// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/json.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "base/json_walk.h"
#include "base/json_weight.h"
#include "base/limits.h"
#include "base/text.h"

/* jansson tells the line of syntax errors only. */
static unsigned int json_line_of(const struct to_json_doc *doc, const char *path)
{
	struct to_json_walk walk;

	if (!doc->text)
		return 1;
	to_json_walk_start(&walk, doc->text, doc->len);
	to_json_walk_path(&walk, path);
	return walk.line;
}

static void json_print_path(FILE *out, const struct to_json *at)
{
	if (!at->up)
		return;
	json_print_path(out, at->up);
	if (at->key)
		fprintf(out, "%s%s", at->up->up ? "." : "", at->key);
	else
		fprintf(out, "[%zu]", at->index);
}

static int json_error(const struct to_json *at, const char *below, int code,
		      const char *fmt, va_list ap)
{
	char *path = NULL, *reason = NULL;
	size_t len;
	FILE *out;

	out = open_memstream(&path, &len);
	if (out) {
		json_print_path(out, at);
		if (*below)
			fprintf(out, "%s%s", at->up && *below != '[' ? "." : "", below);
		fclose(out);
	}
	if (!path || vasprintf(&reason, fmt, ap) < 0)
		to_error_set(at->doc->err, code, "%s: out of memory", at->doc->name);
	else
		to_error_set(at->doc->err, code, "%s:%u: %s%s%s", at->doc->name,
			     json_line_of(at->doc, path), path, *path ? ": " : "", reason);
	free(path);
	free(reason);
	return code;
}

int to_json_error(const struct to_json *at, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	json_error(at, "", code, fmt, ap);
	va_end(ap);
	return code;
}

int to_json_error_at(const struct to_json *at, const char *path, int code,
		     const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	json_error(at, path, code, fmt, ap);
	va_end(ap);
	return code;
}

/*
 * Tell whether a text begins as an object or an array does. Another one may be a secret, such
 * as a password: errors say what is wrong with it and quote none of it.
 */
static bool json_begins(const struct to_json_doc *doc)
{
	size_t i = 0;

	while (i < doc->len && strchr(" \t\r\n", doc->text[i]))
		i++;
	return i < doc->len && strchr("[{", doc->text[i]);
}

int to_json_syntax_error(const struct to_json_doc *doc, const json_error_t *error,
			 unsigned int line)
{
	enum json_error_code code = json_error_code(error);
	const char *quote = strstr(error->text, " near '");
	const int len = quote && !json_begins(doc) ? quote - error->text :
						     (int)strlen(error->text);

	if (code == json_error_out_of_memory)
		return to_error_set(doc->err, -ENOMEM, "%s: out of memory", doc->name);
	return to_error_set(doc->err, -EINVAL, "%s:%u: %s: %.*s", doc->name,
			    line + error->line - 1,
			    code == json_error_premature_end_of_input ?
				    "the file ends early" : "not JSON",
			    len, error->text);
}

json_t *to_json_load(const char *text, size_t len, size_t most, const char *name,
		     struct to_error *err)
{
	const struct to_json_doc doc = { .name = name, .text = text, .len = len, .err = err };
	struct to_json_weight weight = { 0 };
	json_error_t error;
	json_t *value;

	to_json_weight_add(&weight, text, len);
	if (to_json_weight_check(&weight, most, name, 1, err))
		return NULL;
	value = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	if (!value)
		to_json_syntax_error(&doc, &error, 1);
	return value;
}

int to_json_open(struct to_json_doc *doc, struct to_json *at, const char *text,
		 size_t len, const char *name, void *context,
		 struct to_error *err)
{
	struct to_json_weight weight = { 0 };
	json_error_t error;
	int ret;

	*doc = (struct to_json_doc){ .name = name, .text = text, .len = len,
				     .context = context, .err = err };
	to_json_weight_add(&weight, text, len);
	ret = to_json_weight_check(&weight, TO_JSON_MEMORY_MAX, name, 1, err);
	if (ret)
		return ret;
	doc->root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	*at = (struct to_json){ .doc = doc, .value = doc->root };
	return doc->root ? 0 : to_json_syntax_error(doc, &error, 1);
}

void to_json_open_value(struct to_json_doc *doc, struct to_json *at, json_t *value,
			const char *name, void *context, struct to_error *err)
{
	*doc = (struct to_json_doc){ .name = name, .root = json_incref(value),
				     .context = context, .err = err };
	*at = (struct to_json){ .doc = doc, .value = value };
}

void to_json_close(struct to_json_doc *doc)
{
	json_decref(doc->root);
}

struct to_json to_json_element(const struct to_json *at, size_t index)
{
	return (struct to_json){ .doc = at->doc, .up = at, .index = index,
				 .value = json_array_get(at->value, index) };
}

struct to_json to_json_member(const struct to_json *at, const char *key)
{
	return (struct to_json){ .doc = at->doc, .up = at, .key = key,
				 .value = json_object_get(at->value, key) };
}

int to_json_object(const struct to_json *at, const struct to_json_field *fields,
		   void *to)
{
	const struct to_json_field *f;
	const char *key;
	json_t *value;
	int ret;

	if (!json_is_object(at->value))
		return to_json_error(at, -EINVAL, "expected an object");
	/* a file of another format has other keys too: say what is wrong */
	if (!strcmp(fields->key, "format") && json_object_get(at->value, "format")) {
		struct to_json format = to_json_member(at, "format");

		ret = fields->read(&format, (char *)to + fields->offset);
		if (ret)
			return ret;
	}
	json_object_foreach(at->value, key, value) {
		struct to_json child = to_json_member(at, key);

		for (f = fields; f->key && strcmp(f->key, key); f++)
			;
		if (!f->key)
			return to_json_error(&child, -EINVAL, "unknown key");
	}
	for (f = fields; f->key; f++) {
		struct to_json child = to_json_member(at, f->key);

		if (!child.value) {
			if (f->optional)
				continue;
			return to_json_error(at, -EINVAL, "\"%s\" is missing",
					     f->key);
		}
		ret = f->read(&child, (char *)to + f->offset);
		if (ret)
			return ret;
	}
	return 0;
}

int to_json_array(const struct to_json *at, size_t size, void *to,
		  unsigned int *count)
{
	size_t n = json_array_size(at->value);
	void *array;

	*count = 0;
	if (!json_is_array(at->value))
		return to_json_error(at, -EINVAL, "expected an array");
	if (n > UINT32_MAX)
		return to_json_error(at, -E2BIG, "too long");
	*count = n;
	if (!size)
		return 0;
	array = calloc(n ? n : 1, size);
	if (!array)
		return to_json_error(at, -ENOMEM, "out of memory");
	*(void **)to = array;
	return 0;
}

int to_json_string(const struct to_json *at, void *to)
{
	const char *text = json_string_value(at->value);

	if (!text)
		return to_json_error(at, -EINVAL, "expected a string");
	*(const char **)to = text;
	return 0;
}

int to_json_comment(const struct to_json *at, void *to)
{
	const char *text;

	(void)to;
	return to_json_string(at, &text);
}

int to_json_u64(const struct to_json *at, void *to)
{
	if (!json_is_integer(at->value) || json_integer_value(at->value) < 0)
		return to_json_error(at, -EINVAL,
				     "expected a whole number, 0 or more");
	*(uint64_t *)to = json_integer_value(at->value);
	return 0;
}

int to_json_positive(const struct to_json *at, void *to)
{
	if (!json_is_integer(at->value) || json_integer_value(at->value) < 1)
		return to_json_error(at, -EINVAL,
				     "expected a whole number, 1 or more");
	*(uint64_t *)to = json_integer_value(at->value);
	return 0;
}

int to_json_u32(const struct to_json *at, void *to)
{
	if (!json_is_integer(at->value) || json_integer_value(at->value) < 0 ||
	    json_integer_value(at->value) > UINT32_MAX)
		return to_json_error(at, -EINVAL,
				     "expected a whole number, 0 to %u", UINT32_MAX);
	*(unsigned int *)to = json_integer_value(at->value);
	return 0;
}

int to_json_real(const struct to_json *at, void *to)
{
	double value = json_number_value(at->value);

	if (!json_is_number(at->value) || value < 0)
		return to_json_error(at, -EINVAL, "expected a number, 0 or more");
	*(double *)to = value;
	return 0;
}

int to_json_bool(const struct to_json *at, void *to)
{
	if (!json_is_boolean(at->value))
		return to_json_error(at, -EINVAL, "expected true or false");
	*(bool *)to = json_is_true(at->value);
	return 0;
}

static bool json_parse_mac(const char *text, uint8_t mac[6])
{
	char tail;

	return text && strlen(text) == 17 &&
	       strspn(text, "0123456789abcdefABCDEF:") == 17 &&
	       sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%c", &mac[0],
		      &mac[1], &mac[2], &mac[3], &mac[4], &mac[5], &tail) == 6;
}

int to_json_mac(const struct to_json *at, void *to)
{
	static const uint8_t zero[6];
	uint8_t mac[6];

	if (!json_parse_mac(json_string_value(at->value), mac))
		return to_json_error(at, -EINVAL,
				     "expected a MAC address like 02:00:00:00:00:01");
	if ((mac[0] & 1) || !memcmp(mac, zero, sizeof(mac)))
		return to_json_error(at, -EINVAL,
				     "expected the MAC address of one interface, not multicast or zero");
	memcpy(to, mac, sizeof(mac));
	return 0;
}

int to_json_ipv4(const struct to_json *at, void *to)
{
	struct to_address *address = to;
	uint32_t host;

	if (!json_is_string(at->value) ||
	    inet_pton(AF_INET, json_string_value(at->value), &address->v4) != 1)
		return to_json_error(at, -EINVAL,
				     "expected an IPv4 address like 10.200.0.1");
	host = ntohl(address->v4.s_addr);
	if (!(host >> 24) || IN_MULTICAST(host) || IN_BADCLASS(host) ||
	    host >> 24 == 127)
		return to_json_error(at, -EINVAL,
				     "expected the IPv4 address of one host");
	address->has_v4 = true;
	return 0;
}

int to_json_ipv6(const struct to_json *at, void *to)
{
	struct to_address *address = to;

	if (!json_is_string(at->value) ||
	    inet_pton(AF_INET6, json_string_value(at->value), &address->v6) != 1)
		return to_json_error(at, -EINVAL,
				     "expected an IPv6 address like fd00::1");
	if (IN6_IS_ADDR_UNSPECIFIED(&address->v6) ||
	    IN6_IS_ADDR_MULTICAST(&address->v6) ||
	    IN6_IS_ADDR_LOOPBACK(&address->v6) ||
	    IN6_IS_ADDR_LINKLOCAL(&address->v6) ||
	    IN6_IS_ADDR_V4MAPPED(&address->v6))
		return to_json_error(at, -EINVAL,
				     "expected the routable IPv6 address of one host");
	address->has_v6 = true;
	return 0;
}

int to_json_choice(const struct to_json *at, const char *const *words)
{
	const char *text = json_string_value(at->value);
	char list[256] = "";
	size_t len = 0;

	for (int i = 0; words[i]; i++) {
		if (text && !strcmp(text, words[i]))
			return i;
		if (len < sizeof(list))
			len += snprintf(list + len, sizeof(list) - len, "%s\"%s\"",
					i ? ", " : "", words[i]);
	}
	return to_json_error(at, -EINVAL, "expected one of %s", list);
}

int to_json_format(const struct to_json *at, const char *format)
{
	const char *text = json_string_value(at->value);

	if (!text || strcmp(text, format))
		return to_json_error(at, -EINVAL, "expected \"%s\"", format);
	return 0;
}

int to_json_version(const struct to_json *at, void *to)
{
	(void)to;
	if (!json_is_integer(at->value))
		return to_json_error(at, -EINVAL, "expected a whole number");
	if (json_integer_value(at->value) != 1)
		return to_json_error(at, -EINVAL,
				     "version %lld is unknown, this tool reads version 1",
				     (long long)json_integer_value(at->value));
	return 0;
}

json_t *to_json_matrix(const uint64_t *cells, size_t n)
{
	json_t *rows = json_array(), *row;
	size_t i, j;
	int ret = 0;

	for (i = 0; i < n; i++) {
		row = json_array();
		for (j = 0; j < n; j++)
			ret |= json_array_append_new(row, json_integer(cells[i * n + j]));
		ret |= json_array_append_new(rows, row);
	}
	if (!ret)
		return rows;
	json_decref(rows);
	return NULL;
}

static int json_write(const char *text, size_t len, void *to)
{
	FILE *out = to;

	while (len) {
		uint32_t code;
		const size_t n = to_text_character(text, len, &code);

		/* jansson escapes controls in strings; those that are left are between values */
		if (code < ' ' || code == TO_TEXT_INVALID || !to_text_is_hidden(code))
			fwrite(text, 1, n, out);
		else if (code > 0xffff)
			fprintf(out, "\\u%04X\\u%04X", 0xd7c0 + (code >> 10), 0xdc00 + (code & 0x3ff));
		else
			fprintf(out, "\\u%04X", code);
		text += n;
		len -= n;
	}
	return ferror(out) ? -1 : 0;
}

int to_json_write(const json_t *value, FILE *out, size_t flags)
{
	return json_dump_callback(value, json_write, out, flags);
}

/* Return: @value, or what replaces it. */
static json_t *json_cleaned(json_t *value)
{
	const char *text = json_string_value(value);
	char clean[TO_LINE_MAX];

	if (!text) {
		to_json_clean(value);
		return value;
	}
	if (json_string_length(value) < sizeof(clean) && to_text_is_clean(text))
		return value;
	return json_string(to_text_clean(clean, sizeof(clean), text));
}

void to_json_clean(json_t *value)
{
	json_t *element, *clean;
	const char *key;
	void *next;
	size_t i;

	json_array_foreach(value, i, element) {
		clean = json_cleaned(element);
		if (clean != element)
			json_array_set_new(value, i, clean);
	}
	json_object_foreach_safe(value, next, key, element) {
		clean = json_cleaned(element);
		if (!to_text_is_clean(key))
			json_object_del(value, key);
		else if (clean != element)
			json_object_set_new(value, key, clean);
	}
}

void to_json_print_string(FILE *out, const char *text)
{
	json_t *string = json_stringn_nocheck(text, strlen(text));

	to_json_write(string, out, JSON_ENCODE_ANY);
	json_decref(string);
}
