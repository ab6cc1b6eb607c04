// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

int to_error_set(struct to_error *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (err) {
		va_start(ap, fmt);
		vsnprintf(err->text, sizeof(err->text), fmt, ap);
		va_end(ap);
		/* One line, whatever a file put into a name. */
		for (char *s = err->text; *s; s++)
			if ((unsigned char)*s < ' ' || *s == 0x7f)
				*s = '?';
	}
	return code;
}
