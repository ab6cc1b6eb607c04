// SPDX-License-Identifier: GPL-2.0-or-later
#include "verify/verify_report.h"

#include <stdarg.h>
#include <stdio.h>

void to_verify_say(const struct to_verify_out *out, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	out->report->violations++;
	out->line(out->data, text);
}
