// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * AllReduce on the links of plans: bytes of links beside closed forms and predictions, and
 * all members, a thread each, over sockets: real sums.
 */

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "collectives/collective_plan.h"
#include "collectives/exchange.h"
#include "data/allreduce.h"
#include "plan/planner.h"

#define BYTES 5760000ull	/* of the group */

static void add_link(struct to_cluster *c, uint32_t a, uint32_t b, unsigned int *used)
{
	c->links = realloc(c->links, (c->n_links + 1) * sizeof(*c->links));
	c->links[c->n_links++] = (struct to_link){
		.a = { a, used[a]++ }, .b = { b, used[b]++ }, .ring = -1, .tree = -1 };
}

/* A plan over @n servers with the links that are there; a message takes @step seconds. */
static struct to_plan *plan_of_steps(struct to_cluster *c, double step)
{
	const struct to_planner_knobs options = { .fixed = true, .effort = 1, .seed = 1,
						    .latency = { step, step } };
	struct to_demand *d = calloc(1, sizeof(*d));
	struct to_error err = {};
	struct to_plan *plan;

	d->n = c->n_servers;
	d->mp = calloc((size_t)d->n * d->n, sizeof(*d->mp));
	d->groups = calloc(1, sizeof(*d->groups));
	d->n_groups = 1;
	d->groups[0].n_members = d->n;
	d->groups[0].bytes = BYTES;
	d->groups[0].members = calloc(d->n, sizeof(uint32_t));
	for (uint32_t i = 0; i < d->n; i++)
		d->groups[0].members[i] = i;
	plan = to_planner_make(c, d, &options, &err);
	if (!plan)
		fail_msg("%s", err.text);
	return plan;
}

static struct to_plan *plan_of(struct to_cluster *c)
{
	return plan_of_steps(c, 0);
}

/* BCube with a full mesh for each switch. */
static struct to_plan *meshes_of_steps(unsigned int n, unsigned int k, double step)
{
	unsigned int used[256] = {};
	struct to_error err = {};
	struct to_cluster *c;
	struct to_bcube b;

	assert_int_equal(to_bcube_init(&b, n, k, &err), 0);
	c = to_cluster_synthetic(b.servers, k * (n - 1), 0, TO_LINKS_DUPLEX, &err);
	assert_non_null(c);
	for (uint32_t s = 0; s < b.servers; s++)
		for (unsigned int l = 0; l < k; l++)
			for (unsigned int d = to_bcube_digit(&b, s, l) + 1; d < n; d++)
				add_link(c, s, to_bcube_neighbour(&b, s, l, d), used);
	for (uint32_t s = 0; s < b.servers; s++)
		for (unsigned int q = 0; q < c->servers[s].n_ports; q++)
			c->servers[s].ports[q].optical_switch = -1;
	return plan_of_steps(c, step);
}

static struct to_plan *meshes(unsigned int n, unsigned int k)
{
	return meshes_of_steps(n, k, 0);
}

static struct to_collective_plan collective(const struct to_plan *plan, enum to_collective_algorithm how,
					    bool nodes, uint64_t size)
{
	struct to_collective_plan c;
	struct to_error err = {};

	if (to_collective_plan_init(&c, plan, how, TO_COLLECTIVE_NO_GROUP, nodes, size, &err))
		fail_msg("%s", err.text);
	return c;
}

static void assert_links(const struct to_plan *plan, enum to_collective_algorithm how, uint64_t size,
			 double each)
{
	struct to_collective_plan c = collective(plan, how, false, size);
	double *bytes = calloc(c.graph->n_arcs, sizeof(*bytes));
	bool certain;

	assert_int_equal(to_collective_plan_link_bytes(&c, bytes, &certain), 0);
	assert_true(certain);
	for (uint32_t a = 0; a < c.graph->n_arcs; a++)
		if (fabs(bytes[a] - each) > 1e-9 * each)
			fail_msg("link %u: %.12g bytes, not %.12g", a, bytes[a], each);
	free(bytes);
	to_collective_plan_free(&c);
}

/* All links carry what the closed form says: a port's bytes divide over n - 1 links. */
static void test_closed_forms(void **state)
{
	static const struct { unsigned int n, k; } shapes[] = {
		{ 2, 2 }, { 3, 2 }, { 4, 2 }, { 5, 2 }, { 2, 3 }, { 3, 3 },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		const unsigned int n = shapes[i].n, k = shapes[i].k;
		struct to_plan *plan = meshes(n, k);
		const uint32_t servers = plan->cluster->n_servers;
		const uint64_t size = 24 * k * servers;
		double bytes = 4.0 * size;

		assert_links(plan, TO_COLLECTIVE_BML, size, bytes * 2 * (servers - 1) / (k * servers) / (n - 1));
		/* with three digits, tables choose one of two shortest paths */
		if (k == 2)
			assert_links(plan, TO_COLLECTIVE_PS, size, bytes * 2 / n);
		to_plan_free(plan);
	}
}

/* Rings and trees put on links what predictions say. */
static void test_predicted(void **state)
{
	static const struct { unsigned int n, k; } shapes[] = { { 3, 2 }, { 2, 3 } };

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct to_plan *plan = meshes(shapes[i].n, shapes[i].k);
		struct to_collective_plan c = collective(plan, TO_COLLECTIVE_PLAN, false, BYTES / 4);
		double *bytes = calloc(c.graph->n_arcs, sizeof(*bytes));
		double *predicted = calloc(c.graph->n_arcs, sizeof(*predicted));
		struct to_rings rings = to_allreduce_of(plan);
		bool certain;

		assert_int_equal(!!plan->n_trees, i);
		assert_int_equal(to_collective_plan_link_bytes(&c, bytes, &certain), 0);
		to_allreduce_link_bytes(&rings, c.graph, predicted);
		for (uint32_t a = 0; a < c.graph->n_arcs; a++)
			if (fabs(bytes[a] - predicted[a]) > 200)	/* rounded to elements */
				fail_msg("link %u: %.12g bytes, not %.12g", a, bytes[a], predicted[a]);
		free(bytes);
		free(predicted);
		to_collective_plan_free(&c);
		to_plan_free(plan);
	}
}

/* Where a flow may take one of several paths, bytes of links are not certain. */
static void test_uncertain(void **state)
{
	struct to_plan *plan = meshes(3, 2);
	struct to_collective_plan c = collective(plan, TO_COLLECTIVE_PS, true, 900);
	double *bytes = calloc(c.graph->n_arcs, sizeof(*bytes)), all = 0;
	bool certain;

	(void)state;
	assert_int_equal(to_collective_plan_link_bytes(&c, bytes, &certain), 0);
	assert_false(certain);
	for (uint32_t a = 0; a < c.graph->n_arcs; a++)
		all += bytes[a];
	/* each of 72 pairs, there and back: half of them over two links */
	assert_true(fabs(all - 2 * 400.0 * 9 * (4 + 2 * 4)) < 1e-6);
	free(bytes);
	to_collective_plan_free(&c);
	to_plan_free(plan);
}

struct member {
	const struct to_collective_plan *c;
	struct to_steps steps;
	struct to_exchange exchange;
	float *buffer;
	pthread_t thread;
	unsigned int notes;
	uint64_t sent;
	int ret;
	struct to_error err;
};

static void note(void *data, const struct to_exchange_done *done)
{
	struct member *m = data;

	m->notes++;
	m->sent += done->sent;
}

static void *member_run(void *arg)
{
	struct member *m = arg;

	m->ret = to_exchange_run(&m->exchange, to_clock_monotonic_ns() + 60 * TO_NS_PER_S, &m->err);
	return NULL;
}

static void members_connect(struct member *members, uint32_t n)
{
	for (uint32_t m = 0; m < n; m++)
		for (uint32_t i = 0; i < members[m].exchange.n_out; i++) {
			struct to_exchange_end end = to_exchange_out(&members[m].exchange, i);
			int pair[2];

			assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
			to_exchange_set_out(&members[m].exchange, i, pair[0]);
			assert_int_equal(to_exchange_set_in(&members[end.peer].exchange,
				(struct to_exchange_end){ m, end.lane }, pair[1]), 1);
			/* a later connection of the same member takes the place of the first */
			assert_int_equal(to_exchange_set_in(&members[end.peer].exchange,
				(struct to_exchange_end){ m, end.lane }, dup(pair[1])), 0);
		}
}

static struct member *members_new(const struct to_collective_plan *c)
{
	struct member *members = calloc(c->n, sizeof(*members));

	for (uint32_t m = 0; m < c->n; m++) {
		members[m].c = c;
		members[m].buffer = calloc(c->size, sizeof(float));
		to_collective_plan_fill(c, m, members[m].buffer);
		assert_int_equal(to_collective_plan_steps(c, m, &members[m].steps), 0);
		assert_int_equal(to_exchange_init(&members[m].exchange, &members[m].steps,
						  members[m].buffer), 0);
		members[m].exchange.note = note;
		members[m].exchange.data = &members[m];
	}
	members_connect(members, c->n);
	return members;
}

static void members_free(struct member *members, uint32_t n)
{
	for (uint32_t m = 0; m < n; m++) {
		to_exchange_free(&members[m].exchange);
		to_steps_free(&members[m].steps);
		free(members[m].buffer);
	}
	free(members);
}

static void assert_sums(const struct to_plan *plan, enum to_collective_algorithm how, bool nodes,
			uint64_t size)
{
	struct to_collective_plan c = collective(plan, how, nodes, size);
	struct member *members = members_new(&c);

	for (uint32_t m = 0; m < c.n; m++)
		assert_int_equal(pthread_create(&members[m].thread, NULL, member_run, &members[m]), 0);
	for (uint32_t m = 0; m < c.n; m++) {
		pthread_join(members[m].thread, NULL);
		if (members[m].ret)
			fail_msg("%s", members[m].err.text);
		assert_int_equal(to_collective_plan_wrong(&c, members[m].buffer), 0);
		assert_int_equal(members[m].notes, members[m].steps.n_steps);
		/* and a wrong sum is seen */
		members[m].buffer[size - 1]++;
		assert_int_equal(to_collective_plan_wrong(&c, members[m].buffer), 1);
	}
	members_free(members, c.n);
	to_collective_plan_free(&c);
}

static void test_sums(void **state)
{
	struct to_plan *plan = meshes(3, 2);

	(void)state;
	for (unsigned int how = TO_COLLECTIVE_PLAN; how <= TO_COLLECTIVE_BML; how++) {
		assert_sums(plan, how, false, 100003);
		assert_sums(plan, how, how != TO_COLLECTIVE_BML, 9);
	}
	to_plan_free(plan);
	plan = meshes(2, 3);
	for (unsigned int how = TO_COLLECTIVE_PLAN; how <= TO_COLLECTIVE_BML; how++)
		assert_sums(plan, how, false, 200003);
	to_plan_free(plan);
	/* by recursive halving, as BML does it */
	plan = meshes_of_steps(3, 2, 1e-4);
	assert_int_equal(plan->n_trees, 2 * 9);
	assert_sums(plan, TO_COLLECTIVE_PLAN, false, 100003);
	assert_sums(plan, TO_COLLECTIVE_PLAN, true, 100003);
	to_plan_free(plan);
}

/* A member that goes away takes down those that wait for it, which say so. */
static void test_lost(void **state)
{
	struct to_plan *plan = meshes(2, 2);
	struct to_collective_plan c = collective(plan, TO_COLLECTIVE_BML, false, 4000);
	struct member *members = members_new(&c);

	(void)state;
	to_exchange_free(&members[3].exchange);
	member_run(&members[1]);
	assert_int_equal(members[1].ret, -ECONNRESET);
	assert_non_null(strstr(members[1].err.text, "member 3, lane "));
	assert_int_equal(to_exchange_run(&members[2].exchange, to_clock_monotonic_ns(), &members[2].err),
			 -ETIMEDOUT);
	members_free(members, c.n);
	to_collective_plan_free(&c);
	to_plan_free(plan);
}

static void assert_refused(const struct to_plan *plan, enum to_collective_algorithm how, uint32_t group,
			   uint64_t size, const char *text)
{
	struct to_collective_plan c;
	struct to_error err = {};

	assert_true(to_collective_plan_init(&c, plan, how, group, false, size, &err) < 0);
	assert_string_equal(err.text, text);
}

static void test_refused(void **state)
{
	struct to_plan *plan = meshes(3, 2);
	unsigned int used[8] = {};
	struct to_cluster *c;
	struct to_error err;

	(void)state;
	assert_refused(plan, TO_COLLECTIVE_RING, 1, 100, "the plan has 1 AllReduce groups, no group 1");
	assert_refused(plan, TO_COLLECTIVE_BML, 0, 8, "9 members reduce 36 bytes or more, 4 each");
	to_plan_free(plan);

	/* a path: some links of a mesh are missing */
	c = to_cluster_synthetic(4, 2, 0, TO_LINKS_DUPLEX, &err);
	for (uint32_t i = 0; i < 3; i++)
		add_link(c, i, i + 1, used);
	plan = plan_of(c);
	assert_refused(plan, TO_COLLECTIVE_BML, 0, 100,
		       "BML runs on BCube: links here are no product of equal full meshes over all servers in their order");
	assert_sums(plan, TO_COLLECTIVE_PS, false, 1000);
	assert_sums(plan, TO_COLLECTIVE_PLAN, false, 1000);
	to_plan_free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_closed_forms), cmocka_unit_test(test_predicted),
		cmocka_unit_test(test_uncertain), cmocka_unit_test(test_sums),
		cmocka_unit_test(test_lost), cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
