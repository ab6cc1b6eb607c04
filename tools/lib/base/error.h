/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ERROR_H
#define TOPOOPT_ERROR_H

/**
 * struct to_error - why a call failed, as one line for a person
 * @text: the line, without newline; empty while nothing failed
 *
 * Library calls that can fail for more than one reason take one of these last
 * and return 0 or a negative errno (or NULL) as their verdict.
 */
struct to_error {
	char text[512];
};

/**
 * to_error_set() - write the reason of a failure, as of to_text_clean()
 * @err: where to, may be NULL
 * @code: negative errno
 * @fmt: printf format of the reason
 *
 * Return: @code, so that callers can `return to_error_set(...)`.
 */
int to_error_set(struct to_error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
