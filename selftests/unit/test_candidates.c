// SPDX-License-Identifier: GPL-2.0-or-later
/* Which plans are compared, on what traffic, and what is remembered of it. */

#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "control/planning.h"
#include "data/allreduce.h"
#include "job.h"
#include "measure/phases.h"
#include "routing/up_down.h"
#include "verify/buffer_cycle.h"

#define N 12
#define BYTES 200000000ull
#define INTERVAL 0.05

static struct to_traffic empty(void)
{
	return (struct to_traffic){
		.n = N, .bytes = calloc(N * N, sizeof(uint64_t)),
		.tcp = calloc(N * N, sizeof(uint64_t)), .seconds = INTERVAL,
	};
}

/* Every server to the one that is @apart, and back. */
static struct to_traffic pairs(unsigned int apart)
{
	struct to_traffic t = empty();

	for (unsigned int i = 0; i < N; i++)
		t.bytes[i * N + (i + apart) % N] = t.bytes[(i + apart) % N * N + i] = BYTES;
	return t;
}

/* Pairs of servers, drawn from @seed. */
static struct to_traffic matching(uint64_t seed)
{
	struct to_traffic t = empty();
	uint32_t order[N];

	for (uint32_t i = 0; i < N; i++)
		order[i] = i;
	for (uint32_t i = N - 1; i; i--) {
		uint32_t k = to_random_below(&seed, i + 1), other = order[i];

		order[i] = order[k];
		order[k] = other;
	}
	for (unsigned int i = 0; i < N; i++)
		t.bytes[order[i] * N + order[i ^ 1]] = 2 * BYTES;
	return t;
}

static struct to_plan *plan_for(unsigned int apart, uint64_t buffer)
{
	struct to_traffic t = pairs(apart);
	struct to_demand *demand = job_new(N);
	struct to_error err = { "" };
	struct to_plan *plan;

	if (buffer)
		job_group(demand, 0, 1, N, buffer);
	memcpy(demand->mp, t.bytes, N * N * sizeof(*demand->mp));
	to_traffic_free(&t);
	plan = job_plan(demand, 4, TO_LINKS_DUPLEX, &err);
	assert_non_null(plan);
	return plan;
}

static struct to_candidates begin(const struct to_plan *plan)
{
	const struct to_candidates_config config = TO_CANDIDATES_DEFAULTS;
	struct to_candidates c;

	assert_int_equal(to_candidates_init(&c, &config, plan), 0);
	return c;
}

static enum to_shift_verdict observe(struct to_candidates *c, struct to_traffic t)
{
	enum to_shift_verdict verdict;

	assert_int_equal(to_candidates_observe(c, &t, &verdict), 0);
	assert_null(t.bytes);
	return verdict;
}

static void test_memory(void **state)
{
	struct to_plan *plan = plan_for(6, 0);
	struct to_candidates c = begin(plan);

	(void)state;
	for (unsigned int i = 0; i < 1000; i++)
		assert_int_equal(observe(&c, pairs(6)) == TO_SHIFT_BUSY, false);
	/* ten seconds */
	assert_in_range(c.n_intervals, 199, 202);
	to_candidates_free(&c);
	to_plan_free(plan);
}

static void test_first_stays(void **state)
{
	struct to_plan *plan = plan_for(6, 0);
	struct to_candidates c = begin(plan);
	struct to_error err = { "" };
	unsigned int looks = 0;

	(void)state;
	/* ever other traffic: more candidates than there is room for */
	for (unsigned int i = 0; i < 3000; i++) {
		unsigned int to;

		if (observe(&c, matching(i / 100)) != TO_SHIFT_NONE) {
			assert_true(to_candidates_plan(&c, &err) >= 0);
			looks++;
		}
		assert_true(c.regret.n <= TO_REGRET_MAX);
		assert_ptr_equal(c.candidate[0].busy.plan->cluster, plan->cluster);
		assert_int_equal(c.candidate[0].id, 0);
		to = to_candidates_choose(&c);
		if (to != c.regret.at)
			to_candidates_moved(&c, to);
	}
	assert_true(looks > 3 && c.next_id > TO_REGRET_MAX);
	to_candidates_free(&c);
	to_plan_free(plan);
}

static double least(const struct to_candidates *c)
{
	const double *cost = c->intervals[c->n_intervals - 1].cost;
	double seconds = cost[0];

	for (unsigned int k = 1; k < c->regret.n; k++)
		seconds = fmin(seconds, cost[k]);
	return seconds;
}

/* Who saved much is not replaced by whatever came later: its traffic may return. */
static void test_returns(void **state)
{
	struct to_plan *plan = plan_for(6, 0);
	struct to_candidates c = begin(plan);
	struct to_error err = { "" };
	double before;

	(void)state;
	observe(&c, matching(1));
	assert_true(to_candidates_plan(&c, &err) > 0);
	for (unsigned int i = 0; i < 400; i++)
		observe(&c, matching(1));
	before = least(&c);
	for (unsigned int seed = 2; seed < 12; seed++) {
		for (unsigned int i = 0; i < 20; i++)
			observe(&c, matching(seed));
		assert_true(to_candidates_plan(&c, &err) >= 0);
	}
	assert_int_equal(c.regret.n, TO_REGRET_MAX);
	observe(&c, matching(1));
	assert_true(least(&c) < before * 1.01);
	to_candidates_free(&c);
	to_plan_free(plan);
}

/* What a plan would have saved before traffic was as it is says nothing for it. */
static void test_newest(void **state)
{
	struct to_plan *plan = plan_for(6, 0);
	struct to_candidates c = begin(plan);
	struct to_error err = { "" };

	(void)state;
	for (unsigned int i = 0; i < 100; i++)
		observe(&c, matching(7));
	for (unsigned int i = 0; i < 2; i++)
		observe(&c, matching(9));
	assert_true(to_candidates_plan(&c, &err) > 0);
	assert_int_equal(c.n_same, 2);
	assert_int_equal(to_candidates_choose(&c), 0);
	/* it is enough when that is all there ever was */
	to_candidates_free(&c);
	c = begin(plan);
	for (unsigned int i = 0; i < 100; i++)
		observe(&c, matching(7));
	assert_true(to_candidates_plan(&c, &err) > 0);
	assert_true(to_candidates_choose(&c) > 0);
	to_candidates_free(&c);
	to_plan_free(plan);
}

/* A candidate that is dropped takes nothing along that others need. */
static void test_drop(void **state)
{
	struct to_plan *plan = plan_for(6, 0);
	struct to_candidates c = begin(plan);
	struct to_error err = { "" };
	const struct to_plan *last;

	(void)state;
	for (unsigned int i = 0; i < 40; i++)
		observe(&c, pairs(i % 2 ? 3 : 4));
	assert_true(to_candidates_plan(&c, &err) >= 2);
	last = c.candidate[c.regret.n - 1].busy.plan;
	to_candidates_drop(&c, 1);
	assert_ptr_equal(c.candidate[c.regret.n - 1].busy.plan, last);
	for (unsigned int i = 0; i < 100; i++)
		observe(&c, pairs(i % 2 ? 3 : 4));
	assert_int_equal(c.candidate[to_candidates_choose(&c)].busy.plan == plan, false);
	to_candidates_free(&c);
	to_plan_free(plan);
}

/* What a candidate is good at, whichever is in force, needs no other one. */
static void test_no_twins(void **state)
{
	struct to_plan *plan = plan_for(6, 0);
	struct to_candidates c = begin(plan);
	struct to_error err = { "" };
	unsigned int apart;

	(void)state;
	for (apart = 3; apart <= 5; apart++) {
		for (unsigned int i = 0; i < 400; i++)
			observe(&c, pairs(apart));
		assert_true(to_candidates_plan(&c, &err) > 0);
		to_candidates_moved(&c, c.regret.n - 1);
	}
	for (unsigned int i = 0; i < 400; i++)
		observe(&c, pairs(3));
	assert_int_equal(to_candidates_plan(&c, &err), 0);
	to_candidates_free(&c);
	to_plan_free(plan);
}

/* The loop keeps what a plan says of itself: nor do candidates let buffers wait in a circle. */
static void test_buffer_cycles(void **state)
{
	struct to_plan *plan = plan_for(6, 0);
	struct to_candidates c;
	struct to_error err = { "" };

	(void)state;
	assert_int_equal(to_up_down_fill(plan, &err), 0);
	c = begin(plan);
	for (unsigned int i = 0; i < 100; i++)
		observe(&c, matching(7));
	assert_true(to_candidates_plan(&c, &err) > 0);
	for (unsigned int k = 0; k < c.regret.n; k++) {
		const struct to_plan *candidate = c.candidate[k].busy.plan;
		struct to_buffer_cycle cycle;

		assert_true(candidate->no_buffer_cycles);
		assert_int_equal(to_buffer_cycle_find(candidate, c.candidate[k].busy.graph, false,
						      &cycle), 0);
		assert_int_equal(cycle.n, 0);
		free(cycle.servers);
	}
	to_candidates_free(&c);
	to_plan_free(plan);
}

/* Two cables to each neighbour in a ring, and no routes: made at once, however many servers. */
static struct to_plan *ring_of(unsigned int n)
{
	struct to_plan *plan = calloc(1, sizeof(*plan));
	struct to_error err = { "" };
	struct to_layout layout = { .n_links = 2 * n, .links = calloc(2 * n, sizeof(struct to_link)) };

	plan->cluster = to_cluster_synthetic(n, 4, 100 * GBPS, TO_LINKS_DUPLEX, &err);
	assert_non_null(plan->cluster);
	plan->demand = job_new(n);
	for (unsigned int l = 0; l < 2 * n; l++)
		layout.links[l] = (struct to_link){ .a = { l % n, 2 * (l / n) },
						    .b = { (l + 1) % n, 2 * (l / n) + 1 },
						    .ring = -1, .tree = -1 };
	to_plan_set_layout(plan, &layout);
	assert_int_equal(to_plan_alloc_tables(plan), 0);
	return plan;
}

/* How many candidates there are at last, when one after the other comes. */
static unsigned int most_of(unsigned int n)
{
	struct to_traffic traffic = {
		.n = n, .bytes = calloc((size_t)n * n, sizeof(uint64_t)),
		.tcp = calloc((size_t)n * n, sizeof(uint64_t)), .seconds = INTERVAL,
	};
	struct to_plan *plan = ring_of(n);
	struct to_candidates c = begin(plan);
	unsigned int most;

	observe(&c, traffic);
	for (unsigned int i = 0; i < TO_REGRET_MAX + 1; i++) {
		const double price[TO_REGRET_MAX] = { 0 };
		struct to_candidates copy;
		struct to_candidates_plan *new;
		struct to_error err = { "" };

		assert_int_equal(to_candidates_lend(&c, &copy), 0);
		assert_int_equal(to_candidates_open(&copy), 0);
		if (copy.regret.n == TO_REGRET_MAX)
			to_candidates_drop(&copy, 1);
		new = &copy.candidate[to_regret_add(&copy.regret, price, 0, 0)];
		new->id = copy.next_id++;
		assert_int_equal(to_busy_time_init(&new->busy, plan), 0);
		assert_int_equal(to_candidates_return(&c, &copy, 1, &err), 1);
		assert_int_equal(c.candidate[0].id, 0);
		assert_int_equal(c.candidate[c.regret.n - 1].id, c.next_id - 1);
	}
	most = c.regret.n;
	to_candidates_free(&c);
	to_plan_free(plan);
	return most;
}

/* Each takes long to price where there are many servers. */
static void test_most(void **state)
{
	(void)state;
	assert_int_equal(most_of(256), 8);
	assert_int_equal(most_of(1024), 5);
}

/* AllReduce by RoCEv2 is on the links of its rings; by TCP it is routed as all else. */
static void test_class(void **state)
{
	struct to_plan *plan = plan_for(6, BYTES);
	const struct to_rings rings = to_allreduce_of(plan);
	struct to_demand *routed = to_demand_copy(plan->demand);
	struct to_candidates c = begin(plan);
	struct to_traffic t = empty();
	double seconds;

	(void)state;
	to_allreduce_add(&rings, 1, t.bytes);
	memcpy(routed->mp, t.bytes, N * N * sizeof(*routed->mp));
	routed->groups[0].bytes = 1;
	observe(&c, t);
	t = empty();
	to_allreduce_add(&rings, 1, t.bytes);
	to_allreduce_add(&rings, 1, t.tcp);
	observe(&c, t);
	assert_true(fabs(c.intervals[0].demand->groups[0].bytes - (double)BYTES) < BYTES * 1e-3);
	assert_int_equal(c.intervals[1].demand->groups[0].bytes, 1);
	assert_int_equal(to_busy_time_of(&c.candidate[0].busy, routed, NULL, &seconds), 0);
	assert_true(fabs(c.intervals[1].cost[0] - seconds) < 1e-9);
	assert_true(c.intervals[0].cost[0] <= c.intervals[1].cost[0] * (1 + 1e-6));
	to_demand_free(routed);
	to_candidates_free(&c);
	to_plan_free(plan);
}

static void test_phases(void **state)
{
	struct to_traffic t[] = { pairs(6), pairs(1), pairs(6), pairs(3), pairs(1), pairs(2), empty() };
	const unsigned int n = sizeof(t) / sizeof(*t);
	const uint64_t *bytes[sizeof(t) / sizeof(*t)];
	uint32_t phase[sizeof(t) / sizeof(*t)];
	double distance[sizeof(t) / sizeof(*t)];

	(void)state;
	for (unsigned int i = 0; i < n; i++)
		bytes[i] = t[i].bytes;
	for (unsigned int i = 0; i < N * N; i++)
		t[2].bytes[i] *= 7;	/* how much there is does not matter */
	assert_int_equal(to_phases_find(bytes, 3, N * N, phase, distance), 2);
	assert_true(phase[0] == phase[2] && phase[0] != phase[1]);
	assert_int_equal(to_phases_newest(phase, 3), 1);
	assert_int_equal(to_phases_newest(phase, 1), 0);
	assert_int_equal(to_phases_find(bytes, n, N * N, phase, distance), TO_PHASES_MAX);
	assert_true(phase[1] == phase[4]);
	assert_int_equal(phase[n - 1], UINT32_MAX);
	assert_int_equal(to_phases_find(bytes + n - 1, 1, N * N, phase, distance), 0);
	for (unsigned int i = 0; i < n; i++)
		to_traffic_free(&t[i]);
}

/* Forty intervals of two kinds, none of which the first plan is for. */
static struct to_candidates remembered(const struct to_plan *plan)
{
	struct to_candidates c = begin(plan);

	for (unsigned int i = 0; i < 40; i++)
		observe(&c, pairs(i % 2 ? 3 : 4));
	return c;
}

static void assert_near(double a, double b)
{
	assert_true(fabs(a - b) < 1e-9);
}

static void assert_same(const struct to_candidates *a, const struct to_candidates *b)
{
	assert_int_equal(a->regret.n, b->regret.n);
	assert_int_equal(a->next_id, b->next_id);
	assert_int_equal(a->n_intervals, b->n_intervals);
	for (unsigned int k = 0; k < a->regret.n; k++) {
		assert_int_equal(a->candidate[k].id, b->candidate[k].id);
		assert_string_equal(a->candidate[k].source, b->candidate[k].source);
		assert_near(a->regret.work[k], b->regret.work[k]);
		for (unsigned int j = 0; j < a->regret.n; j++)
			assert_near(a->regret.price[k][j], b->regret.price[k][j]);
		for (unsigned int i = 0; i < a->n_intervals; i++) {
			assert_near(a->intervals[i].cost[k], b->intervals[i].cost[k]);
			assert_near(a->intervals[i].work[k], b->intervals[i].work[k]);
		}
	}
}

/* What is planned beside the loop is what would have been planned at once. */
static void test_beside(void **state)
{
	struct to_plan *plan = plan_for(6, 0);
	struct to_candidates now = remembered(plan), beside = remembered(plan);
	struct to_planning *planning = to_planning_begin(&beside);
	struct to_error err = { "" };
	int n = to_candidates_plan(&now, &err);

	(void)state;
	assert_non_null(planning);
	assert_true(n >= 2);
	assert_int_equal(to_planning_end(planning, &err), n);
	assert_same(&now, &beside);
	to_candidates_free(&now);
	to_candidates_free(&beside);
	to_plan_free(plan);
}

/* Meanwhile the loop goes on: all that was planned for is forgotten, plans change and go. */
static void test_meanwhile(void **state)
{
	struct to_plan *plan = plan_for(6, 0);
	struct to_candidates c = remembered(plan);
	struct to_error err = { "" };
	struct to_planning *planning;
	unsigned int lately;
	int made;

	(void)state;
	assert_true(to_candidates_plan(&c, &err) >= 2);
	for (unsigned int i = 0; i < 40; i++)
		observe(&c, pairs(5));
	planning = to_planning_begin(&c);
	assert_non_null(planning);
	to_candidates_moved(&c, 2);
	to_candidates_drop(&c, 1);
	for (unsigned int i = 0; i < 300; i++)
		observe(&c, pairs(i % 2 ? 5 : 6));
	lately = c.n_intervals - 20;
	while (!to_planning_done(planning))
		usleep(1000);
	made = to_planning_end(planning, &err);
	assert_true(made >= 1);
	assert_int_equal(c.regret.n, 2 + made);
	for (unsigned int k = 2; k < c.regret.n; k++)
		for (unsigned int i = lately; i < c.n_intervals; i++) {
			double seconds;

			assert_int_equal(to_busy_time_of(&c.candidate[k].busy,
							 c.intervals[i].demand, NULL, &seconds), 0);
			assert_near(c.intervals[i].cost[k], seconds);
		}
	for (unsigned int i = 0; i < 40; i++)
		observe(&c, pairs(5));
	assert_true(to_candidates_choose(&c) >= 2);
	to_candidates_free(&c);
	to_plan_free(plan);
}

/* Who ends it waits for one plan at most, and nothing has changed. */
static void test_cancel(void **state)
{
	struct to_plan *plan = plan_for(6, 0);
	struct to_candidates c = remembered(plan);
	struct to_planning *planning = to_planning_begin(&c);
	struct to_error err = { "" };
	int ret;

	(void)state;
	assert_non_null(planning);
	to_planning_cancel(planning);
	ret = to_planning_end(planning, &err);
	if (ret < 0) {	/* else it was done before */
		assert_int_equal(ret, -ECANCELED);
		assert_int_equal(c.regret.n, 1);
	}
	observe(&c, pairs(3));
	to_candidates_free(&c);
	to_plan_free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_first_stays),
		cmocka_unit_test(test_returns),
		cmocka_unit_test(test_newest),
		cmocka_unit_test(test_drop),
		cmocka_unit_test(test_no_twins),
		cmocka_unit_test(test_beside),
		cmocka_unit_test(test_meanwhile),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_buffer_cycles),
		cmocka_unit_test(test_most),
		cmocka_unit_test(test_class),
		cmocka_unit_test(test_phases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
