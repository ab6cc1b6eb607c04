// SPDX-License-Identifier: GPL-2.0-or-later
#include "data/continuity.h"

#include <string.h>

#include "base/hash.h"

const char *const to_continuity_intervals[] = {
	[TO_CONTINUITY_100MS] = "100ms", [TO_CONTINUITY_OFF] = "off", [TO_CONTINUITY_3MS] = "3ms",
	[TO_CONTINUITY_10MS] = "10ms", [TO_CONTINUITY_1S] = "1s", NULL
};

bool to_continuity_is_chosen(const struct to_continuity *c)
{
	return c->interval || c->fabric[0] || c->has_key || c->has_grace;
}

uint64_t to_continuity_fabric(const struct to_continuity *continuity)
{
	const char *name = continuity->fabric[0] ? continuity->fabric : TO_CONTINUITY_FABRIC;

	return to_hash(TO_HASH_BEGIN, name, strlen(name));
}

unsigned int to_continuity_grace_ms(const struct to_continuity *continuity)
{
	return continuity->has_grace ? continuity->grace_ms : TO_CONTINUITY_GRACE_MS;
}
