/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SHIFT_H
#define TOPOOPT_SHIFT_H

/*
 * Notices when a plan keeps its links busier than it promised, or less busy, so that
 * another one may be worth planning: cumulative sums (Page, "Continuous inspection schemes",
 * Biometrika 41, 1954) of the busy time beside what the plan promised for as much
 * traffic. What a plan promises is how many times the lower bound its busiest link is
 * busy; the lower bound is of the traffic alone. How the traffic is shaped does not
 * matter otherwise.
 */

#include <stdbool.h>
#include <stdint.h>

#define TO_SHIFT_SLACK 0.1	/* of what is promised, noise */
#define TO_SHIFT_PATIENCE_MAX 64
#define TO_SHIFT_SOON 16	/* part of the period after which a shift is looked at once more */

enum to_shift_verdict {
	TO_SHIFT_NONE,
	TO_SHIFT_BUSY,		/* links are busier than promised */
	TO_SHIFT_EASY,		/* they are less busy: other traffic, and perhaps an even better plan */
	TO_SHIFT_DUE,		/* the last look at the traffic was long ago */
};

/** NULL-terminated, in the order of enum to_shift_verdict: "none", ... */
extern const char *const to_shift_verdict_names[];

/**
 * struct to_shift - what was promised, and what came
 * @promise: busy time over its lower bound
 * @limit: seconds of busy time beyond the promise, or short of it, that are a shift
 * @period: seconds of busy time after which the traffic is looked at all the same
 * @patience: times as long, and as far short of it, doubled by every look that found nothing
 * @wait: seconds of busy time after which there is one earlier: a part of @period after a
 *	shift, of which little is known then, and twice as long each time
 * @excess: seconds beyond the promise in the last @n intervals
 * @relief: seconds short of it in the last @n_relief
 * @busy: seconds since the last look
 */
struct to_shift {
	double promise, limit, period, wait;
	unsigned int patience, n, n_relief;
	double excess, relief, busy;
};

/** to_shift_init() - see struct to_shift */
void to_shift_init(struct to_shift *shift, double promise, double limit, double period);

/**
 * to_shift_observe() - an interval
 * @seconds: in which the busiest link was busy
 * @bound: the least that any plan could have had
 * @elapsed: its length in seconds; no part of @period when nothing was busy
 */
enum to_shift_verdict to_shift_observe(struct to_shift *shift, double seconds, double bound,
				       double elapsed);

/**
 * to_shift_looked() - the traffic was planned for
 * @promise: of the plan in force from now on
 * @found: something better; if not, look more rarely
 */
void to_shift_looked(struct to_shift *shift, double promise, bool found);

#endif
