/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_TEXT_H
#define TOPOOPT_TEXT_H

/* Quantities and names as people read them. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define TO_NAME_MAX 64	/* of a name in a file, with its NUL */

/** to_bytes_text() - @bytes as text: "32.0 MiB", three digits or four */
const char *to_bytes_text(double bytes, char text[16]);

/** to_seconds_text() - @seconds as text: "17.75 ms" */
const char *to_seconds_text(double seconds, char text[16]);

/** to_hours_text() - @seconds of a day as text: "42.0 s", "17.8 min", "3.25 h" */
const char *to_hours_text(double seconds, char text[16]);

/** TO_TEXT_INVALID - what to_text_character() finds where the bytes are not UTF-8 */
#define TO_TEXT_INVALID UINT32_MAX

/**
 * to_text_character() - read a character of UTF-8
 * @text: where the character begins
 * @len: bytes from there to the end of the text, at least 1
 * @code: gets its code point, or TO_TEXT_INVALID
 *
 * Return: bytes of the character; 1 if the bytes are invalid.
 */
size_t to_text_character(const char *text, size_t len, uint32_t *code);

/**
 * to_text_is_hidden() - tell whether a character acts on a terminal or is not seen
 *
 * Hidden are controls (C0, DEL, C1), separators of lines and paragraphs, controls of the
 * direction of writing, characters that Unicode calls default ignorable, such as those without
 * width, and TO_TEXT_INVALID.
 */
bool to_text_is_hidden(uint32_t code);

/** to_text_is_clean() - tell whether a text is UTF-8 without hidden characters */
bool to_text_is_clean(const char *text);

/**
 * to_text_clean() - copy a text to print it on one line
 * @out: gets the copy; must not overlap with @in
 * @size: bytes of @out, with the NUL; at least 16
 * @in: text from anywhere
 *
 * Hidden characters become visible: \x1b for bytes and ASCII, \u202e, \U000e0001. A copy that
 * does not fit ends in "..." behind a whole character. A clean text that fits stays as it is.
 *
 * Return: @out.
 */
char *to_text_clean(char *out, size_t size, const char *in);

/** to_markup_print() - print a text, as of to_text_clean(), in HTML or SVG without markup */
void to_markup_print(FILE *out, const char *text);

/** TO_TEXT_NEAR - edits from which a word is no suggestion for a mistyped one */
#define TO_TEXT_NEAR 3

/**
 * to_text_is_near() - tell whether a mistyped word may mean a name
 * @name: a name that exists
 * @typed: the mistyped word
 * @best: fewest edits of a name so far, TO_TEXT_NEAR at first; updated on success
 *
 * An edit inserts, removes, replaces or swaps letters. At most half of @name's letters may
 * change.
 */
bool to_text_is_near(const char *name, const char *typed, unsigned int *best);

#endif
