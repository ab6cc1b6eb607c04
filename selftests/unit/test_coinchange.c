// SPDX-License-Identifier: GPL-2.0-or-later
/* Coin change against trying all numbers of all coins. */

#include "graph/coinchange.h"
#include "job.h"

#define N 40
#define COINS 3

static void needs_the_fewest_coins(void **state)
{
	uint64_t random = 3;

	(void)state;
	for (unsigned int round = 0; round < 2000; round++) {
		unsigned int n = 2 + to_random_below(&random, N - 1), best[N], made = 0, i;
		uint32_t coins[COINS], order[N];
		uint16_t count[N];

		for (i = 0; i < COINS; i++)
			coins[i] = 1 + to_random_below(&random, n - 1);
		memset(best, 0xff, sizeof(best));
		for (unsigned int a = 0; a < n; a++)
			for (unsigned int b = 0; a + b < n; b++)
				for (unsigned int c = 0; a + b + c < n; c++) {
					unsigned int sum = (a * coins[0] + b * coins[1] + c * coins[2]) % n;

					best[sum] = a + b + c < best[sum] ? a + b + c : best[sum];
				}
		for (i = 0; i < n; i++)
			made += best[i] != UINT32_MAX;
		assert_int_equal(to_coinchange_solve(n, coins, COINS, count, order), made);
		for (i = 0; i < n; i++) {
			if (best[i] == UINT32_MAX)
				assert_int_equal(count[i], TO_COINS_NONE);
			else
				assert_int_equal(count[i], best[i]);
		}
		for (i = 1; i < made; i++)
			assert_true(count[order[i - 1]] <= count[order[i]]);
	}
}

static void the_papers_figures(void **state)
{
	static const uint32_t ring[] = { 1 }, prototype[] = { 1, 11, 5, 7 };
	uint32_t order[128], digits[] = { 1, 127, 5, 123, 13, 115, 39, 89 };
	unsigned int sum = 0;
	uint16_t count[128];

	(void)state;
	to_coinchange_solve(16, ring, 1, count, order);
	assert_int_equal(count[15], 15);
	to_coinchange_solve(12, prototype, 4, count, order);
	assert_int_equal(count[order[11]], 3);
	/* jumps in geometric progression over 128 servers: 2.961 hops */
	to_coinchange_solve(128, digits, 8, count, order);
	for (unsigned int i = 0; i < 128; i++)
		sum += count[i];
	assert_int_equal((sum * 1000 + 63) / 127, 2961);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(needs_the_fewest_coins),
		cmocka_unit_test(the_papers_figures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
