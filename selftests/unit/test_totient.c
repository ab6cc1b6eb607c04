// SPDX-License-Identifier: GPL-2.0-or-later
/* Regular rings: TopoOpt, Theorem 1. */

#include "graph/totient.h"
#include "job.h"

#define N 200

static void twelve_servers_have_four_rings(void **state)
{
	static const uint32_t all[] = { 1, 5, 7, 11 }, duplex[] = { 1, 5 };
	uint32_t jumps[N];

	(void)state;
	assert_int_equal(to_totient_jumps(12, false, jumps), 4);
	assert_memory_equal(jumps, all, sizeof(all));
	/* 7 is 5 and 11 is 1 the other way round */
	assert_int_equal(to_totient_jumps(12, true, jumps), 2);
	assert_memory_equal(jumps, duplex, sizeof(duplex));
}

static void small_groups(void **state)
{
	uint32_t jumps[N];

	(void)state;
	assert_int_equal(to_totient_jumps(1, false, jumps), 0);
	assert_int_equal(to_totient_jumps(2, false, jumps), 1);
	assert_int_equal(to_totient_jumps(2, true, jumps), 1);
	assert_int_equal(jumps[0], 1);
	assert_int_equal(to_totient_jumps(3, false, jumps), 2);
	assert_int_equal(to_totient_jumps(3, true, jumps), 1);
}

/* A jump is listed if and only if walking it comes by every server. */
static void jumps_are_those_that_visit_all(void **state)
{
	uint32_t jumps[N];

	(void)state;
	for (unsigned int n = 2; n < N; n++) {
		unsigned int count = to_totient_jumps(n, false, jumps), listed = 0;

		for (unsigned int p = 1; p < n; p++) {
			unsigned int at = p, steps = 1;

			for (; at; at = (at + p) % n)
				steps++;
			if (steps == n)
				assert_int_equal(jumps[listed++], p);
		}
		assert_int_equal(listed, count);
	}
}

static void rings_are_of_the_members(void **state)
{
	static const uint32_t members[] = { 40, 7, 3, 99, 12 };
	static const uint32_t by_two[] = { 40, 3, 12, 7, 99 };
	uint32_t order[5];

	(void)state;
	to_totient_ring(members, 5, 2, order);
	assert_memory_equal(order, by_two, sizeof(by_two));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(twelve_servers_have_four_rings),
		cmocka_unit_test(small_groups),
		cmocka_unit_test(jumps_are_those_that_visit_all),
		cmocka_unit_test(rings_are_of_the_members),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
