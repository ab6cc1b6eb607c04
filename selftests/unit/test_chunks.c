// SPDX-License-Identifier: GPL-2.0-or-later
/* Schedules of chunks over dimensions: by hand, for random networks, and against all schedules. */

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "collectives/chunk_replay.h"
#include "collectives/chunk_search.h"

#define MB 1000000ull
#define G 1000000000ull
#define US 1000000ull	/* ps */

static struct to_dimensions network(unsigned int n, const struct to_dimension *list)
{
	struct to_dimensions d = { .n = n, .ranks = 1 };

	for (unsigned int k = 0; k < n; k++) {
		d.list[k] = list[k];
		d.ranks *= list[k].size;
	}
	return d;
}

static void make(struct to_chunk_schedule *s, struct to_chunk_run *run, const struct to_dimensions *d,
		 const struct to_chunk_setting *setting)
{
	struct to_error err = {};

	if (to_chunk_schedule_init(s, d, setting, &err))
		fail_msg("%s", err.text);
	assert_int_equal(to_chunk_run_init(run, s), 0);
}

static void drop(struct to_chunk_schedule *s, struct to_chunk_run *run)
{
	to_chunk_run_free(run);
	to_chunk_schedule_free(s);
}

/* Steps and bytes of each kind, alone: the closed form of its algorithm. */
static void test_kinds(void **state)
{
	static const struct { enum to_dimension_kind kind; unsigned int size, steps; } cases[] = {
		{ TO_DIMENSION_RING, 2, 1 }, { TO_DIMENSION_RING, 16, 15 }, { TO_DIMENSION_DIRECT, 8, 1 },
		{ TO_DIMENSION_SWITCH, 2, 1 }, { TO_DIMENSION_SWITCH, 64, 6 }, { TO_DIMENSION_SWITCH, 65, 7 },
	};
	struct to_chunk_schedule s;
	struct to_chunk_run run;

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (unsigned int c = 0; c < 3; c++) {
			struct to_dimension d = { cases[i].kind, cases[i].size, 8 * G, 700 };
			struct to_dimensions n = network(1, &d);
			struct to_chunk_setting setting = { .collective = c, .bytes = 65 * 64 * 1000, .n_chunks = 1 };
			uint64_t half = 65 * 64 * US / d.size * (d.size - 1) + cases[i].steps * 700000ull;

			make(&s, &run, &n, &setting);
			to_chunk_schedule_themis(&s);
			assert_int_equal(to_chunk_run(&run, &s, TO_CHUNK_FIFO), 0);
			assert_int_equal(run.ps, c == TO_CHUNK_ALLREDUCE ? 2 * half : half);
			drop(&s, &run);
		}
}

/*
 * Themis, Figures 5 and 7: 256 MB in four chunks on 4 x 4 ranks, the outer dimension with half
 * of the bandwidth. A 64 MB reduce-scatter on dim1 is one unit: the baseline has dim1 busy for
 * eight, and Themis sends chunk 2 through dim2 first.
 */
static void test_figure_5(void **state)
{
	static const struct to_dimension dims[] = {
		{ TO_DIMENSION_SWITCH, 4, 384 * G, 0 }, { TO_DIMENSION_SWITCH, 4, 192 * G, 0 },
	};
	static const uint8_t first[] = { 0, 1, 0, 0 };
	struct to_chunk_setting setting = { .bytes = 256 * MB, .n_chunks = 4, .threshold = 0.0625 };
	struct to_dimensions d = network(2, dims);
	struct to_chunk_schedule s;
	struct to_chunk_run run;
	struct to_chunk_search found = { .nodes_max = 1000000 };
	struct to_error err;

	(void)state;
	make(&s, &run, &d, &setting);
	to_chunk_schedule_baseline(&s);
	assert_int_equal(s.load_ps[0], 8000 * US);
	assert_int_equal(s.load_ps[1], 4000 * US);
	assert_int_equal(to_chunk_run(&run, &s, TO_CHUNK_FIFO), 0);
	assert_int_equal(run.ps, 8000 * US);
	to_chunk_schedule_themis(&s);
	for (unsigned int c = 0; c < 4; c++) {
		assert_int_equal(s.stages[c * 4].dimension, first[c]);
		assert_int_equal(s.stages[c * 4 + 3].dimension, first[c]);
	}
	/* dim1: three whole chunks and a quarter; dim2: three quarters and one whole, at half speed */
	assert_int_equal(s.load_ps[0], 2 * (3 * 1000 + 250) * US);
	assert_int_equal(s.load_ps[1], 2 * (3 * 500 + 2000) * US);
	assert_int_equal(to_chunk_run(&run, &s, TO_CHUNK_SCF), 0);
	assert_true(run.ps <= 8000 * US);
	/* seven units, the load of dim2, can be reached */
	assert_int_equal(to_chunk_search(&s, &run, &found, &err), 0);
	assert_true(found.proved);
	assert_int_equal(run.ps, 7000 * US);
	drop(&s, &run);
}

static struct to_dimensions random_network(uint64_t *random)
{
	struct to_dimension dims[4];
	unsigned int n = 1 + to_random_below(random, 4);

	for (unsigned int k = 0; k < n; k++)
		dims[k] = (struct to_dimension){
			.kind = to_random_below(random, 3), .size = 2 + to_random_below(random, 7),
			.bandwidth = (1 + to_random_below(random, 400)) * G,
			.latency_ns = to_random_below(random, 3) ? to_random_below(random, 5000) : 0,
		};
	return network(n, dims);
}

static struct to_chunk_setting random_setting(uint64_t *random, unsigned int chunks)
{
	return (struct to_chunk_setting){
		.collective = to_random_below(random, 3), .bytes = MB + to_random_below(random, 1000 * MB),
		.n_chunks = 1 + to_random_below(random, chunks), .threshold = 0.0625,
	};
}

/* What every run has to keep: stages follow each other, links carry one at a time. */
static void check_run(const struct to_chunk_schedule *s, const struct to_chunk_run *run)
{
	uint64_t last = 0;

	for (unsigned int k = 0; k < s->network.n; k++) {
		const uint32_t *order = &run->order[k * run->per_dimension];

		for (unsigned int i = 0; i < run->per_dimension; i++) {
			assert_int_equal(s->stages[order[i]].dimension, k);
			if (i)
				assert_true(run->start[order[i]] >=
					    run->start[order[i - 1]] + s->stages[order[i - 1]].ps);
		}
	}
	for (unsigned int i = 0; i < s->setting.n_chunks * s->n_stages; i++) {
		const struct to_chunk_stage *stage = &s->stages[i];
		uint64_t end = run->start[i] + stage->ps +
			       to_chunk_latency_ps(&s->network.list[stage->dimension]);

		if ((i + 1) % s->n_stages)
			assert_true(run->start[i + 1] >= end);
		last = end > last ? end : last;
	}
	assert_int_equal(run->ps, last);
}

/* Every rank sends and gets a buffer without its own part, whichever way the chunks go. */
static void check_bytes(const struct to_chunk_schedule *s)
{
	double bytes = 0, times = s->n_stages / s->network.n;

	for (unsigned int i = 0; i < s->setting.n_chunks * s->n_stages; i++)
		bytes += to_chunk_stage_bytes(s, &s->stages[i]);
	assert_true(fabs(bytes / (times * s->setting.bytes * (1 - 1.0 / s->network.ranks)) - 1) < 1e-9);
}

static void test_random(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (unsigned int round = 0; round < 300; round++) {
		struct to_dimensions d = random_network(&random);
		struct to_chunk_setting setting = random_setting(&random, 70);
		struct to_chunk_schedule s;
		struct to_chunk_run run, again;

		setting.parallel = to_random_below(&random, 4);
		make(&s, &run, &d, &setting);
		assert_int_equal(to_chunk_run_init(&again, &s), 0);
		for (unsigned int i = 0; i < 4; i++) {
			if (i & 1)
				to_chunk_schedule_themis(&s);
			else
				to_chunk_schedule_baseline(&s);
			assert_int_equal(to_chunk_run(&run, &s, i >> 1), 0);
			check_run(&s, &run);
			check_bytes(&s);
			for (unsigned int k = 0; k <= d.n; k++) {
				double used = to_chunk_run_utilisation(&run, &s, k);

				assert_true(used > 0 && used <= 1);
			}
			/* the order that comes out, given, is the run again */
			memcpy(again.order, run.order, setting.n_chunks * s.n_stages * sizeof(*run.order));
			assert_int_equal(to_chunk_run(&again, &s, TO_CHUNK_GIVEN), 0);
			assert_memory_equal(again.start, run.start,
					    setting.n_chunks * s.n_stages * sizeof(*run.start));
		}
		to_chunk_run_free(&again);
		drop(&s, &run);
	}
}

/* No more than so many under way; one is one after the other, latency and all. */
static void test_parallel(void **state)
{
	struct to_dimension dim = { TO_DIMENSION_RING, 5, 8 * G, 100 };
	struct to_dimensions d = network(1, &dim);
	struct to_chunk_setting setting = {
		.collective = TO_CHUNK_REDUCE_SCATTER, .bytes = 1000, .n_chunks = 10, .parallel = 1,
	};
	struct to_chunk_schedule s;
	struct to_chunk_run run;

	(void)state;
	make(&s, &run, &d, &setting);
	to_chunk_schedule_baseline(&s);
	assert_int_equal(to_chunk_run(&run, &s, TO_CHUNK_FIFO), 0);
	assert_int_equal(run.ps, 10 * (80000 + 400000));
	s.setting.parallel = 2;
	assert_int_equal(to_chunk_run(&run, &s, TO_CHUNK_FIFO), 0);
	assert_int_equal(run.ps, 5 * 480000 + 80000);
	s.setting.parallel = 0;
	assert_int_equal(to_chunk_run(&run, &s, TO_CHUNK_FIFO), 0);
	assert_int_equal(run.ps, 10 * 80000 + 400000);
	drop(&s, &run);
}

/* All orders of @left stages in all dimensions, for the routes that the chunks have. */
static uint64_t best_order(struct to_chunk_run *run, const struct to_chunk_schedule *s, unsigned int at)
{
	unsigned int end = (at / run->per_dimension + 1) * run->per_dimension;
	uint64_t best = UINT64_MAX, ps;

	if (at == s->setting.n_chunks * s->n_stages) {
		uint32_t order[16];

		memcpy(order, run->order, at * sizeof(*order));
		ps = to_chunk_run(run, s, TO_CHUNK_GIVEN) ? UINT64_MAX : run->ps;
		memcpy(run->order, order, at * sizeof(*order));
		return ps;
	}
	for (unsigned int i = at; i < end; i++) {
		uint32_t stage = run->order[at];

		run->order[at] = run->order[i];
		run->order[i] = stage;
		ps = best_order(run, s, at + 1);
		best = ps < best ? ps : best;
		run->order[i] = run->order[at];
		run->order[at] = stage;
	}
	return best;
}

static uint64_t best_of_all(struct to_chunk_schedule *s, struct to_chunk_run *run)
{
	static const uint8_t routes[4][4] = { { 0, 1, 0, 1 }, { 1, 0, 0, 1 }, { 0, 1, 1, 0 }, { 1, 0, 1, 0 } };
	unsigned int n_routes = s->n_stages, combinations = 1, n = s->setting.n_chunks;
	uint64_t best = UINT64_MAX, ps;

	for (unsigned int c = 0; c < n; c++)
		combinations *= n_routes;
	for (unsigned int i = 0; i < combinations; i++) {
		unsigned int at[2] = { 0, run->per_dimension }, left = i;

		for (unsigned int c = 0; c < n; c++, left /= n_routes)
			to_chunk_schedule_route(s, c, routes[left % n_routes]);
		for (unsigned int stage = 0; stage < n * s->n_stages; stage++)
			run->order[at[s->stages[stage].dimension]++] = stage;
		ps = best_order(run, s, 0);
		best = ps < best ? ps : best;
	}
	return best;
}

/* Two dimensions and few chunks: nothing among all schedules is better. */
static void test_optimal_is(void **state)
{
	uint64_t random = 2;

	(void)state;
	for (unsigned int round = 0; round < 30; round++) {
		struct to_dimensions d = random_network(&random);
		struct to_chunk_setting setting = random_setting(&random, 1);
		struct to_chunk_search found = { .nodes_max = 1000000 };
		struct to_chunk_schedule s;
		struct to_chunk_run run;
		struct to_error err;
		uint64_t ps;

		if (d.n != 2)
			continue;
		setting.n_chunks = setting.collective == TO_CHUNK_ALLREDUCE ? 2 : 3;
		make(&s, &run, &d, &setting);
		assert_int_equal(to_chunk_search(&s, &run, &found, &err), 0);
		assert_true(found.proved);
		assert_int_equal(found.bound_ps, run.ps);
		check_run(&s, &run);
		ps = run.ps;
		assert_int_equal(ps, best_of_all(&s, &run));
		drop(&s, &run);
	}
}

/* Never worse than the policies, never better than the bound, however early it ends. */
static void test_optimal_bounds(void **state)
{
	uint64_t random = 3;

	(void)state;
	for (unsigned int round = 0; round < 100; round++) {
		struct to_dimensions d = random_network(&random);
		struct to_chunk_setting setting = random_setting(&random, 8);
		struct to_chunk_search found = { .nodes_max = 1 + to_random_below(&random, 2000) };
		struct to_chunk_schedule s;
		struct to_chunk_run run;
		struct to_error err;
		uint64_t ps = UINT64_MAX;

		make(&s, &run, &d, &setting);
		for (unsigned int i = 0; i < 2; i++) {
			to_chunk_schedule_themis(&s);
			assert_int_equal(to_chunk_run(&run, &s, i), 0);
			ps = run.ps < ps ? run.ps : ps;
		}
		assert_int_equal(to_chunk_search(&s, &run, &found, &err), 0);
		assert_true(run.ps <= ps);
		assert_true(found.bound_ps <= run.ps);
		assert_true(found.proved || found.nodes >= found.nodes_max);
		check_run(&s, &run);
		check_bytes(&s);
		drop(&s, &run);
	}
}

static void test_optimal_is_for_small_cases(void **state)
{
	struct to_dimension dims[] = { { TO_DIMENSION_RING, 4, G, 0 }, { TO_DIMENSION_RING, 4, G, 0 } };
	struct to_dimensions d = network(2, dims);
	struct to_chunk_setting setting = { .bytes = MB, .n_chunks = 33 };
	struct to_chunk_search found = { .nodes_max = 1 };
	struct to_chunk_schedule s;
	struct to_chunk_run run;
	struct to_error err;

	(void)state;
	make(&s, &run, &d, &setting);
	assert_int_equal(to_chunk_search(&s, &run, &found, &err), -E2BIG);
	assert_non_null(strstr(err.text, "132 here"));
	drop(&s, &run);
}

/*
 * Section 4.6: ranks that are late keep going with the order of the run, in any network;
 * those that take what they have ready stop, at least once.
 */
static void test_late_ranks(void **state)
{
	unsigned int deadlocks = 0, slower = 0;
	uint64_t random = 4;

	(void)state;
	for (unsigned int round = 0; round < 60; round++) {
		struct to_dimensions d = random_network(&random);
		struct to_chunk_setting setting = random_setting(&random, 8);
		struct to_chunk_replay replay = { .seed = round, .ordered = true };
		struct to_chunk_schedule s;
		struct to_chunk_run run;
		struct to_error err;

		if (d.ranks > 256)
			continue;
		make(&s, &run, &d, &setting);
		to_chunk_schedule_themis(&s);
		assert_int_equal(to_chunk_run(&run, &s, TO_CHUNK_SCF), 0);
		/* nobody late: as fast as the run, in which all keep pace */
		assert_int_equal(to_chunk_replay(&s, &run, &replay, &err), 0);
		assert_int_equal(replay.left, 0);
		assert_int_equal(replay.ps, run.ps);
		replay.jitter_ps = run.ps / 2;
		assert_int_equal(to_chunk_replay(&s, &run, &replay, &err), 0);
		assert_int_equal(replay.left, 0);
		assert_true(replay.ps >= run.ps);
		slower += replay.ps > run.ps;
		replay.ordered = false;
		assert_int_equal(to_chunk_replay(&s, &run, &replay, &err), 0);
		assert_int_equal(!!replay.left, !!replay.waits[0]);
		deadlocks += replay.left > 0;
		drop(&s, &run);
	}
	assert_true(slower > 10);
	assert_true(deadlocks > 0);
}

static void test_refuses(void **state)
{
	struct to_dimension dim = { TO_DIMENSION_SWITCH, 1u << 20, 1, INT64_MAX };
	struct to_dimensions d = network(1, &dim);
	struct to_chunk_setting setting = { .bytes = 63, .n_chunks = 64 };
	struct to_chunk_schedule s;
	struct to_error err;

	(void)state;
	assert_int_equal(to_chunk_schedule_init(&s, &d, &setting, &err), -EINVAL);
	assert_string_equal(err.text, "chunks of 0 bytes: 63 bytes in 64 chunks");
	setting.bytes = INT64_MAX;
	assert_int_equal(to_chunk_schedule_init(&s, &d, &setting, &err), -ERANGE);
	d.list[0].latency_ns = 0;
	assert_int_equal(to_chunk_schedule_init(&s, &d, &setting, &err), -ERANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_figure_5),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_parallel),
		cmocka_unit_test(test_optimal_is),
		cmocka_unit_test(test_optimal_bounds),
		cmocka_unit_test(test_optimal_is_for_small_cases),
		cmocka_unit_test(test_late_ranks),
		cmocka_unit_test(test_refuses),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
