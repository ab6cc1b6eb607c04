// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.h"

#include <limits.h>
#include <string.h>

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

/* Least number of letters to insert, remove, replace or swap that make @a of @b. */
static unsigned int text_edits(const char *a, const char *b)
{
	unsigned int row[3][TO_NAME_MAX];
	unsigned int *older = row[0], *old = row[1], *now = row[2], *spare, n = strlen(b);

	if (n >= TO_NAME_MAX)
		return UINT_MAX;
	for (unsigned int j = 0; j <= n; j++)
		now[j] = j;
	for (unsigned int i = 0; a[i]; i++) {
		spare = older;
		older = old;
		old = now;
		now = spare;
		now[0] = i + 1;
		for (unsigned int j = 0; j < n; j++) {
			unsigned int least = old[j] + (a[i] != b[j]);

			least = old[j + 1] + 1 < least ? old[j + 1] + 1 : least;
			least = now[j] + 1 < least ? now[j] + 1 : least;
			if (i && j && a[i] == b[j - 1] && a[i - 1] == b[j] && older[j - 1] + 1 < least)
				least = older[j - 1] + 1;
			now[j + 1] = least;
		}
	}
	return now[n];
}

bool to_text_is_near(const char *name, const char *typed, unsigned int *best)
{
	const unsigned int n = text_edits(name, typed);

	if (n >= *best || n > strlen(name) / 2)
		return false;
	*best = n;
	return true;
}
