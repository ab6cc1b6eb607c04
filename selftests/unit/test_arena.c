// SPDX-License-Identifier: GPL-2.0-or-later
/* Arrays that are freed together. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"

static void arrays_are_zeroed_and_apart(void **state)
{
	struct to_arena arena = { 0 };
	unsigned char *bytes[20];

	(void)state;
	for (size_t n = 0; n < 20; n++) {
		bytes[n] = to_arena_array(&arena, n, 3);
		assert_non_null(bytes[n]);
		assert_int_equal((uintptr_t)bytes[n] % _Alignof(max_align_t), 0);
		for (size_t i = 0; i < 3 * n; i++)
			assert_int_equal(bytes[n][i], 0);
		memset(bytes[n], n, 3 * n);
	}
	for (size_t n = 0; n < 20; n++)
		for (size_t i = 0; i < 3 * n; i++)
			assert_int_equal(bytes[n][i], n);
	assert_false(arena.failed);
	to_arena_free(&arena);
	assert_null(arena.last);
}

/* What would wrap around is refused, and remembered until all is freed. */
static void too_large_is_remembered(void **state)
{
	struct to_arena arena = { 0 };

	(void)state;
	assert_null(to_arena_array(&arena, SIZE_MAX / 8 + 1, 8));
	assert_true(arena.failed);
	assert_non_null(to_arena_array(&arena, 1, 8));
	assert_true(arena.failed);
	to_arena_free(&arena);
	assert_false(arena.failed);
	to_arena_free(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arrays_are_zeroed_and_apart),
		cmocka_unit_test(too_large_is_remembered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
