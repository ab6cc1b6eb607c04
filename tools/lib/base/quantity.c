// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/quantity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

/* A unit and its factor; no name ends a table. */
struct quantity_unit {
	const char *name;
	uint64_t factor;
};

static const struct quantity_unit quantity_none[] = { { "", 1 }, {} };

static const struct quantity_unit quantity_durations[] = {
	{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 },
	{ "m", 60000000000 }, { "h", 3600000000000 }, {}
};

static const struct quantity_unit quantity_rates[] = {
	{ "", 1 }, { "k", 1000 }, { "M", 1000000 }, { "G", 1000000000 },
	{ "T", 1000000000000 },
	/* as tc and ip have them */
	{ "bit", 1 }, { "kbit", 1000 }, { "Mbit", 1000000 }, { "Gbit", 1000000000 },
	{ "Tbit", 1000000000000 }, {}
};

static const struct quantity_unit quantity_sizes[] = {
	{ "", 1 }, { "B", 1 }, { "kB", 1000 }, { "MB", 1000000 }, { "GB", 1000000000 },
	{ "TB", 1000000000000 }, { "KiB", 1ull << 10 }, { "MiB", 1ull << 20 },
	{ "GiB", 1ull << 30 }, { "TiB", 1ull << 40 }, {}
};

static bool quantity_read(const char *text, const struct quantity_unit *units, uint64_t *value)
{
	unsigned long long n;
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno)
		return false;
	for (; units->name; units++)
		if (!strcmp(end, units->name))
			return !__builtin_mul_overflow(n, units->factor, value);
	return false;
}

bool to_quantity_number(const char *text, uint64_t *value)
{
	return quantity_read(text, quantity_none, value);
}

bool to_quantity_duration(const char *text, uint64_t *ns)
{
	return quantity_read(text, quantity_durations, ns);
}

bool to_quantity_rate(const char *text, uint64_t *bits_per_second)
{
	return quantity_read(text, quantity_rates, bits_per_second);
}

bool to_quantity_bytes(const char *text, uint64_t *bytes)
{
	return quantity_read(text, quantity_sizes, bytes);
}

int to_json_rate(const struct to_json *at, void *to)
{
	const char *text = json_string_value(at->value);
	uint64_t value;

	if (!text || !to_quantity_rate(text, &value) || !value || value > INT64_MAX)
		return to_json_error(at, -EINVAL, "expected bits/s like \"100G\" (k, M, G, T, Gbit), above 0");
	*(uint64_t *)to = value;
	return 0;
}

int to_json_duration(const struct to_json *at, void *to)
{
	const char *text = json_string_value(at->value);
	uint64_t value;

	if (!text || !to_quantity_duration(text, &value) || value > INT64_MAX)
		return to_json_error(at, -EINVAL, "expected a duration like \"700ns\" (ns, us, ms, s, m, h)");
	*(uint64_t *)to = value;
	return 0;
}

int to_json_bits_per_second(const struct to_json *at, void *to)
{
	return json_is_string(at->value) ? to_json_rate(at, to) : to_json_positive(at, to);
}

int to_json_nanoseconds(const struct to_json *at, void *to)
{
	return json_is_string(at->value) ? to_json_duration(at, to) : to_json_u64(at, to);
}

int to_json_bytes(const struct to_json *at, void *to)
{
	const char *text = json_string_value(at->value);
	uint64_t value;

	if (!text)
		return to_json_u64(at, to);
	if (!to_quantity_bytes(text, &value) || value > INT64_MAX)
		return to_json_error(at, -EINVAL,
				     "expected bytes like \"4GiB\" (B, kB, MB, GB, TB, KiB, MiB, GiB, TiB)");
	*(uint64_t *)to = value;
	return 0;
}

int to_json_some_bytes(const struct to_json *at, void *to)
{
	uint64_t value;
	int ret = json_is_string(at->value) ? to_json_bytes(at, &value) : to_json_positive(at, &value);

	if (!ret && !value)
		return to_json_error(at, -EINVAL, "expected 1 byte or more");
	if (!ret)
		*(uint64_t *)to = value;
	return ret;
}
