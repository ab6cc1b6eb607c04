// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/error.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>

/* One line of UTF-8, which logs in JSON want, whatever a file or a server put into it. */
static void error_clean(char *text)
{
	json_t *valid = json_string(text);

	for (unsigned char *s = (unsigned char *)text; *s; s++)
		if (*s < ' ' || *s == 0x7f || (*s > 0x7f && !valid))
			*s = '?';
	json_decref(valid);
}

int to_error_set(struct to_error *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (err) {
		va_start(ap, fmt);
		vsnprintf(err->text, sizeof(err->text), fmt, ap);
		va_end(ap);
		error_clean(err->text);
	}
	return code;
}
