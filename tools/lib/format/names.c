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

bool to_names_is_label(const char *text)
{
	return *text && strlen(text) < TO_NAME_MAX && to_text_is_clean(text);
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
