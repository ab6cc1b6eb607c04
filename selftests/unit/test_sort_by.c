// SPDX-License-Identifier: GPL-2.0-or-later
/* Indices in the order of their keys. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "base/sort_by.h"

#define MOST 300

/* Every order has each index once, by its key, and of equal ones the first is first. */
static void sorts(void **state)
{
	uint32_t indices[MOST], scratch[MOST], place[MOST];
	uint64_t random = 1;
	double key[MOST] = { 0 };

	(void)state;
	for (unsigned int n = 0; n <= MOST; n += 1 + n / 8) {
		for (unsigned int i = 0; i < n; i++) {
			key[i] = to_random_below(&random, n);
			indices[i] = n - 1 - i;
			place[n - 1 - i] = i;
		}
		to_sort_by(indices, n, key, scratch);
		for (unsigned int i = 1; i < n; i++) {
			uint32_t x = indices[i - 1], y = indices[i];

			assert_true(key[x] < key[y] || (key[x] == key[y] && place[x] < place[y]));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(sorts) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
