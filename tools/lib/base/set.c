// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/set.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

static bool set_index(const char **text, uint32_t *index)
{
	const char *s = *text;
	uint32_t value = 0;

	if (*s < '0' || *s > '9')
		return false;
	for (; *s >= '0' && *s <= '9'; s++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, *s - '0', &value))
			return false;
	*text = s;
	*index = value;
	return true;
}

int to_set_next(const char **text, uint32_t n, struct to_range *range,
		struct to_error *err)
{
	const char *s = *text;

	if (!*s)
		return 0;
	if (!set_index(&s, &range->first))
		goto invalid;
	range->last = range->first;
	if (*s == '-') {
		s++;
		if (!set_index(&s, &range->last))
			goto invalid;
	}
	if (*s == ',') {
		s++;
		if (!*s)
			goto invalid;
	} else if (*s) {
		goto invalid;
	}
	if (range->last < range->first)
		return to_error_set(err, -ERANGE, "range %u-%u runs backwards",
				    range->first, range->last);
	if (range->last >= n)
		return to_error_set(err, -ERANGE,
				    "index %u is outside 0 to %u", range->last,
				    n - 1);
	*text = s;
	return 1;
invalid:
	return to_error_set(err, -EINVAL,
			    "expected a set of indices like 0-5,9, not \"%.40s\"",
			    *text);
}

int to_set_parse(const char *text, uint32_t n, uint32_t **members,
		 unsigned int *count, struct to_error *err)
{
	struct to_range r;
	uint32_t *list = calloc(n, sizeof(*list)), *small;
	bool *seen = calloc(n, sizeof(*seen));
	unsigned int used = 0;
	int ret;

	if (!list || !seen) {
		ret = to_error_set(err, -ENOMEM, "out of memory");
		goto out;
	}
	while ((ret = to_set_next(&text, n, &r, err)) > 0) {
		for (uint32_t i = r.first; i <= r.last; i++) {
			if (seen[i]) {
				ret = to_error_set(err, -ERANGE,
						   "index %u is there twice", i);
				goto out;
			}
			seen[i] = true;
			list[used++] = i;
		}
	}
out:
	free(seen);
	if (ret) {
		free(list);
		return ret;
	}
	/* there may be many sets of few servers each */
	small = realloc(list, (used ? used : 1) * sizeof(*list));
	*members = small ? small : list;
	*count = used;
	return 0;
}

/* A plan of 1024 servers prints ten million indices: no printf() here. */
static char *set_print_index(char *end, uint32_t index)
{
	do
		*--end = '0' + index % 10;
	while (index /= 10);
	return end;
}

void to_set_print(FILE *out, const uint32_t *members, unsigned int count)
{
	char text[24], *end = text + sizeof(text), *s;
	unsigned int i, j;

	for (i = 0; i < count; i = j) {
		for (j = i + 1; j < count && members[j] == members[j - 1] + 1; j++)
			;
		s = end;
		if (j - i > 1) {
			s = set_print_index(s, members[j - 1]);
			*--s = '-';
		}
		s = set_print_index(s, members[i]);
		if (i)
			*--s = ',';
		fwrite_unlocked(s, 1, end - s, out);
	}
}
