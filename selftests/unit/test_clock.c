// SPDX-License-Identifier: GPL-2.0-or-later
/* Waits while somebody sets the clock, in a world whose time passes when it is waited for. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdbool.h>
#include <time.h>

#include "base/clock.h"

#define MS 1000000ll
#define HOUR (3600 * (long long)TO_NS_PER_S)
#define FOREVER (60 * (long long)TO_NS_PER_S)
#define EPOCH (1700000000 * (long long)TO_NS_PER_S)

/**
 * struct world - its clocks
 * @passed: CLOCK_MONOTONIC, ns
 * @ahead: of it, CLOCK_REALTIME
 * @set_at: when @set_by is added to the latter
 * @signal_at: when a signal comes
 */
static struct world {
	long long passed, ahead, set_at, set_by, signal_at;
} world;

static long long world_now(clockid_t clock)
{
	return world.passed + (clock == CLOCK_REALTIME ? world.ahead : 0);
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	*now = (struct timespec){ world_now(clock) / TO_NS_PER_S, world_now(clock) % TO_NS_PER_S };
	return 0;
}

/* As the kernel does it: an absolute time is by its clock whenever that is set. */
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
			   struct timespec *left);
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
			   struct timespec *left)
{
	const long long start = world.passed;
	const long long until = time->tv_sec * (long long)TO_NS_PER_S + time->tv_nsec;

	(void)left;
	while (flags & TIMER_ABSTIME ? world_now(clock) < until : world.passed - start < until) {
		assert_true(world.passed - start < FOREVER);
		world.passed += MS;
		if (world.passed == world.set_at)
			world.ahead += world.set_by;
		if (world.passed == world.signal_at)
			return EINTR;
	}
	return 0;
}

/* How long a wait of 50 ms takes, in ms, when the clock is set by @set_by in its middle. */
static long long waits(long long set_by)
{
	const long long from = world.passed;

	world.ahead = EPOCH;
	world.set_at = world.passed + 20 * MS;
	world.set_by = set_by;
	assert_true(to_clock_sleep_until(to_clock_realtime_ns() + 50 * MS));
	return (world.passed - from) / MS;
}

static void a_clock_that_is_set(void **state)
{
	(void)state;
	assert_int_equal(waits(0), 50);
	assert_int_equal(waits(-HOUR), 50);
	assert_int_equal(waits(HOUR), 50);
}

static void a_moment_that_was(void **state)
{
	const long long from = world.passed;

	(void)state;
	world.ahead = EPOCH;
	assert_true(to_clock_sleep_until(to_clock_realtime_ns() - HOUR));
	assert_int_equal(world.passed, from);
}

static void a_signal(void **state)
{
	(void)state;
	world.signal_at = world.passed + 3 * MS;
	assert_false(to_clock_sleep_until(to_clock_realtime_ns() + 50 * MS));
	assert_int_equal(world.passed, world.signal_at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_clock_that_is_set),
		cmocka_unit_test(a_moment_that_was),
		cmocka_unit_test(a_signal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
