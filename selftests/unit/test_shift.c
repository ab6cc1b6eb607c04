// SPDX-License-Identifier: GPL-2.0-or-later
/* When the traffic of a plan is worth another look. Intervals are 50 ms, seconds are busy ones. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "measure/shift.h"

#define LIMIT 0.125
#define PERIOD 10

/* Intervals until there is a verdict; 0 when there is none. */
static unsigned int until(struct to_shift *shift, enum to_shift_verdict verdict, unsigned int most,
			  double seconds, double bound)
{
	for (unsigned int i = 1; i <= most; i++) {
		enum to_shift_verdict got = to_shift_observe(shift, seconds, bound, 0.05);

		if (got == TO_SHIFT_NONE)
			continue;
		assert_int_equal(got, verdict);
		return i;
	}
	return 0;
}

static void test_as_promised(void **state)
{
	struct to_shift shift;

	(void)state;
	to_shift_init(&shift, 1.5, LIMIT, 1e9);
	/* however much there is of it, and a bit less is noise */
	assert_int_equal(until(&shift, TO_SHIFT_BUSY, 1000, 0.0136, 0.010), 0);
	assert_int_equal(until(&shift, TO_SHIFT_BUSY, 1000, 0.015, 0.010), 0);
	assert_int_equal(until(&shift, TO_SHIFT_BUSY, 1000, 0.045, 0.030), 0);
	/* and a bit more is noise */
	assert_int_equal(until(&shift, TO_SHIFT_BUSY, 1000, 0.0164, 0.010), 0);
	assert_int_equal(until(&shift, TO_SHIFT_BUSY, 1000, 0, 0), 0);
}

static void test_busier(void **state)
{
	struct to_shift shift;
	unsigned int i;

	(void)state;
	to_shift_init(&shift, 1.5, LIMIT, 1e9);
	/* 0.045 against 1.65 times 0.010 */
	assert_int_equal(until(&shift, TO_SHIFT_BUSY, 100, 0.045, 0.010), 5);
	assert_int_equal(shift.n, 5);
	/* little traffic on one link counts as little, not as none */
	to_shift_init(&shift, 1.5, LIMIT, 1e9);
	i = until(&shift, TO_SHIFT_BUSY, 100, 0.0045, 0.0010);
	assert_in_range(i, 40, 50);
	/* a burst passes */
	to_shift_init(&shift, 1.5, LIMIT, 1e9);
	for (i = 0; i < 100; i++) {
		assert_int_equal(until(&shift, TO_SHIFT_BUSY, 2, 0.045, 0.010), 0);
		assert_int_equal(until(&shift, TO_SHIFT_BUSY, 98, 0.015, 0.010), 0);
		assert_int_equal(shift.n, 0);
	}
}

/* Other traffic may be easier, and a plan for it better still. */
static void test_easier(void **state)
{
	struct to_shift shift;

	(void)state;
	to_shift_init(&shift, 3, LIMIT, 1e9);
	/* 0.015 against 2.7 times 0.010 */
	assert_int_equal(until(&shift, TO_SHIFT_EASY, 100, 0.015, 0.010), 11);
	to_shift_looked(&shift, 1.5, false);
	assert_int_equal(until(&shift, TO_SHIFT_EASY, 1000, 0.015, 0.010), 0);
	/* what came to nothing needs more next time */
	assert_int_equal(until(&shift, TO_SHIFT_EASY, 1000, 0.0035, 0.010), 25);
}

static void test_looked(void **state)
{
	struct to_shift shift;

	(void)state;
	to_shift_init(&shift, 1.5, LIMIT, 1e9);
	assert_int_equal(until(&shift, TO_SHIFT_BUSY, 100, 0.045, 0.010), 5);
	/* nothing is better: what it keeps is what it promises */
	to_shift_looked(&shift, 4.5, false);
	assert_int_equal(until(&shift, TO_SHIFT_BUSY, 1000, 0.045, 0.010), 0);
	/* something is */
	to_shift_looked(&shift, 1.2, true);
	assert_int_equal(until(&shift, TO_SHIFT_BUSY, 100, 0.045, 0.010), 4);
}

static void test_due(void **state)
{
	struct to_shift shift;
	unsigned int period = PERIOD / 0.05 + 1, wait = period;

	(void)state;
	to_shift_init(&shift, 1, LIMIT, PERIOD);
	for (unsigned int i = 0; i < 10; i++) {
		unsigned int n;

		assert_int_equal(until(&shift, TO_SHIFT_DUE, 1000, 0, 0), 0);	/* idle */
		n = until(&shift, TO_SHIFT_DUE, 2 * wait, 0.010, 0.010);
		assert_in_range(n, wait - wait / 100 - 1, wait + wait / 100 + 1);
		to_shift_looked(&shift, 1, false);
		wait = wait < period * TO_SHIFT_PATIENCE_MAX ? 2 * wait : wait;
	}
	to_shift_looked(&shift, 1, true);
	assert_in_range(until(&shift, TO_SHIFT_DUE, 2 * period, 0.010, 0.010), period - 3,
			period + 3);
}

/* Little is known of a shift when it is noticed: it is looked at soon again, then more rarely. */
static void test_soon(void **state)
{
	struct to_shift shift;
	double wait = (double)PERIOD / TO_SHIFT_SOON / 0.05;

	(void)state;
	to_shift_init(&shift, 1, LIMIT, PERIOD);
	assert_int_equal(until(&shift, TO_SHIFT_BUSY, 100, 0.045, 0.010), 4);
	for (unsigned int i = 0; i < 6; i++) {
		const double expected = wait < PERIOD / 0.05 ? wait : PERIOD / 0.05;

		to_shift_looked(&shift, 1, true);
		assert_in_range(until(&shift, TO_SHIFT_DUE, 1000, 0.010, 0.010), expected - 1,
				expected + 2);
		wait *= 2;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_promised),
		cmocka_unit_test(test_busier),
		cmocka_unit_test(test_easier),
		cmocka_unit_test(test_looked),
		cmocka_unit_test(test_due),
		cmocka_unit_test(test_soon),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
