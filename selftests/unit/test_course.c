// SPDX-License-Identifier: GPL-2.0-or-later
/* The states of the closed loop: which is next for all that it can see. */

#include "job.h"

#include "base/clock.h"
#include "control/course.h"

static struct to_course_view view_of(unsigned int bits)
{
	return (struct to_course_view){
		.stop = bits & 1, .between = bits & 2, .down = bits & 4,
		.outdated = bits & 8, .astray = bits & 16, .due = bits & 32,
	};
}

/* Each row of the table in course.h, for all views. */
static void test_order(void **state)
{
	const struct to_course course = { 0 };

	(void)state;
	for (unsigned int bits = 0; bits < 64; bits++) {
		const struct to_course_view v = view_of(bits);
		enum to_course_state expected = TO_COURSE_ASK;

		if (v.stop)
			expected = TO_COURSE_STOP;
		else if (v.between)
			expected = TO_COURSE_RESTORE;
		else if (v.outdated)
			expected = v.down ? TO_COURSE_REPAIR : TO_COURSE_RETURN;
		else if (v.astray)
			expected = TO_COURSE_BRING;
		else if (v.due)
			expected = TO_COURSE_MEASURE;
		assert_string_equal(to_course_state_names[to_course_next(&course, &v, 0)],
				    to_course_state_names[expected]);
	}
}

/* What failed waits for 1, 2, 4 .. 30 s, and holds up nothing else. */
static void test_pauses(void **state)
{
	const struct to_course_view down = view_of(60), between = view_of(2);
	struct to_course course = { 0 };
	uint64_t now = 5 * TO_NS_PER_S, pause = 1;

	(void)state;
	for (unsigned int i = 0; i < 7; i++) {
		assert_int_equal(to_course_next(&course, &between, now), TO_COURSE_RESTORE);
		to_course_failed(&course, TO_COURSE_RESTORE, now);
		now += pause * TO_NS_PER_S;
		assert_int_equal(to_course_next(&course, &between, now - 1), TO_COURSE_ASK);
		assert_int_equal(to_course_next(&course, &down, now - 1), TO_COURSE_REPAIR);
		pause = pause < 16 ? 2 * pause : 30;
	}
	to_course_done(&course, TO_COURSE_RESTORE);
	assert_int_equal(to_course_next(&course, &between, 0), TO_COURSE_RESTORE);
	to_course_failed(&course, TO_COURSE_RESTORE, 0);
	assert_int_equal(to_course_next(&course, &between, TO_NS_PER_S), TO_COURSE_RESTORE);
}

/* A signal ends the loop whatever waits. */
static void test_stop(void **state)
{
	struct to_course course = { 0 };
	struct to_course_view v;

	(void)state;
	for (unsigned int s = TO_COURSE_RESTORE; s < TO_COURSE_ASK; s++)
		to_course_failed(&course, s, 0);
	for (unsigned int bits = 0; bits < 64; bits++) {
		v = view_of(bits | 1);
		assert_int_equal(to_course_next(&course, &v, 0), TO_COURSE_STOP);
		v = view_of(bits & ~1u);
		assert_int_equal(to_course_next(&course, &v, 0), TO_COURSE_ASK);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_pauses),
		cmocka_unit_test(test_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
