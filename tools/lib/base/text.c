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

size_t to_text_character(const char *text, size_t len, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *s = (const unsigned char *)text;
	const size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc0 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 :
			 s[0] < 0xf8 ? 4 : 0;
	uint32_t c = n > 1 ? s[0] & (0x7f >> n) : s[0];

	*code = TO_TEXT_INVALID;
	if (!n || n > len)
		return 1;
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 1;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 1;
	*code = c;
	return n;
}

bool to_text_is_hidden(uint32_t code)
{
	/* first and last, in order: Unicode 15, Cc, Zl, Zp and Default_Ignorable_Code_Point */
	static const uint32_t hidden[][2] = {
		{ 0x00, 0x1f }, { 0x7f, 0x9f }, { 0xad, 0xad }, { 0x34f, 0x34f },
		{ 0x61c, 0x61c }, { 0x115f, 0x1160 }, { 0x17b4, 0x17b5 }, { 0x180b, 0x180f },
		{ 0x200b, 0x200f }, { 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0x3164, 0x3164 },
		{ 0xfe00, 0xfe0f }, { 0xfeff, 0xfeff }, { 0xffa0, 0xffa0 }, { 0xfff0, 0xfffb },
		{ 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
		{ TO_TEXT_INVALID, TO_TEXT_INVALID },
	};
	unsigned int i = 0;

	while (code > hidden[i][1])
		i++;
	return code >= hidden[i][0];
}

bool to_text_is_clean(const char *text)
{
	size_t len = strlen(text);
	uint32_t code;

	while (len) {
		const size_t n = to_text_character(text, len, &code);

		if (to_text_is_hidden(code))
			return false;
		text += n;
		len -= n;
	}
	return true;
}

/* Make the next character of @text, of @len bytes, visible. Return: its bytes in @text. */
static size_t text_piece(char piece[12], const char *text, size_t len)
{
	uint32_t code;
	const size_t n = to_text_character(text, len, &code);

	if (!to_text_is_hidden(code))
		snprintf(piece, 12, "%.*s", (int)n, text);
	else if (code < 0x80 || code == TO_TEXT_INVALID)
		snprintf(piece, 12, "\\x%02x", (unsigned char)*text);
	else
		snprintf(piece, 12, code > 0xffff ? "\\U%08x" : "\\u%04x", code);
	return n;
}

char *to_text_clean(char *out, size_t size, const char *in)
{
	size_t left = strlen(in), at = 0, cut = 0;
	char piece[12];

	while (left) {
		const size_t n = text_piece(piece, in, left), len = strlen(piece);

		if (at + len >= size) {
			strcpy(out + cut, "...");
			return out;
		}
		memcpy(out + at, piece, len);
		at += len;
		if (at + sizeof("...") <= size)
			cut = at;
		in += n;
		left -= n;
	}
	out[at] = '\0';
	return out;
}

void to_markup_print(FILE *out, const char *text)
{
	size_t left = strlen(text);
	char piece[12];

	while (left) {
		const size_t n = text_piece(piece, text, left);

		switch (*text) {
		case '&': fputs("&amp;", out); break;
		case '<': fputs("&lt;", out); break;
		case '>': fputs("&gt;", out); break;
		case '"': fputs("&quot;", out); break;
		default: fputs(piece, out);
		}
		text += n;
		left -= n;
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
