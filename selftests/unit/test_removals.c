// SPDX-License-Identifier: GPL-2.0-or-later
/* What is made again, and what is left alone after it was removed three times in a minute. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/clock.h"
#include "control/removals.h"

#define S TO_NS_PER_S

static const struct to_lost device_up = { .kind = TO_LOST_UP, .ifindex = 9 };

static struct to_lost route(uint8_t last)
{
	return (struct to_lost){
		.kind = TO_LOST_ENTRY, .ifindex = 2,
		.change.entry = { .kind = TO_ENTRY_ROUTE, .family = 2, .table = 254,
				  .dst = { 10, 0, 0, last }, .dst_len = 32, .ifindex = 2 },
	};
}

/* A look that finds @lost missing, and restores it if it may. Return: whether it does. */
static bool removed(struct to_removals *r, const struct to_lost *lost, bool excused, uint64_t now)
{
	const bool restore = to_removals_note(r, lost, excused, now);

	if (restore)
		to_removals_restored(r, lost);
	to_removals_end(r, now);
	return restore;
}

static void test_three_times(void **state)
{
	struct to_removals r = {};
	const struct to_lost one = route(1), other = route(2);

	(void)state;
	assert_true(removed(&r, &one, false, 100 * S));
	assert_true(removed(&r, &one, false, 101 * S));
	assert_true(removed(&r, &other, false, 101 * S));
	assert_false(removed(&r, &one, false, 102 * S));
	/* it stays alone, however long it is missing */
	assert_false(removed(&r, &one, false, 300 * S));
	/* a look that finds it ends that */
	to_removals_end(&r, 301 * S);
	assert_true(removed(&r, &one, false, 302 * S));
	to_removals_free(&r);
}

static void test_slowly(void **state)
{
	struct to_removals r = {};

	(void)state;
	for (unsigned int i = 0; i < 20; i++)
		assert_true(removed(&r, &device_up, false, (1 + 31 * i) * S));
	to_removals_end(&r, 2000 * S);
	assert_int_equal(r.n, 0);
	to_removals_free(&r);
}

/* An interface that went down and up takes its entries along, as often as it does. */
static void test_excused(void **state)
{
	struct to_removals r = {};
	const struct to_lost one = route(1);

	(void)state;
	assert_true(removed(&r, &one, false, 1 * S));
	for (unsigned int i = 0; i < 20; i++)
		assert_true(removed(&r, &one, true, (2 + i) * S));
	assert_true(removed(&r, &one, false, 30 * S));
	assert_false(removed(&r, &one, false, 31 * S));
	/* what is left alone stays so when its interface comes back */
	assert_false(removed(&r, &one, true, 32 * S));
	to_removals_free(&r);
}

/* What the kernel refuses to make again was removed once, however often that is tried. */
static void test_refused(void **state)
{
	struct to_removals r = {};
	const struct to_lost one = route(1);

	(void)state;
	for (unsigned int i = 0; i < 20; i++) {
		assert_true(to_removals_note(&r, &one, false, (1 + i) * S));
		to_removals_end(&r, (1 + i) * S);
	}
	to_removals_restored(&r, &one);
	assert_true(removed(&r, &one, false, 22 * S));
	assert_false(removed(&r, &one, false, 23 * S));
	to_removals_free(&r);
}

/* The same entry by what names it, and what it says. */
static void test_key(void **state)
{
	struct to_lost one = route(1), again = route(1);
	struct to_removals r = {};

	(void)state;
	again.change.entry.via[0] = 1;
	assert_true(removed(&r, &one, false, 1 * S));
	assert_true(removed(&r, &again, false, 2 * S));
	assert_false(removed(&r, &one, false, 3 * S));
	assert_true(removed(&r, &device_up, false, 3 * S));
	to_removals_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_three_times),
		cmocka_unit_test(test_slowly),
		cmocka_unit_test(test_excused),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_key),
	};

	return cmocka_run_group_tests_name("removals", tests, NULL, NULL);
}
