// SPDX-License-Identifier: GPL-2.0-or-later
/* Texts that are fit to be printed: the cleaner, JSON and markup. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/random.h"
#include "base/text.h"
#include "format/names.h"
#include "control/note_limit.h"

#define ROUNDS 10000
#define TEXT_MAX 120

/* Texts and what is printed of them. */
static void cleaned(void **state)
{
	static const char *const cases[][2] = {
		{ "", "" },
		{ "s1: no such port", "s1: no such port" },
		{ "M\xc3\xbcller \xe2\x82\xac \xf0\x9f\x9a\x80", "M\xc3\xbcller \xe2\x82\xac \xf0\x9f\x9a\x80" },
		{ "\x1b[2J\x1b[H", "\\x1b[2J\\x1b[H" },
		{ "a\nb\r\tc\x7f", "a\\x0ab\\x0d\\x09c\\x7f" },
		{ "\xc2\x9b" "2J", "\\u009b2J" },	/* CSI as one character */
		{ "a\xe2\x80\xae" "b\xe2\x81\xa6", "a\\u202eb\\u2066" },
		{ "\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f", "\\u061c\\u200e\\u200f" },
		{ "\xe2\x80\xa8\xe2\x80\xa9", "\\u2028\\u2029" },
		{ "s\xe2\x80\x8b" "1\xef\xbb\xbf\xc2\xad", "s\\u200b1\\ufeff\\u00ad" },
		{ "\xf3\xa0\x80\x81", "\\U000e0001" },
		{ "\xff\xc3", "\\xff\\xc3" },		/* no UTF-8, and half a character */
		{ "\xc0\x9b", "\\xc0\\x9b" },		/* ESC, longer than it may be */
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80" },	/* half a surrogate pair */
		{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" },	/* beyond Unicode */
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char out[TEXT_MAX];

		assert_string_equal(to_text_clean(out, sizeof(out), cases[i][0]), cases[i][1]);
		assert_int_equal(to_text_is_clean(cases[i][0]), !strcmp(cases[i][0], cases[i][1]));
	}
}

static void cut(void **state)
{
	char out[16];

	(void)state;
	assert_string_equal(to_text_clean(out, 16, "123456789012345"), "123456789012345");
	assert_string_equal(to_text_clean(out, 16, "1234567890123456"), "123456789012...");
	/* not within a character, nor within what stands for one */
	assert_string_equal(to_text_clean(out, 16, "12345678901\xe2\x82\xac" "1234"), "12345678901...");
	assert_string_equal(to_text_clean(out, 16, "1234567890\x1b" "1234"), "1234567890...");
}

/* A length of up to TEXT_MAX bytes, of all or with many that begin or go on with characters. */
static void make_bytes(uint64_t *random, char *text)
{
	static const char favourites[] = "\x1b\n\xc2\x9b\xe2\x80\xae\xf0\x9f\x9a\xed\xa0" "a\\";
	const unsigned int len = to_random_below(random, TEXT_MAX);

	for (unsigned int i = 0; i < len; i++)
		text[i] = to_random_below(random, 2) ? (char)(1 + to_random_below(random, 255)) :
			  favourites[to_random_below(random, sizeof(favourites) - 1)];
	text[len] = '\0';
}

/* What is forbidden, written down a second time: bytes below 0x20 and these sequences. */
static bool is_printable(const char *text)
{
	static const char *const forbidden[] = {
		"\x7f", "\xc2\xad", "\xd8\x9c", "\xe2\x80\x8b", "\xe2\x80\x8c", "\xe2\x80\x8d",
		"\xe2\x80\x8e", "\xe2\x80\x8f", "\xe2\x80\xa8", "\xe2\x80\xa9", "\xe2\x80\xaa",
		"\xe2\x80\xab", "\xe2\x80\xac", "\xe2\x80\xad", "\xe2\x80\xae", "\xe2\x81\xa0",
		"\xe2\x81\xa6", "\xe2\x81\xa7", "\xe2\x81\xa8", "\xe2\x81\xa9", "\xef\xbb\xbf",
	};
	json_t *string = json_string(text);	/* jansson knows UTF-8 on its own */
	bool printable = string;

	json_decref(string);
	for (const unsigned char *s = (const unsigned char *)text; *s; s++)
		printable &= *s >= 0x20 && !(*s == 0xc2 && s[1] < 0xa0);
	for (unsigned int i = 0; i < sizeof(forbidden) / sizeof(*forbidden); i++)
		printable &= !strstr(text, forbidden[i]);
	return printable;
}

static void random_bytes(void **state)
{
	uint64_t random = 7;
	unsigned int clean = 0, short_ones = 0;

	(void)state;
	for (unsigned int i = 0; i < ROUNDS; i++) {
		char text[TEXT_MAX + 1], out[4 * TEXT_MAX], again[4 * TEXT_MAX];
		const size_t size = 16 + to_random_below(&random, sizeof(out) - 16);

		make_bytes(&random, text);
		memset(out, 'x', sizeof(out));
		to_text_clean(out, size, text);
		assert_non_null(memchr(out, '\0', size));
		assert_true(is_printable(out));
		assert_true(to_text_is_clean(out));
		assert_string_equal(to_text_clean(again, sizeof(again), out), out);
		if (to_text_is_clean(text) && strlen(text) < size) {
			assert_string_equal(out, text);
			clean++;
		}
		short_ones += strlen(out) >= 3 && !strcmp(out + strlen(out) - 3, "...");
	}
	/* neither is left out */
	assert_true(clean > 0 && short_ones > ROUNDS / 10);
}

static void errors(void **state)
{
	struct to_error err = {};
	char text[sizeof(err.text) + 100];

	(void)state;
	assert_int_equal(to_error_set(&err, -5, "s1: %s", "\x1b[2J\n<3>forged"), -5);
	assert_string_equal(err.text, "s1: \\x1b[2J\\x0a<3>forged");
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	to_error_set(&err, 0, "%s", text);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	assert_string_equal(err.text + strlen(err.text) - 3, "...");
	to_error_set(&err, 0, "%.3s, then %.3s", err.text, err.text);
	assert_string_equal(err.text, "aaa, then aaa");
}

static char *written(json_t *value, size_t flags)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(to_json_write(value, out, flags), 0);
	fclose(out);
	return text;
}

/* JSON has hidden characters as escapes, and else what jansson writes. */
static void json(void **state)
{
	json_t *hidden = json_pack("[sss]", "a\xe2\x80\xae\x7f", "\xc2\x9b\x1b", "\xf3\xa0\x80\x81");
	json_t *plain = json_pack("{s:s, s:[iib]}", "M\xc3\xbcller", "\xe2\x82\xac \"\\\n", "b", 1, 2, 1);
	char *text = written(hidden, JSON_COMPACT), *same;
	json_t *back = json_loads(text, 0, NULL);

	(void)state;
	assert_string_equal(text, "[\"a\\u202E\\u007F\",\"\\u009B\\u001B\",\"\\uDB40\\uDC01\"]");
	assert_true(json_equal(back, hidden));
	free(text);
	text = written(plain, JSON_INDENT(2));
	same = json_dumps(plain, JSON_INDENT(2));
	assert_string_equal(text, same);
	free(text);
	free(same);
	json_decref(hidden);
	json_decref(plain);
	json_decref(back);
}

static void replies(void **state)
{
	char longest[2 * TO_LINE_MAX];
	json_t *reply, *want;

	(void)state;
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	reply = json_pack("{s:s, s:[s, {s:s}], s:i, s:s, s:s}", "ok", "fine", "list", "a\x1b", "deep",
			  "\n", "n", 7, "ke\x1by", "gone", "long", longest);
	want = json_pack("{s:s, s:[s, {s:s}], s:i}", "ok", "fine", "list", "a\\x1b", "deep", "\\x0a",
			 "n", 7);
	to_json_clean(reply);
	assert_int_equal(json_string_length(json_object_get(reply, "long")), TO_LINE_MAX - 1);
	json_object_del(reply, "long");
	assert_true(json_equal(reply, want));
	json_decref(reply);
	json_decref(want);
}

static void labels(void **state)
{
	(void)state;
	assert_true(to_names_is_label("M\xc3\xbcller's job, 8\xc3\x97" "2"));
	assert_false(to_names_is_label(""));
	assert_false(to_names_is_label("a\nb"));
	assert_false(to_names_is_label("a\xe2\x80\xae" "b"));
	assert_false(to_names_is_label("a\xe2\x80\x8b"));
}

static void markup(void **state)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	to_markup_print(out, "<b a=\"\xc3\xbc\">&\x1b\xe2\x80\xae");
	fclose(out);
	assert_string_equal(text, "&lt;b a=&quot;\xc3\xbc&quot;&gt;&amp;\\x1b\\u202e");
	free(text);
}

static unsigned int n_notes;
static char last_note[256];

static void count_note(const char *text)
{
	n_notes++;
	snprintf(last_note, sizeof(last_note), "%s", text);
}

/* Lines about a server end when there were too many, and the rest is counted. */
static void limit(void **state)
{
	struct to_note_limit limit = {}, other = {};

	(void)state;
	for (unsigned int i = 0; i < TO_NOTES_PER_MINUTE + 412; i++)
		to_note_limit_note(&limit, "s3", "new", count_note);
	assert_int_equal(n_notes, TO_NOTES_PER_MINUTE);
	to_note_limit_note(&other, "s4", "of another", count_note);
	assert_string_equal(last_note, "of another");
	to_note_limit_note_rest(&limit, "s3", false, count_note);
	assert_string_equal(last_note, "of another");
	to_note_limit_note_rest(&limit, "s3", true, count_note);
	assert_string_equal(last_note, "s3: 412 further messages were not printed");
	to_note_limit_note_rest(&limit, "s3", true, count_note);
	assert_int_equal(n_notes, TO_NOTES_PER_MINUTE + 2);
	/* the minute is over */
	for (unsigned int i = 0; i < TO_NOTES_PER_MINUTE + 1; i++)
		to_note_limit_take(&limit);
	assert_int_equal(limit.left_out, 1);
	limit.began_ns -= 60000000000;
	to_note_limit_note(&limit, "s3", "afterwards", count_note);
	assert_int_equal(n_notes, TO_NOTES_PER_MINUTE + 4);
	assert_string_equal(last_note, "afterwards");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cleaned),
		cmocka_unit_test(cut),
		cmocka_unit_test(random_bytes),
		cmocka_unit_test(errors),
		cmocka_unit_test(json),
		cmocka_unit_test(replies),
		cmocka_unit_test(labels),
		cmocka_unit_test(markup),
		cmocka_unit_test(limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
