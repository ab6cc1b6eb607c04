// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/clock.h"

#include <errno.h>
#include <time.h>

static uint64_t clock_now(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * TO_NS_PER_S + now.tv_nsec;
}

static struct timespec clock_timespec(uint64_t ns)
{
	return (struct timespec){ ns / TO_NS_PER_S, ns % TO_NS_PER_S };
}

uint64_t to_clock_monotonic_ns(void)
{
	return clock_now(CLOCK_MONOTONIC);
}

uint64_t to_clock_realtime_ns(void)
{
	return clock_now(CLOCK_REALTIME);
}

double to_clock_seconds_since(uint64_t start_ns)
{
	return (to_clock_monotonic_ns() - start_ns) * 1e-9;
}

void to_clock_sleep(uint64_t ns)
{
	const struct timespec time = clock_timespec(ns);

	nanosleep(&time, NULL);
}

bool to_clock_sleep_until(uint64_t realtime_ns)
{
	const uint64_t now = to_clock_realtime_ns();
	const struct timespec time = clock_timespec(realtime_ns > now ? realtime_ns - now : 0);

	return clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL) != EINTR;
}
