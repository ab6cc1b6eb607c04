// SPDX-License-Identifier: GPL-2.0-or-later
/* Matrices by destination. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "data/demand.h"

static void turns(void **state)
{
	static const unsigned int sizes[] = { 1, 2, 7, 8, 9, 100 };

	(void)state;
	for (unsigned int k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
		size_t n = sizes[k];
		uint64_t *bytes = calloc(n * n, sizeof(*bytes));

		assert_non_null(bytes);
		for (size_t i = 0; i < n * n; i++)
			bytes[i] = i;
		to_demand_turn(bytes, n);
		for (size_t x = 0; x < n; x++)
			for (size_t y = 0; y < n; y++)
				assert_int_equal(bytes[x * n + y], y * n + x);
		free(bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(turns) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
