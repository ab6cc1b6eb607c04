/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PROGRESS_H
#define TOPOOPT_PROGRESS_H

/* A bar on standard error that shows how far a long computation is, and the time left. */

#include <stdint.h>

/**
 * struct to_progress - zero it before the first to_progress()
 * @shown: percent, plus one
 * @began: ns of the monotonic clock
 */
struct to_progress {
	unsigned int shown;
	uint64_t began;
};

/** to_progress() - show @done of @all; nothing where nobody looks on a terminal */
void to_progress(struct to_progress *progress, unsigned int done, unsigned int all);

/** to_progress_end() - remove the bar */
void to_progress_end(struct to_progress *progress);

#endif
