// SPDX-License-Identifier: GPL-2.0-or-later
#include "format/names.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>

#define NAMES_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

bool to_names_is_name(const char *text)
{
	const size_t len = strlen(text);

	return len && len < TO_NAME_MAX && *text != '-' && *text != '.' &&
	       strspn(text, NAMES_LETTERS "._-") == len;
}

bool to_names_is_interface(const char *text)
{
	return to_names_is_name(text) && strlen(text) < IFNAMSIZ;
}

bool to_names_is_address(const char *text)
{
	return *text && *text != '-' &&
	       strspn(text, NAMES_LETTERS "._~:/[]@%-") == strlen(text);
}

/* Whether the character at @s, of UTF-8, makes a terminal do something or reorders a text. */
static bool names_is_hidden(const unsigned char *s)
{
	if (s[0] < ' ' || s[0] == 0x7f || (s[0] == 0xc2 && s[1] < 0xa0))
		return true;
	if (s[0] == 0xd8)
		return s[1] == 0x9c;
	if (s[0] != 0xe2)
		return false;
	return (s[1] == 0x80 && (s[2] == 0x8e || s[2] == 0x8f || (s[2] >= 0xa8 && s[2] <= 0xae))) ||
	       (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9);
}

bool to_names_is_text(const char *text)
{
	json_t *string = json_string(text);	/* NULL unless UTF-8 */

	if (!string)
		return false;
	json_decref(string);
	for (const unsigned char *s = (const unsigned char *)text; *s; s++)
		if (names_is_hidden(s))
			return false;
	return true;
}

bool to_names_is_label(const char *text)
{
	return *text && strlen(text) < TO_NAME_MAX && to_names_is_text(text);
}

/* Refuse the value at @at, which is not @expected. */
static int names_refuse(const struct to_json *at, const char *expected)
{
	const char *text = json_string_value(at->value);

	return text ? to_json_error(at, -EINVAL, "expected %s, not \"%.80s\"", expected, text) :
		      to_json_error(at, -EINVAL, "expected %s", expected);
}

int to_names_read(const struct to_json *at, void *to)
{
	const char *text = json_string_value(at->value);

	if (!text || !to_names_is_name(text))
		return names_refuse(at, TO_NAMES_EXPECTED);
	strcpy(to, text);
	return 0;
}

int to_names_read_interface(const struct to_json *at, void *to)
{
	const char *text = json_string_value(at->value);

	if (!text || !to_names_is_interface(text))
		return names_refuse(at, TO_NAMES_INTERFACE_EXPECTED);
	strcpy(to, text);
	return 0;
}

int to_names_read_label(const struct to_json *at, void *to)
{
	const char *text = json_string_value(at->value);

	if (!text || !to_names_is_label(text))
		return names_refuse(at, TO_NAMES_LABEL_EXPECTED);
	strcpy(to, text);
	return 0;
}
