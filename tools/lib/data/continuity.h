/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_DATA_CONTINUITY_H
#define TOPOOPT_DATA_CONTINUITY_H

/* How the servers of a fabric check that their links pass frames: "checks" of cluster.json. */

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

#define TO_CONTINUITY_KEY 16			/* bytes of a key */
#define TO_CONTINUITY_FABRIC "topoopt"		/* name of a fabric without one */
#define TO_CONTINUITY_GRACE_MS 5000		/* time of grace of a fabric without one */
#define TO_CONTINUITY_GRACE_MAX_MS 3600000

/** enum to_continuity_interval - time between two checks, the default first */
enum to_continuity_interval {
	TO_CONTINUITY_100MS, TO_CONTINUITY_OFF, TO_CONTINUITY_3MS, TO_CONTINUITY_10MS,
	TO_CONTINUITY_1S,
};

extern const char *const to_continuity_intervals[];	/* words of the interval; ends with NULL */

/**
 * struct to_continuity - settings of continuity checks, the same on all servers; zeroed: the
 *	defaults
 *
 * to_server.unable marks servers whose module has no checks.
 */
struct to_continuity {
	enum to_continuity_interval interval;
	char fabric[TO_NAME_MAX];		/* name of the fabric, "" for the default */
	bool has_key;				/* @key authenticates checks */
	uint8_t key[TO_CONTINUITY_KEY];		/* secret, printed to plans and clusters alone */
	bool has_grace;				/* @grace_ms is not the default */
	unsigned int grace_ms;			/* time after a commit in which neighbours that were
						   never heard are trusted */
};

/** to_continuity_is_chosen() - return whether any setting is not the default */
bool to_continuity_is_chosen(const struct to_continuity *continuity);

/** to_continuity_fabric() - return the number of the fabric, a hash of its name */
uint64_t to_continuity_fabric(const struct to_continuity *continuity);

/** to_continuity_grace_ms() - return the time of grace in milliseconds */
unsigned int to_continuity_grace_ms(const struct to_continuity *continuity);

#endif
