// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"

#define ERROR_FORMATTED (2 * sizeof(((struct to_error *)0)->text))

int to_error_set(struct to_error *err, int code, const char *fmt, ...)
{
	char text[ERROR_FORMATTED];	/* what is cut off here does not fit into the error either */
	va_list ap;

	if (err) {
		va_start(ap, fmt);
		vsnprintf(text, sizeof(text), fmt, ap);
		va_end(ap);
		to_text_clean(err->text, sizeof(err->text), text);
	}
	return code;
}
