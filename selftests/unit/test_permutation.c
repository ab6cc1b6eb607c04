// SPDX-License-Identifier: GPL-2.0-or-later
/* The choice of rings. */

#include "graph/permutation.h"
#include "graph/totient.h"
#include "job.h"

#define N 128

static struct to_permutation_score rate(unsigned int n, const uint64_t *demand,
					const uint32_t *jumps, unsigned int n_jumps, bool duplex)
{
	struct to_permutation_score score;

	assert_int_equal(to_permutation_rate(n, demand, jumps, n_jumps, duplex, &score), 0);
	return score;
}

static void a_transfer_gets_its_own_jump(void **state)
{
	uint64_t demand[16] = { [5] = 100, [14] = 1 };
	uint32_t jumps[1];
	struct to_permutation_score score;

	(void)state;
	assert_int_equal(to_permutation_select(16, demand, 1, false, 1, jumps), 1);
	assert_int_equal(jumps[0], 5);
	score = rate(16, demand, jumps, 1, false);
	assert_int_equal(score.satisfied, 100);
	/* 14 = 6 * 5 mod 16 */
	assert_int_equal(score.byte_hops, 100 + 6);
	/* backwards it is the same duplex ring */
	demand[5] = 0;
	demand[11] = 100;
	assert_int_equal(to_permutation_select(16, demand, 1, true, 1, jumps), 1);
	assert_int_equal(jumps[0], 5);
}

/* Where the paper's metric is equal for all jumps, hops decide. */
static void even_demand_gets_short_paths(void **state)
{
	uint64_t demand[N];
	uint32_t jumps[4];
	struct to_permutation_score score;

	(void)state;
	for (unsigned int i = 0; i < N; i++)
		demand[i] = !!i;
	assert_int_equal(to_permutation_select(N, demand, 4, true, 1, jumps), 4);
	score = rate(N, demand, jumps, 4, true);
	/* geometric jumps {1,5,13,39} have 2.961 hops, evenly spaced ones 16 at most */
	assert_true(score.hops * 1000 / (N - 1) <= 2866);
	assert_true(score.diameter <= 5);
	assert_int_equal(to_permutation_select(N, demand, 2, true, 1, jumps), 2);
	assert_true(rate(N, demand, jumps, 2, true).hops * 1000 / (N - 1) <= 5354);
}

/* Algorithm 4 to the letter: evenly spaced candidates from every start. */
static void never_worse_than_the_paper(void **state)
{
	uint64_t random = 11;

	(void)state;
	for (unsigned int round = 0; round < 300; round++) {
		unsigned int n = 5 + to_random_below(&random, 60);
		unsigned int n_jumps = 1 + to_random_below(&random, 4), n_candidates, i, k;
		bool duplex = to_random_below(&random, 2);
		uint32_t candidates[N], jumps[4], even[4];
		uint64_t demand[N] = { 0 };
		struct to_permutation_score ours;

		for (i = 1; i < n; i++)
			demand[i] = to_random_below(&random, 4) ? 0 : to_random_below(&random, 1000);
		n_candidates = to_totient_jumps(n, duplex, candidates);
		if (n_jumps > n_candidates)
			n_jumps = n_candidates;
		assert_int_equal(to_permutation_select(n, demand, n_jumps, duplex, round, jumps),
				 n_jumps);
		ours = rate(n, demand, jumps, n_jumps, duplex);
		for (i = 0; i < n_candidates; i++) {
			for (k = 0; k < n_jumps; k++)
				even[k] = candidates[(i + k * n_candidates / n_jumps) % n_candidates];
			assert_true(ours.byte_hops <= rate(n, demand, even, n_jumps, duplex).byte_hops);
		}
		for (i = 0; i + 1 < n_jumps; i++)
			assert_true(jumps[i] < jumps[i + 1]);
	}
}

static void six_servers_have_one_duplex_ring(void **state)
{
	uint64_t demand[6] = { 0 };
	uint32_t jumps[3];

	(void)state;
	assert_int_equal(to_permutation_select(6, demand, 3, true, 1, jumps), 1);
	assert_int_equal(jumps[0], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_transfer_gets_its_own_jump),
		cmocka_unit_test(even_demand_gets_short_paths),
		cmocka_unit_test(never_worse_than_the_paper),
		cmocka_unit_test(six_servers_have_one_duplex_ring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
