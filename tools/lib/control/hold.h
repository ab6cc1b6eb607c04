/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_HOLD_H
#define TOPOOPT_HOLD_H

/*
 * Something that is held, and released when nothing was wrong with it for its hold-down. That
 * doubles each time it is held again within eight hold-downs of its release, up to 64 times the
 * least.
 */

#include <stdbool.h>
#include <stdint.h>

/** struct to_hold - zeroed at first: it is not held. Times are of CLOCK_MONOTONIC */
struct to_hold {
	bool held;
	bool returned;		/* it was held before */
	uint64_t clean_ns;	/* while it is held: time since which nothing was wrong */
	uint64_t return_ns;	/* time at which it was released last */
	uint64_t hold_ns;	/* hold-down of now */
};

/** to_hold_begin() - hold it from now on, for @least_ns at least */
void to_hold_begin(struct to_hold *hold, uint64_t least_ns, uint64_t now_ns);

/**
 * to_hold_end() - release it if its hold-down is over
 * @wrong: something is wrong with it now
 *
 * Return: whether it is released now.
 */
bool to_hold_end(struct to_hold *hold, bool wrong, uint64_t now_ns);

#endif
