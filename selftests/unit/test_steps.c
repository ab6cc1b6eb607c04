// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Steps of BML, parameter servers, rings and trees: played through, every member ends with
 * all sums; bytes of every port and times beside the closed forms.
 */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collectives/bcube_loads.h"

/* What waits between two members in a lane. */
struct queue {
	uint64_t *list;
	size_t n, head;
};

struct play {
	uint32_t n;
	unsigned int lanes;
	struct to_steps *steps;		/* per member */
	uint64_t *buffers;		/* [member * size + element] */
	struct queue *queues;		/* [(from * n + to) * lanes + lane] */
};

static struct queue *play_queue(struct play *p, uint32_t from, uint32_t to, uint32_t lane)
{
	assert_true(lane < p->lanes);
	return &p->queues[((size_t)from * p->n + to) * p->lanes + lane];
}

static void play_send(struct play *p, uint32_t self, const struct to_steps_transfer *t)
{
	const struct to_steps *s = &p->steps[self];
	struct queue *q = play_queue(p, self, t->peer, t->lane);

	q->list = realloc(q->list, (q->n + to_steps_transfer_size(s, t)) * sizeof(*q->list) + 1);
	for (uint32_t i = 0; i < t->n; i++)
		for (uint64_t e = 0; e < s->elements[t->first + i].n; e++)
			q->list[q->n++] = p->buffers[self * s->size + s->elements[t->first + i].first + e];
}

/* Whether all of a transfer is there, and was received. */
static bool play_receive(struct play *p, uint32_t self, const struct to_steps_transfer *t)
{
	const struct to_steps *s = &p->steps[self];
	struct queue *q = play_queue(p, t->peer, self, t->lane);

	if (q->n - q->head < to_steps_transfer_size(s, t))
		return false;
	for (uint32_t i = 0; i < t->n; i++)
		for (uint64_t e = 0; e < s->elements[t->first + i].n; e++) {
			uint64_t *at = &p->buffers[self * s->size + s->elements[t->first + i].first + e];

			*at = q->list[q->head++] + (t->kind == TO_STEPS_ADD ? *at : 0);
		}
	return true;
}

/* Run all threads of all members as far as they come, until all are through. */
static void play_run(struct play *p)
{
	struct { uint32_t step, transfer; } *at[256] = {};
	bool moved = true, left = true;

	assert_true(p->n <= 256);
	for (uint32_t m = 0; m < p->n; m++)
		at[m] = calloc(p->steps[m].n_threads, sizeof(*at[m]));
	while (moved && left) {
		moved = left = false;
		for (uint32_t m = 0; m < p->n; m++) {
			const struct to_steps *s = &p->steps[m];

			for (uint32_t t = 0; t < s->n_threads; t++) {
				while (at[m][t].step < s->threads[t].n) {
					const struct to_steps_part *step =
						&s->steps[s->threads[t].first + at[m][t].step];
					const struct to_steps_transfer *x = &s->transfers[step->first +
										    at[m][t].transfer];

					if (at[m][t].transfer == step->n) {
						at[m][t].step++;
						at[m][t].transfer = 0;
						continue;
					}
					if (x->kind == TO_STEPS_SEND)
						play_send(p, m, x);
					else if (!play_receive(p, m, x))
						break;
					at[m][t].transfer++;
					moved = true;
				}
				left |= at[m][t].step < s->threads[t].n;
			}
		}
	}
	assert_false(left);
	for (uint32_t m = 0; m < p->n; m++)
		free(at[m]);
}

/*
 * Play @steps, which are freed. Element e of member m begins as 3^m mod a prime + e, so that
 * no part of the members has the same sum.
 */
static void play(struct to_steps *steps, uint32_t n, unsigned int lanes)
{
	const uint64_t size = steps[0].size;
	struct play p = { .n = n, .lanes = lanes, .steps = steps };
	uint64_t seed = 1, sum = 0;

	p.buffers = calloc(n * size, sizeof(*p.buffers));
	p.queues = calloc((size_t)n * n * lanes, sizeof(*p.queues));
	for (uint32_t m = 0; m < n; m++, seed = seed * 3 % 1000000007) {
		for (uint64_t e = 0; e < size; e++)
			p.buffers[m * size + e] = seed + e;
		sum += seed;
	}
	play_run(&p);
	for (uint32_t m = 0; m < n; m++)
		for (uint64_t e = 0; e < size; e++)
			assert_int_equal(p.buffers[m * size + e], sum + n * e);
	for (size_t i = 0; i < (size_t)n * n * lanes; i++) {
		assert_int_equal(p.queues[i].n, p.queues[i].head);
		free(p.queues[i].list);
	}
	for (uint32_t m = 0; m < n; m++)
		to_steps_free(&steps[m]);
	free(p.buffers);
	free(p.queues);
	free(steps);
}

static struct to_bcube bcube(unsigned int n, unsigned int k)
{
	struct to_error err = {};
	struct to_bcube b;

	if (to_bcube_init(&b, n, k, &err))
		fail_msg("%s", err.text);
	return b;
}

static const struct { unsigned int n, k; } shapes[] = {
	{ 2, 1 }, { 5, 1 }, { 2, 2 }, { 3, 2 }, { 4, 2 }, { 7, 2 }, { 2, 3 }, { 3, 3 }, { 4, 3 },
	{ 2, 5 }, { 3, 4 },
};

#define N_SHAPES (sizeof(shapes) / sizeof(*shapes))

static void test_bml_sums(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < N_SHAPES; i++)
		for (unsigned int rest = 0; rest < 2; rest++) {
			struct to_bcube b = bcube(shapes[i].n, shapes[i].k);
			struct to_steps *s = calloc(b.servers, sizeof(*s));
			uint8_t parts[128];

			/* also pieces of different size, some of them empty, and three links */
			memset(parts, 3, sizeof(parts));
			for (uint32_t m = 0; m < b.servers; m++) {
				to_steps_init(&s[m], m, rest ? b.servers / 2 + 1 : b.k * b.servers);
				to_steps_bml(&s[m], &b, rest ? parts : NULL);
				assert_false(s[m].failed);
				assert_int_equal(s[m].n_threads, b.k);
				assert_int_equal(s[m].n_steps, 2 * b.k * b.k);
			}
			play(s, b.servers, rest ? 3 * b.k : b.k);
		}
}

static void test_ps_sums(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < N_SHAPES; i++) {
		struct to_bcube b = bcube(shapes[i].n, shapes[i].k);
		struct to_steps *s = calloc(b.servers, sizeof(*s));

		for (uint32_t m = 0; m < b.servers; m++) {
			to_steps_init(&s[m], m, 7 * b.servers + 3);
			to_steps_ps(&s[m], b.servers);
		}
		play(s, b.servers, 1);
	}
}

static void test_ring_sums(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < N_SHAPES; i++) {
		struct to_bcube b = bcube(shapes[i].n, shapes[i].k);
		uint32_t *order = calloc(b.servers, sizeof(*order));
		struct to_steps *s = calloc(b.servers, sizeof(*s));

		to_bcube_ring(&b, order);
		for (uint32_t m = 0; m < b.servers; m++) {
			const uint32_t after = order[(m + 1) % b.servers];
			uint32_t path[TO_BCUBE_LEVELS_MAX];

			assert_int_equal(to_bcube_path(&b, order[m], after, path), 1);
			to_steps_init(&s[m], m, 2 * b.servers + 1);
			/* two rings, the second the other way, each with its part */
			to_steps_ring(&s[m], order, b.servers, 0, (struct to_elements){ 0, 5 });
		}
		for (uint32_t a = 0, z = b.servers - 1; a < z; a++, z--) {
			uint32_t swap = order[a];

			order[a] = order[z];
			order[z] = swap;
		}
		for (uint32_t m = 0; m < b.servers; m++)
			to_steps_ring(&s[m], order, b.servers, 1,
				      (struct to_elements){ 5, s[m].size - 5 });
		free(order);
		play(s, b.servers, 2);
	}
}

static void test_tree_sums(void **state)
{
	static const struct { uint32_t n, parents[8]; } trees[] = {
		{ 2, { TO_SERVER_NONE, 0 } },
		{ 7, { 1, 3, 1, TO_SERVER_NONE, 5, 3, 5 } },
		{ 5, { 1, 2, 3, 4, TO_SERVER_NONE } },
		{ 6, { TO_SERVER_NONE, 0, 0, 0, 0, 0 } },
	};
	static const uint8_t two[] = { 2, 2, 2, 2, 2, 2, 2 };

	(void)state;
	for (unsigned int i = 0; i < sizeof(trees) / sizeof(*trees); i++)
		for (uint64_t chunk = 1; chunk < 20; chunk += 6) {
			struct to_steps *s = calloc(trees[i].n, sizeof(*s));

			for (uint32_t m = 0; m < trees[i].n; m++) {
				to_steps_init(&s[m], m, 16);
				to_steps_tree(&s[m], &(struct to_steps_tree){
					trees[i].n, trees[i].parents, chunk > 7 ? two : NULL },
					0, (struct to_elements){ 0, 16 }, chunk);
			}
			play(s, trees[i].n, 4);
		}
}

/* Time in T_F, all threads in step; in BML and PS all ports carry the same in each step. */
static double loads_time(enum to_collective_algorithm algorithm, unsigned int n, unsigned int k)
{
	const struct to_bcube b = bcube(n, k);
	struct to_bcube_loads loads;
	double time;
	bool even;

	assert_int_equal(to_bcube_loads_init(&loads, &b, algorithm), 0);
	time = to_bcube_loads_time(&loads, &even);
	to_bcube_loads_free(&loads);
	assert_int_equal(even, algorithm != TO_COLLECTIVE_RING || b.servers == b.n * (b.k == 1));
	return time;
}

static void assert_close(double a, double b)
{
	if (fabs(a - b) > 1e-9)
		fail_msg("%.12g is not %.12g", a, b);
}

/* BCubes of up to 1024 servers: all numbers of levels. */
static void test_bml_time(void **state)
{
	(void)state;
	for (unsigned int k = 1; k <= 10; k++)
		for (unsigned int n = 2; pow(n, k) <= 1024; n += n < 5 ? 1 : n) {
			struct to_bcube b = bcube(n, k);
			double time = loads_time(TO_COLLECTIVE_BML, n, k);

			assert_close(time, 2.0 * (b.servers - 1) / b.servers / k);
			assert_close(time, to_bcube_bml_time(&b));
		}
}

static void test_ps_time(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < N_SHAPES; i++) {
		struct to_bcube b = bcube(shapes[i].n, shapes[i].k);

		assert_close(loads_time(TO_COLLECTIVE_PS, b.n, b.k), to_bcube_ps_time(&b));
	}
}

static void test_ring_time(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < N_SHAPES; i++) {
		struct to_bcube b = bcube(shapes[i].n, shapes[i].k);

		assert_close(loads_time(TO_COLLECTIVE_RING, b.n, b.k), to_bcube_ring_time(&b));
	}
}

/* Figure 5, and the example of section 3.2. */
static void test_figure5(void **state)
{
	struct to_bcube b;

	(void)state;
	assert_close(loads_time(TO_COLLECTIVE_BML, 4, 2), 0.9375);
	b = bcube(4, 2);
	assert_close(to_bcube_ring_time(&b), 1.875);		/* PS on Fat-Tree(4) */
	assert_close(loads_time(TO_COLLECTIVE_BML, 32, 2), 0.9990234375);
	b = bcube(32, 2);
	assert_close(to_bcube_ring_time(&b), 1.998046875);	/* Fat-Tree(16) */
	assert_close(loads_time(TO_COLLECTIVE_BML, 3, 2), 8.0 / 9);
	assert_close(loads_time(TO_COLLECTIVE_PS, 3, 2), 4.0 / 3);
}

/* Thread 0 of server [0,0] of BCube(3,2) in its first two steps, as section 3.2 tells. */
static void test_example(void **state)
{
	struct to_bcube b = bcube(3, 2);
	const struct to_steps_transfer *x;
	struct to_steps s;

	(void)state;
	to_steps_init(&s, 0, 18);
	to_steps_bml(&s, &b, NULL);
	x = s.transfers;
	assert_int_equal(x[0].peer, 1);		/* [0,1] gets <0,*,1> */
	assert_int_equal(x[0].n, 3);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(s.elements[x[0].first + i].first, 1 + 3 * i);
	assert_int_equal(x[1].peer, 2);		/* [0,2] gets <0,*,2> */
	assert_int_equal(s.elements[x[1].first].first, 2);
	assert_int_equal(x[2].kind, TO_STEPS_ADD);
	assert_int_equal(x[2].peer, 2);
	assert_int_equal(s.elements[x[2].first].first, 0);	/* <0,*,0> */
	assert_int_equal(x[4].peer, 3);		/* [1,0] gets <0,1,0> */
	assert_int_equal(x[4].n, 1);
	assert_int_equal(s.elements[x[4].first].first, 3);
	assert_int_equal(s.elements[x[4].first].n, 1);
	to_steps_free(&s);
}

static void test_refused(void **state)
{
	struct to_error err = {};
	struct to_bcube b;

	(void)state;
	assert_true(to_bcube_init(&b, 1, 2, &err) < 0);
	assert_string_equal(err.text, "BCube(1,2): a switch needs 2 ports or more");
	assert_true(to_bcube_init(&b, 3, 0, &err) < 0);
	assert_string_equal(err.text, "BCube(3,0): servers need a port or more");
	assert_true(to_bcube_init(&b, 256, 2, &err) == 0);
	assert_true(to_bcube_init(&b, 257, 2, &err) < 0);
	assert_string_equal(err.text, "BCube(257,2) has more than 65536 servers");
	assert_true(to_bcube_init(&b, 2, 4000000000u, &err) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bml_sums), cmocka_unit_test(test_ps_sums),
		cmocka_unit_test(test_ring_sums), cmocka_unit_test(test_tree_sums),
		cmocka_unit_test(test_bml_time), cmocka_unit_test(test_ps_time),
		cmocka_unit_test(test_ring_time), cmocka_unit_test(test_figure5),
		cmocka_unit_test(test_example), cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
