// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What regret guarantees, against adversaries that know where the loop is: the price is
 * 1, all times are in its terms, and the best sequence of changes is found by dynamic
 * programming over all states.
 */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "plan/regret.h"

#define INTERVALS 20000

/**
 * struct game - what it has cost so far
 * @loop: the loop, with its changes; @first: the first state alone; @least: of each
 *	interval the best state
 * @best: the best sequence of changes that ends in each state
 */
struct game {
	struct to_regret regret;
	double loop, first, least, best[TO_REGRET_MAX], most;
	unsigned int changes;
};

static void begin(struct game *game, unsigned int n)
{
	const double price[TO_REGRET_MAX] = { 1, 1, 1, 1, 1, 1, 1, 1 };

	*game = (struct game){ 0 };
	to_regret_init(&game->regret);
	while (game->regret.n < n)
		to_regret_add(&game->regret, price,
			      to_regret_work(&game->regret, game->regret.work, price), 0);
	for (unsigned int s = 1; s < n; s++)
		game->best[s] = 1;
}

static double best(const struct game *game)
{
	double least = INFINITY;

	for (unsigned int s = 0; s < game->regret.n; s++)
		least = fmin(least, game->best[s]);
	return least;
}

static void turn(struct game *game, const double *cost)
{
	struct to_regret *r = &game->regret;
	const double least = best(game);
	double one = INFINITY, share = 0;
	unsigned int to;

	for (unsigned int s = 0; s < r->n; s++)
		one = fmin(one, cost[s]);
	game->least += one;
	game->loop += cost[r->at];
	game->first += cost[0];
	for (unsigned int s = 0; s < r->n; s++)
		game->best[s] = fmin(game->best[s], least + 1) + cost[s];
	game->most = fmax(game->most, cost[r->at]);
	to_regret_observe(r, cost);
	to = to_regret_choose(r);
	/*
	 * All of what must be lost was against one of them when a change is made, a part of it
	 * against the one that it leads to, and never more before.
	 */
	for (unsigned int s = 0; s < r->n; s++) {
		assert_true(s == r->at || to_regret_share(r, s) < 1 + 1e-6);
		share = s == r->at ? share : fmax(share, to_regret_share(r, s));
	}
	assert_true(!to || to == r->at || share > 1 - 1e-6);
	assert_true(!to || to == r->at ||
		    to_regret_lost(r, to) > r->price[r->at][to] / TO_REGRET_RATIO - 1e-6);
	if (to == r->at)
		return;
	game->loop += 1;
	game->changes++;
	to_regret_move(r, to);
	assert_int_equal(r->at, to);
}

/* Never far beyond the first state. */
static void check_first(const struct game *game)
{
	const double limit = (1 + TO_REGRET_SLACK) * game->first +
			     TO_REGRET_HOPE * (game->first - game->least) + TO_REGRET_LOAN +
			     game->most;

	if (game->loop > limit + 1e-6)
		fail_msg("loop %g, first %g, limit %g", game->loop, game->first, limit);
}

/* Never beyond the best by more than the ratio. */
static void check_best(const struct game *game)
{
	const double ratio = (2 * game->regret.n - 1) * TO_REGRET_RATIO;

	if (game->loop > ratio * (best(game) + 1))
		fail_msg("loop %g, best %g, ratio %g", game->loop, best(game), ratio);
}

/* Whatever the loop is in costs @much, all else nothing. @credit: without end */
static void cruel(unsigned int n, double much, bool credit)
{
	struct game game;

	begin(&game, n);
	for (unsigned int t = 0; t < INTERVALS; t++) {
		double cost[TO_REGRET_MAX] = { 0 };

		cost[game.regret.at] = much;
		if (credit)
			game.regret.credit = 1e9;
		turn(&game, cost);
		if (credit)
			check_best(&game);
		else
			check_first(&game);
	}
}

static void test_cruel(void **state)
{
	(void)state;
	for (unsigned int n = 1; n <= TO_REGRET_MAX; n++) {
		for (double much = 0.001; much < 5; much *= 3) {
			cruel(n, much, false);
			if (n > 1)
				cruel(n, much, true);
		}
	}
}

/* The state that the loop leaves becomes free, all others cost the same. */
static void test_grass(void **state)
{
	(void)state;
	for (unsigned int n = 2; n <= TO_REGRET_MAX; n++) {
		for (double much = 0.01; much < 1; much *= 3) {
			unsigned int left = 0, at = 0;
			struct game game;

			begin(&game, n);
			for (unsigned int t = 0; t < INTERVALS; t++) {
				double cost[TO_REGRET_MAX];

				for (unsigned int s = 0; s < n; s++)
					cost[s] = s == left && s != game.regret.at ? 0 : much;
				turn(&game, cost);
				left = game.regret.at != at ? at : left;
				at = game.regret.at;
				check_first(&game);
			}
		}
	}
}

/* Costs at random, in phases of random length. */
static void test_random(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (unsigned int round = 0; round < 50; round++) {
		const unsigned int n = 1 + to_random_below(&random, TO_REGRET_MAX);
		unsigned int left = 0;
		double cost[TO_REGRET_MAX];
		struct game game;

		begin(&game, n);
		for (unsigned int t = 0; t < 5000; t++) {
			for (unsigned int s = 0; !left && s < n; s++)
				cost[s] = to_random_below(&random, 1000) * 1e-3;
			left = left ? left - 1 : to_random_below(&random, 200);
			turn(&game, cost);
			check_first(&game);
			check_best(&game);
		}
		/* phases of a hundred intervals: it does far better than it must */
		assert_true(game.loop < 1.1 * best(&game) + 5);
	}
}

static void test_steps(void **state)
{
	const double first[] = { 0.1, 0.3 }, second[] = { 0.3, 0.1 };
	struct game game;
	unsigned int t;

	(void)state;
	begin(&game, 2);
	for (t = 0; t < 1000; t++)
		turn(&game, first);
	assert_int_equal(game.changes, 0);
	/* a short one is no reason */
	for (t = 0; t < 3; t++)
		turn(&game, second);
	for (t = 0; t < 1000; t++)
		turn(&game, first);
	assert_int_equal(game.changes, 0);
	/* twice the price at 0.2 each: there and, in hindsight, back */
	for (t = 0; !game.changes; t++)
		turn(&game, second);
	assert_in_range(t, 9, 11);
	for (; t < 1000; t++)
		turn(&game, second);
	assert_int_equal(game.changes, 1);
	/* where changes pay, less is enough */
	for (unsigned int phase = 0; phase < 6; phase++)
		for (t = 0; t < 1000; t++)
			turn(&game, phase % 2 ? second : first);
	assert_int_equal(game.changes, 7);
	assert_true(game.regret.caution == 1 / TO_REGRET_CAUTION);
	for (t = 0; game.changes == 7; t++)
		turn(&game, first);
	assert_in_range(t, 2, 4);
}

/* Phases of a hundred intervals, in which changes pay: what saves little does not, by then. */
static void test_little(void **state)
{
	const double first[] = { 0.1, 0.3, 0.3 }, second[] = { 0.3, 0.1, 0.096 };
	struct game game;
	unsigned int t;

	(void)state;
	begin(&game, 3);
	for (unsigned int phase = 0; phase < 8; phase++)
		for (t = 0; t < 100; t++)
			turn(&game, phase % 2 ? first : (const double[]){ 0.3, 0.1, 0.3 });
	assert_true(game.regret.caution < 1);
	while (game.regret.at != 1)
		turn(&game, (const double[]){ 0.3, 0.1, 0.3 });
	game.changes = 0;
	/* 0.004 in each: a quarter of the price after 63, all of it after 250 */
	for (t = 0; !game.changes && t < 1000; t++)
		turn(&game, second);
	assert_int_equal(game.regret.at, 2);
	assert_in_range(t, 240, 260);
}

/* Less and less: never enough to go on for, but in all it is. */
static void test_less(void **state)
{
	struct game game;
	unsigned int t;

	(void)state;
	begin(&game, 2);
	game.regret.caution = 1 / TO_REGRET_CAUTION;
	for (t = 0; !game.changes && t < 1000; t++)
		turn(&game, (const double[]){ 0.9 / (t + 1), 0 });
	assert_in_range(t, 2, 3);
}

/* That a cheap change paid makes no dear one likelier. */
static void test_cheap(void **state)
{
	const double cheap[] = { 1, 0.9, 1 }, dear[] = { 1, 0.9, 0.1 };
	struct game game;

	(void)state;
	begin(&game, 3);
	game.regret.price[0][1] = game.regret.price[1][0] = 0.05;
	while (!game.changes)
		turn(&game, cheap);
	assert_int_equal(game.regret.at, 1);
	for (unsigned int t = 0; t < 5; t++)
		turn(&game, cheap);
	assert_true(game.regret.gained > TO_REGRET_WORTH * game.regret.paid);
	while (game.changes == 1)
		turn(&game, dear);
	assert_int_equal(game.regret.at, 2);
	assert_true(game.regret.caution == 1);
}

/* It is left for the one that is better from now on, not for the one that is due first. */
static void test_rather(void **state)
{
	const double before[] = { 0.1, 0.5, 2 }, after[] = { 1, 0.3, 0.1 };
	struct game game;

	(void)state;
	begin(&game, 3);
	game.regret.price[0][1] = game.regret.price[1][0] = 0.6;
	for (unsigned int t = 0; t < 100; t++)
		turn(&game, before);
	for (unsigned int t = 0; !game.changes && t < 100; t++)
		turn(&game, after);
	assert_int_equal(game.regret.at, 2);
}

/* Not for one that would be left for another at once, however good it looks now. */
static void test_rather_not(void **state)
{
	struct game game;
	struct to_regret *r = &game.regret;

	(void)state;
	begin(&game, 3);
	r->age = 10;
	r->work[0] = 1;
	r->work[1] = 0;
	r->last[0] = 1;
	r->last[1] = 0.5;
	r->last[2] = 0;
	r->work[2] = 0.2;
	assert_int_equal(to_regret_rather(r, 1), 2);
	r->work[2] = 0.5;
	assert_int_equal(to_regret_rather(r, 1), 1);
}

/* States come and go: what was known of the others stays. */
static void test_remove(void **state)
{
	const double price[] = { 1, 2, 3, 4 }, cost[] = { 0.4, 0.3, 0.2, 0.1 };
	struct to_regret r;
	double work[4];

	(void)state;
	to_regret_init(&r);
	for (unsigned int s = 1; s < 4; s++)
		to_regret_add(&r, price, to_regret_work(&r, r.work, price), 0);
	for (unsigned int t = 0; t < 100; t++)
		to_regret_observe(&r, cost);
	for (unsigned int s = 0; s < 4; s++)
		work[s] = r.work[s];
	to_regret_move(&r, 3);
	to_regret_remove(&r, 1);
	assert_int_equal(r.n, 3);
	assert_int_equal(r.at, 2);
	assert_true(r.work[0] == work[0] && r.work[1] == work[2] && r.work[2] == work[3]);
	assert_true(r.price[0][2] == 1 && r.price[1][2] == 3 && r.price[2][1] == 3);
	assert_int_equal(r.before, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cruel),
		cmocka_unit_test(test_grass),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_little),
		cmocka_unit_test(test_less),
		cmocka_unit_test(test_cheap),
		cmocka_unit_test(test_rather),
		cmocka_unit_test(test_rather_not),
		cmocka_unit_test(test_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
