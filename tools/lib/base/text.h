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

/** to_markup_print() - text of a user's file in HTML or SVG: no markup gets through */
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
