/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_REMOVALS_H
#define TOPOOPT_REMOVALS_H

/*
 * Which of the things that somebody removed are made again, and which are left alone: what was
 * removed TO_REMOVALS_MAX times within TO_REMOVALS_NS is left alone until it is there again.
 */

#include <stdbool.h>
#include <stdint.h>

#include "kernel/upkeep.h"

#define TO_REMOVALS_MAX 3u
#define TO_REMOVALS_NS 60000000000ull	/* a minute */

struct to_removal;

/** struct to_removals - what was removed; zeroed: nothing */
struct to_removals {
	struct to_removal *items;
	unsigned int n, room;
};

/**
 * to_removals_note() - Count a removal, and decide whether to restore
 * @lost: what is not there in this look
 * @excused: nobody removed it by itself: its interface was down, or it is not known since when
 *	it is lost
 * @now_ns: CLOCK_MONOTONIC
 *
 * What is still lost because it could not be restored does not count again.
 *
 * Return: whether to restore it.
 */
bool to_removals_note(struct to_removals *removals, const struct to_lost *lost, bool excused,
		      uint64_t now_ns);

/** to_removals_restored() - Note that what was noted in this look is there again */
void to_removals_restored(struct to_removals *removals, const struct to_lost *lost);

/** to_removals_end() - End a look: forget what was not noted in it, and old removals */
void to_removals_end(struct to_removals *removals, uint64_t now_ns);

void to_removals_free(struct to_removals *removals);

#endif
