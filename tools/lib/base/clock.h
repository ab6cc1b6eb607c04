/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_CLOCK_H
#define TOPOOPT_CLOCK_H

/* Clocks, all in nanoseconds. */

#include <stdbool.h>
#include <stdint.h>

#define TO_NS_PER_S 1000000000ull

/** to_clock_monotonic_ns() - for durations and deadlines: nobody sets this clock */
uint64_t to_clock_monotonic_ns(void);

/**
 * to_clock_realtime_ns() - since the epoch, as the clocks of other hosts tell it
 *
 * For timestamps, names, and moments that hosts agree on; it may be set at any time.
 */
uint64_t to_clock_realtime_ns(void);

/** to_clock_seconds_since() - from @start_ns by to_clock_monotonic_ns() until now */
double to_clock_seconds_since(uint64_t start_ns);

/** to_clock_sleep() - for @ns; a signal ends it early */
void to_clock_sleep(uint64_t ns);

/**
 * to_clock_sleep_until() - until @realtime_ns by to_clock_realtime_ns()
 *
 * As long as it is until then now: a clock that is set meanwhile makes it neither
 * shorter nor longer. Return: false when a signal ended it early.
 */
bool to_clock_sleep_until(uint64_t realtime_ns);

#endif
