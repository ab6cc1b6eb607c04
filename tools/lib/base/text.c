// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.h"

const char *to_bytes_text(double bytes, char text[16])
{
	static const char units[] = "KMGTPEZY";
	int unit = -1;

	for (; bytes >= 1023.5 && (unit < 0 || units[unit + 1]); bytes /= 1024)
		unit++;
	if (unit < 0)
		snprintf(text, 16, "%.0f B", bytes);
	else
		snprintf(text, 16, "%.*f %ciB", bytes < 9.995 ? 2 : bytes < 99.95 ? 1 : 0, bytes,
			 units[unit]);
	return text;
}

const char *to_seconds_text(double seconds, char text[16])
{
	if (seconds >= 9999.5)
		snprintf(text, 16, "%.0f s", seconds);
	else if (seconds >= 0.9995)
		snprintf(text, 16, "%.4g s", seconds);
	else if (seconds >= 0.9995e-3)
		snprintf(text, 16, "%.4g ms", seconds * 1e3);
	else
		snprintf(text, 16, "%.4g us", seconds * 1e6);
	return text;
}

const char *to_hours_text(double seconds, char text[16])
{
	if (seconds < 119.5)
		snprintf(text, 16, "%.3g s", seconds);
	else if (seconds < 7199.5)
		snprintf(text, 16, "%.3g min", seconds / 60);
	else
		snprintf(text, 16, "%.4g h", seconds / 3600);
	return text;
}

void to_markup_print(FILE *out, const char *text)
{
	for (; *text; text++)
		switch (*text) {
		case '&': fprintf(out, "&amp;"); break;
		case '<': fprintf(out, "&lt;"); break;
		case '>': fprintf(out, "&gt;"); break;
		case '"': fprintf(out, "&quot;"); break;
		default: fputc(*text, out);
		}
}
