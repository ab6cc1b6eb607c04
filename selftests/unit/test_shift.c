// SPDX-License-Identifier: GPL-2.0-or-later
/* What is a shift of the traffic and what is not, on made-up series of 50 ms. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "measure/shift.h"

#define N 6
#define INTERVAL 50000000ull
#define PER_SECOND 20u
#define BUSY 1e7	/* bytes of an interval */

typedef double matrix[N * N];

/* Traffic of a phase: servers i send to i + @jump, all alike. */
static void ring(matrix m, unsigned int jump, double bytes)
{
	memset(m, 0, sizeof(matrix));
	for (unsigned int i = 0; i < N; i++)
		m[i * N + (i + jump) % N] = bytes / N;
}

static void mix(matrix m, const matrix a, const matrix b, double part)
{
	for (unsigned int i = 0; i < N * N; i++)
		m[i] = (1 - part) * a[i] + part * b[i];
}

/* A loop that follows every shift at once. */
struct run {
	struct to_shift shift;
	unsigned int n_shifts, n_steps, intervals, last;
	bool keep;	/* ... or none */
};

static void begin(struct run *run, const matrix planned)
{
	static const struct to_shift_config config = TO_SHIFT_DEFAULTS;

	*run = (struct run){ 0 };
	assert_int_equal(to_shift_init(&run->shift, &config, N, planned), 0);
}

static enum to_shift_verdict feed(struct run *run, const matrix m)
{
	enum to_shift_verdict verdict;
	uint64_t bytes[N * N];

	for (unsigned int i = 0; i < N * N; i++)
		bytes[i] = (uint64_t)m[i];
	verdict = to_shift_observe(&run->shift, bytes, INTERVAL);
	run->intervals++;
	if (verdict == TO_SHIFT_STEP || verdict == TO_SHIFT_DRIFT) {
		run->n_shifts++;
		run->n_steps += verdict == TO_SHIFT_STEP;
		run->last = run->intervals;
		to_shift_decided(&run->shift, !run->keep);
	}
	return verdict;
}

static void feed_seconds(struct run *run, const matrix m, double seconds)
{
	for (unsigned int i = 0; i < seconds * PER_SECOND; i++)
		feed(run, m);
}

/* Part of the traffic to plan for that is @m's. */
static double planned_part(const struct run *run, const matrix m)
{
	matrix rate;
	double sum = 0, part = 0;

	to_shift_mean(&run->shift, rate);
	for (unsigned int i = 0; i < N * N; i++) {
		sum += rate[i];
		part += m[i] ? rate[i] : 0;
	}
	return part / sum;
}

static void steady_is_none(void **state)
{
	struct run run;
	matrix a;

	(void)state;
	ring(a, 1, BUSY);
	begin(&run, a);
	feed_seconds(&run, a, 600);
	assert_int_equal(run.n_shifts, 0);
	to_shift_free(&run.shift);
}

/* Every pair's bytes vary by half, and the rate of all by a factor of four. */
static void noise_is_none(void **state)
{
	uint64_t random = 1;
	struct run run;
	matrix a, m;

	(void)state;
	ring(a, 1, BUSY);
	begin(&run, a);
	for (unsigned int t = 0; t < 600 * PER_SECOND; t++) {
		double all = 0.5 + to_random_below(&random, 1500) / 1000.0;

		for (unsigned int i = 0; i < N * N; i++)
			m[i] = a[i] * all * (0.5 + to_random_below(&random, 1000) / 1000.0) +
			       to_random_below(&random, 10000);
		feed(&run, m);
	}
	assert_int_equal(run.n_shifts, 0);
	to_shift_free(&run.shift);
}

/*
 * Two phases and a pause of compute in every iteration of a job, which begins long
 * after the loop.
 */
static void bursts_of_an_iteration_are_none(void **state)
{
	static const double lengths[] = { 0.2, 1.25 };
	matrix a, b, both, none = { 0 };
	struct run run;

	(void)state;
	ring(a, 1, BUSY);
	ring(b, 2, BUSY);
	mix(both, a, b, 0.5);
	for (unsigned int l = 0; l < 2; l++) {
		begin(&run, both);
		feed_seconds(&run, none, 60);
		for (unsigned int i = 0; i < 500; i++) {
			feed_seconds(&run, a, lengths[l]);
			feed_seconds(&run, none, lengths[l]);
			feed_seconds(&run, b, lengths[l]);
		}
		assert_int_equal(run.n_shifts, 0);
		to_shift_free(&run.shift);
	}
}

static void pauses_are_none(void **state)
{
	matrix a, b, trickle, none = { 0 };
	struct run run;

	(void)state;
	ring(a, 1, BUSY);
	ring(b, 3, BUSY);
	ring(trickle, 2, 5000);	/* 100 kB/s */
	begin(&run, a);
	feed_seconds(&run, a, 10);
	feed_seconds(&run, none, 300);
	feed_seconds(&run, a, 10);
	feed_seconds(&run, trickle, 300);
	feed_seconds(&run, a, 10);
	assert_int_equal(run.n_shifts, 0);
	/* nor do they hide what comes behind them */
	feed_seconds(&run, none, 10);
	assert_int_equal(feed(&run, b), TO_SHIFT_NONE);
	assert_int_equal(feed(&run, b), TO_SHIFT_STEP);
	/* nor is traffic a pause for ever that is slower than what was before */
	mix(trickle, a, trickle, 0.99);
	feed_seconds(&run, trickle, 60);
	assert_in_range(run.n_shifts, 2, 4);
	assert_true(planned_part(&run, a) > 0.9);
	to_shift_free(&run.shift);
}

static void step_is_seen_at_once(void **state)
{
	struct run run;
	matrix a, b, m;

	(void)state;
	ring(a, 1, BUSY);
	ring(b, 2, BUSY);
	begin(&run, a);
	feed_seconds(&run, a, 10);
	/* it falls into the middle of an interval */
	mix(m, a, b, 0.5);
	assert_int_equal(feed(&run, m), TO_SHIFT_NONE);
	assert_int_equal(feed(&run, b), TO_SHIFT_STEP);
	/* and what is planned for is all new */
	assert_true(fabs(planned_part(&run, b) - 1) < 1e-9);
	feed_seconds(&run, b, 600);
	assert_int_equal(run.n_shifts, 1);
	/* the way back, long after, is a step as well */
	feed(&run, a);
	assert_int_equal(feed(&run, a), TO_SHIFT_STEP);
	to_shift_free(&run.shift);
}

/* One interval is too little to tell. */
static void spike_is_none(void **state)
{
	struct run run;
	matrix a, b;

	(void)state;
	ring(a, 1, BUSY);
	ring(b, 2, BUSY);
	begin(&run, a);
	for (unsigned int i = 0; i < 10; i++) {
		feed_seconds(&run, a, 20);
		feed(&run, b);
	}
	assert_int_equal(run.n_shifts, 0);
	to_shift_free(&run.shift);
}

static void small_change_is_none(void **state)
{
	struct run run;
	matrix a, b, m;

	(void)state;
	ring(a, 1, BUSY);
	ring(b, 2, BUSY);
	mix(m, a, b, 0.25);
	begin(&run, a);
	feed_seconds(&run, a, 10);
	feed_seconds(&run, m, 600);
	assert_int_equal(run.n_shifts, 0);
	to_shift_free(&run.shift);
}

/* Of the phases that come and go, the mean is what to plan for, and then all is quiet. */
static void oscillation_is_damped(void **state)
{
	static const double periods[] = { 0.1, 0.5, 1, 3, 6 };
	struct run run;
	matrix a, b;

	(void)state;
	ring(a, 1, BUSY);
	ring(b, 2, BUSY);
	for (unsigned int p = 0; p < 5; p++) {
		begin(&run, a);
		feed_seconds(&run, a, 10);
		for (double t = 0; t < 1200; t += periods[p]) {
			feed_seconds(&run, b, periods[p] / 2);
			feed_seconds(&run, a, periods[p] / 2);
		}
		assert_in_range(run.n_shifts, 1, 3);
		assert_true(run.last < 60 * PER_SECOND);
		assert_true(fabs(planned_part(&run, b) - 0.5) < 0.2);
		to_shift_free(&run.shift);
	}
}

/* Traffic that is new every 2.5 s, but changes keep ever more distance. */
static void changes_get_rarer(void **state)
{
	unsigned int last = 0, gap = UINT32_MAX;
	struct run run;
	matrix m;

	(void)state;
	ring(m, 1, BUSY);
	begin(&run, m);
	for (unsigned int t = 0; t < 1200 * PER_SECOND; t++) {
		unsigned int pair = t / 50 % (N * (N - 1));

		memset(m, 0, sizeof(m));
		m[pair / (N - 1) * N + (pair / (N - 1) + 1 + pair % (N - 1)) % N] = BUSY;
		feed(&run, m);
		if (run.last != run.intervals)
			continue;
		if (last && run.last - last < gap)
			gap = run.last - last;
		last = run.last;
	}
	assert_true(gap >= 2 * PER_SECOND);
	assert_in_range(run.n_shifts, 5, 20);
	to_shift_free(&run.shift);
}

static void ramp_is_followed_in_few_changes(void **state)
{
	struct run run;
	matrix a, b, m;

	(void)state;
	ring(a, 1, BUSY);
	ring(b, 2, BUSY);
	begin(&run, a);
	feed_seconds(&run, a, 10);
	for (unsigned int t = 0; t < 120 * PER_SECOND; t++) {
		mix(m, a, b, t / (120.0 * PER_SECOND));
		feed(&run, m);
	}
	feed_seconds(&run, b, 120);
	assert_in_range(run.n_shifts, 2, 4);
	assert_int_equal(run.n_steps, 0);
	assert_true(run.shift.distance < 0.3);
	to_shift_free(&run.shift);
}

/* When no other plan would be better it is asked ever more rarely. */
static void kept_plans_are_doubted_rarely(void **state)
{
	struct run run;
	matrix a, b, c;

	(void)state;
	ring(a, 1, BUSY);
	ring(b, 2, BUSY);
	ring(c, 3, BUSY);
	begin(&run, a);
	run.keep = true;
	feed_seconds(&run, a, 10);
	feed_seconds(&run, b, 1200);
	assert_in_range(run.n_shifts, 2, 20);
	/* which delays no step */
	feed(&run, c);
	assert_int_equal(feed(&run, c), TO_SHIFT_STEP);
	to_shift_free(&run.shift);
}

static void nothing_is_decided_in_a_hold(void **state)
{
	unsigned int t = 0;
	struct run run;
	matrix a, b;

	(void)state;
	ring(a, 1, BUSY);
	ring(b, 2, BUSY);
	begin(&run, a);
	for (; t + 1 < 5 * PER_SECOND / 2; t++)
		assert_int_equal(feed(&run, b), TO_SHIFT_HELD);
	/* Of 2.9 s, with what was forgotten, a quarter of the memory is left. */
	for (; t + 1 < 29 * PER_SECOND / 10; t++)
		assert_int_equal(feed(&run, b), TO_SHIFT_NONE);
	assert_int_equal(feed(&run, b), TO_SHIFT_DRIFT);
	to_shift_free(&run.shift);
}

/* A job that begins after a pause: its first interval is not all of it. */
static void part_of_an_iteration_is_no_drift(void **state)
{
	static const matrix idle;
	struct run run;
	matrix a, b, both;

	(void)state;
	ring(a, 1, BUSY);
	ring(b, 2, BUSY);
	mix(both, a, b, 0.5);
	begin(&run, both);
	feed(&run, a);
	feed(&run, b);
	feed_seconds(&run, idle, 5);
	for (unsigned int t = 0; t < 20 * PER_SECOND; t++)
		feed(&run, t / 4 % 2 ? b : a);
	assert_int_equal(run.n_shifts, 0);
	to_shift_free(&run.shift);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steady_is_none),
		cmocka_unit_test(noise_is_none),
		cmocka_unit_test(bursts_of_an_iteration_are_none),
		cmocka_unit_test(pauses_are_none),
		cmocka_unit_test(step_is_seen_at_once),
		cmocka_unit_test(spike_is_none),
		cmocka_unit_test(small_change_is_none),
		cmocka_unit_test(oscillation_is_damped),
		cmocka_unit_test(changes_get_rarer),
		cmocka_unit_test(ramp_is_followed_in_few_changes),
		cmocka_unit_test(kept_plans_are_doubted_rarely),
		cmocka_unit_test(nothing_is_decided_in_a_hold),
		cmocka_unit_test(part_of_an_iteration_is_no_drift),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
