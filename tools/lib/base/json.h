/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_JSON_H
#define TOPOOPT_JSON_H

/*
 * Reading of the file formats. An object is described by a table of fields,
 * each with the function that reads its value; unknown keys, missing keys and
 * wrong values are refused with file, line and path in the document:
 *
 *	plan.json:12: servers[3].ports[0].mac: expected a MAC address ...
 *
 * Readers return 0 or a negative errno with the error set.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/json_walk.h"

/**
 * struct to_json_doc - a document that is being read
 * @name: file name for errors
 * @text: what was parsed, @len bytes; errors look up their line in it
 * @context: for the readers of the format
 * @deferred: array that was left unparsed, NULL for none; empty in its place
 * @deferred_at: where its text begins
 * @deferred_end: behind its last byte
 */
struct to_json_doc {
	const char *name;
	const char *text;
	size_t len;
	json_t *root;
	void *context;
	struct to_error *err;
	const json_t *deferred;
	struct to_json_walk deferred_at;
	const char *deferred_end;
};

/**
 * struct to_json - a value and where in the document it is
 * @up: the object or array that holds it, NULL for the document itself
 * @key: its key in an object, NULL in an array
 * @index: its index in an array
 */
struct to_json {
	struct to_json_doc *doc;
	const struct to_json *up;
	const char *key;
	size_t index;
	json_t *value;
};

/**
 * struct to_json_field - one key of an object
 * @key: NULL ends the table
 * @read: reads the value into @offset of the object's structure
 */
struct to_json_field {
	const char *key;
	int (*read)(const struct to_json *at, void *to);
	size_t offset;
	bool optional;
};

/**
 * to_json_load() - a JSON array or object from @text, no deeper than TO_JSON_DEPTH_MAX
 * @most: bytes that its values may take, as to_json_weight_add() estimates them
 * @name: of the text, for errors
 *
 * For messages; files are read by to_json_open(). Return: NULL with @err.
 */
json_t *to_json_load(const char *text, size_t len, size_t most, const char *name,
		     struct to_error *err);

/**
 * to_json_open() - parse @text; readers may use @at until to_json_close()
 * @context: see struct to_json_doc
 *
 * Return: 0; -E2BIG beyond TO_JSON_DEPTH_MAX or TO_JSON_MEMORY_MAX; -EINVAL.
 */
int to_json_open(struct to_json_doc *doc, struct to_json *at, const char *text,
		 size_t len, const char *name, void *context,
		 struct to_error *err);
void to_json_close(struct to_json_doc *doc);

/** to_json_open_value() - the same for a @value that was parsed, as part of a message */
void to_json_open_value(struct to_json_doc *doc, struct to_json *at, json_t *value,
			const char *name, void *context, struct to_error *err);

/**
 * to_json_open_deferred() - to_json_open() that leaves the array under the
 *	document's @key to to_json_next()
 *
 * A plan's tables take five times their text as JSON values; one after the
 * other they take nothing.
 */
int to_json_open_deferred(struct to_json_doc *doc, struct to_json *at,
			  const char *text, size_t len, const char *name,
			  const char *key, void *context, struct to_error *err);

/** struct to_json_iter - zero it before the first to_json_next() */
struct to_json_iter {
	size_t index;
	json_t *value;
	struct to_json_walk walk;
};

/**
 * to_json_next() - next element of the array @at, deferred or not
 * @element: valid until the next call
 *
 * Return: 1, 0 behind the last, or a negative errno with the error set. To
 * stop before the end, to_json_stop().
 */
int to_json_next(const struct to_json *at, struct to_json_iter *iter,
		 struct to_json *element);
void to_json_stop(struct to_json_iter *iter);

/** to_json_syntax_error() - Refuse text that is not JSON; @line is where the text begins */
int to_json_syntax_error(const struct to_json_doc *doc, const json_error_t *error,
			 unsigned int line);

/** to_json_error() - refuse the value at @at; returns @code */
int to_json_error(const struct to_json *at, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/** to_json_error_at() - the same for @path below @at, "ports[0].mac" */
int to_json_error_at(const struct to_json *at, const char *path, int code,
		     const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/**
 * to_json_object() - read an object's @fields into @to, refuse all others
 *
 * A "format" that is not the expected one is refused before unknown keys are.
 */
int to_json_object(const struct to_json *at, const struct to_json_field *fields,
		   void *to);

/**
 * to_json_array() - allocate an array for @at's elements
 * @size: bytes of one element of @to, 0 to only check and count
 * @to: calloc()ed array of at least one element
 */
int to_json_array(const struct to_json *at, size_t size, void *to,
		  unsigned int *count);

/** to_json_element() - element @index of the array @at */
struct to_json to_json_element(const struct to_json *at, size_t index);

/** to_json_member() - value under @key of the object @at; value may be NULL */
struct to_json to_json_member(const struct to_json *at, const char *key);

/* Readers for struct to_json_field; the comment is the type at @to. */
int to_json_string(const struct to_json *at, void *to);	/* const char *, borrowed */
int to_json_u64(const struct to_json *at, void *to);	/* uint64_t, to 2^63 - 1 */
int to_json_u32(const struct to_json *at, void *to);	/* unsigned int */
int to_json_positive(const struct to_json *at, void *to); /* uint64_t, from 1 */
int to_json_real(const struct to_json *at, void *to);	/* double, 0 or more */
int to_json_bool(const struct to_json *at, void *to);	/* bool */
int to_json_mac(const struct to_json *at, void *to);	/* uint8_t[6], unicast */
int to_json_ipv4(const struct to_json *at, void *to);	/* struct to_address */
int to_json_ipv6(const struct to_json *at, void *to);	/* struct to_address */
int to_json_comment(const struct to_json *at, void *to); /* nothing, any text */

/**
 * to_json_choice() - index of the string at @at in the NULL-terminated @words
 *
 * Return: the index, or a negative errno with the error set.
 */
int to_json_choice(const struct to_json *at, const char *const *words);

/**
 * to_json_format() - check that the value at @at is the string @format
 *
 * For the "format" key; "version" is checked by to_json_version(), which
 * knows version 1 alone.
 */
int to_json_format(const struct to_json *at, const char *format);
int to_json_version(const struct to_json *at, void *to);

/** to_json_matrix() - rows of @cells, n x n; NULL when out of memory */
json_t *to_json_matrix(const uint64_t *cells, size_t n);

/**
 * to_json_write() - write a value as json_dumpf() does, with hidden characters as \u202E
 * @flags: of json_dumpf()
 *
 * Return: 0 or -1.
 */
int to_json_write(const json_t *value, FILE *out, size_t flags);

/**
 * to_json_clean() - make all strings in an object or array fit to be printed on a line
 * @value: from another host; its strings become those of to_text_clean(), of TO_LINE_MAX
 *	bytes at most, and members whose keys are not clean are removed
 */
void to_json_clean(json_t *value);

/** to_json_print_string() - write @text quoted and escaped */
void to_json_print_string(FILE *out, const char *text);

#endif
