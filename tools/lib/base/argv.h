/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ARGV_H
#define TOPOOPT_ARGV_H

/*
 * Commands as argument vectors. A command that a file has is split into words once, before
 * any data is put into it, and no shell reads it.
 */

#include "base/error.h"

/** struct to_argv - a program and its arguments, for execvp(); zero: no words */
struct to_argv {
	char **argv;		/* @n strings and a NULL; NULL while @n is 0 */
	unsigned int n;
};

/**
 * to_argv_split() - split the text of a command into words
 * @argv: for to_argv_free(); without words on failure
 *
 * Blanks separate words. '...' and "..." group. A backslash takes the next character as it
 * is: everywhere outside quotes, and within "..." before ", \, $ and `. Nothing is expanded.
 * What only a shell could do is refused: one of |&;<>()$` or a newline outside quotes, $ or
 * ` within "...". So words are those that sh makes of the text, except for ~, *, ?, [, # and
 * VAR=VALUE, which are plain characters here.
 *
 * Return: 0; -EINVAL with @err: no word, a quote without an end, a backslash at the end, a
 * character for a shell; -ENOMEM with @err.
 */
int to_argv_split(struct to_argv *argv, const char *text, struct to_error *err);

/** to_argv_add() - append one word, made as by printf(); return 0 or -ENOMEM */
int to_argv_add(struct to_argv *argv, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * to_argv_fill() - append the words of a template with a name in place of each {}
 *
 * A word stays one word, whatever @name is. Return: 0 or -ENOMEM.
 */
int to_argv_fill(struct to_argv *argv, const struct to_argv *template, const char *name);

/** to_argv_free() - free all words, and leave none */
void to_argv_free(struct to_argv *argv);

/**
 * to_argv_quote() - quote a text as one word of a shell command, for people to paste
 *
 * A text of letters, digits and _@%+=:,./- stays as it is.
 *
 * Return: a string to be freed, or NULL when out of memory.
 */
char *to_argv_quote(const char *text);

#endif
