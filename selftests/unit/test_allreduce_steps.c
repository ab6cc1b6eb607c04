// SPDX-License-Identifier: GPL-2.0-or-later
/* Steps of AllReduce, carried out: at the end all members have the sum of every element. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "data/allreduce_steps.h"
#include "data/cluster.h"

#define MEMBERS_MAX 33
#define ELEMENTS 64

/* Which members' values are in an element. */
static uint64_t has[MEMBERS_MAX][ELEMENTS], had[MEMBERS_MAX][ELEMENTS];
static uint32_t sent_to[MEMBERS_MAX];

static void begin(uint32_t n)
{
	for (uint32_t m = 0; m < n; m++)
		for (int e = 0; e < ELEMENTS; e++)
			has[m][e] = 1ull << m;
}

/* Messages of a step carry what their senders had before it. */
static void step(void)
{
	memcpy(had, has, sizeof(had));
	memset(sent_to, 0, sizeof(sent_to));
}

static void deliver(const struct to_allreduce_send *send, uint32_t n)
{
	assert_true(send->from < n && send->to < n && send->from != send->to);
	assert_true(send->piece < send->pieces);
	assert_int_equal(sent_to[send->to]++, 0);
	for (uint32_t e = 0; e < ELEMENTS; e++) {
		if (e % send->pieces != send->piece)
			continue;
		/* nothing is added twice */
		if (send->sum)
			assert_true(!(has[send->to][e] & had[send->from][e]));
		has[send->to][e] = (send->sum ? has[send->to][e] : 0) | had[send->from][e];
	}
}

static void end(uint32_t n)
{
	for (uint32_t m = 0; m < n; m++)
		for (int e = 0; e < ELEMENTS; e++)
			assert_int_equal(has[m][e], (1ull << n) - 1);
}

static void ring_sums_all(void **state)
{
	(void)state;
	for (uint32_t n = 2; n <= MEMBERS_MAX; n++) {
		for (int reverse = 0; reverse < 2; reverse++) {
			begin(n);
			for (unsigned int s = 0; s < to_allreduce_steps_ring(n); s++) {
				step();
				for (uint32_t m = 0; m < n; m++) {
					const struct to_allreduce_send send =
						to_allreduce_steps_ring_send(n, reverse, s, m);

					assert_int_equal(send.from, m);
					assert_int_equal(send.pieces, n);
					assert_int_equal((send.from + (reverse ? n - 1 : 1)) % n,
							 send.to);
					deliver(&send, n);
				}
			}
			end(n);
		}
		assert_true(to_allreduce_steps_ring_share(n) == 2.0 * (n - 1) / n);
	}
}

static void halving_sums_all(void **state)
{
	(void)state;
	for (uint32_t n = 2; n <= MEMBERS_MAX; n++) {
		begin(n);
		for (unsigned int s = 0; s < to_allreduce_steps_halving(n); s++) {
			struct to_allreduce_send send;

			step();
			for (uint32_t m = 0; m < n; m++)
				if (to_allreduce_steps_halving_send(n, s, m, &send))
					deliver(&send, n);
		}
		end(n);
	}
	assert_int_equal(to_allreduce_steps_halving(8), 6);
	assert_int_equal(to_allreduce_steps_halving(9), 8);
}

static void tree_takes_twice_its_depth(void **state)
{
	const uint32_t chain[] = { 1, 2, TO_SERVER_NONE, 2 }, star[] = { TO_SERVER_NONE, 0, 0 };
	const uint32_t some[] = { 2, 3 };

	(void)state;
	assert_int_equal(to_allreduce_steps_tree(NULL, 4, chain), 4);
	assert_int_equal(to_allreduce_steps_tree(NULL, 3, star), 2);
	assert_int_equal(to_allreduce_steps_tree(some, 2, chain), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ring_sums_all),
		cmocka_unit_test(halving_sums_all),
		cmocka_unit_test(tree_takes_twice_its_depth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
