// SPDX-License-Identifier: GPL-2.0-or-later
/* The fluid model against hand-computed cases and a simulator of small time steps. */

#include <errno.h>
#include <math.h>

#include "job.h"
#include "routing/link_loads.h"
#include "simulate/simulate.h"

#define BANDWIDTH (100 * GBPS)
#define CAPACITY (BANDWIDTH / 8.0)	/* bytes per second */
#define HOP TO_HOP_SECONDS

static void same(double value, double expected)
{
	if (fabs(value - expected) <= 1e-9 * expected + 1e-15)
		return;
	fail_msg("%.12g instead of %.12g", value, expected);
}

/* Servers in a line, so that there is one way between any two. */
static struct to_plan *line(unsigned int n)
{
	struct to_planner_knobs options = { .fixed = true, .degree = 2, .seed = 1 };
	struct to_error err = { "" };
	struct to_cluster *c = to_cluster_synthetic(n, 2, BANDWIDTH, TO_LINKS_DUPLEX, &err);
	struct to_plan *plan;

	assert_non_null(c);
	c->n_links = n - 1;
	c->links = calloc(n, sizeof(*c->links));
	assert_non_null(c->links);
	for (unsigned int i = 0; i + 1 < n; i++)
		c->links[i] = (struct to_link){ .a = { i, 1 }, .b = { i + 1, 0 },
						  .ring = -1, .tree = -1 };
	plan = to_planner_make(c, job_new(n), &options, &err);
	assert_string_equal(err.text, "");
	return plan;
}

static struct to_simulator *simulator(const struct to_plan *plan)
{
	struct to_error err = { "" };
	struct to_simulator *s = to_simulator_new(plan, &err);

	assert_string_equal(err.text, "");
	assert_non_null(s);
	return s;
}

static const struct to_simulation *run(struct to_simulator *s, struct to_taskgraph *g,
				       enum to_simulate_detail detail)
{
	struct to_error err = { "" };
	const struct to_simulation *r;

	assert_int_equal(to_taskgraph_finish(g, &err), 0);
	r = to_simulate(s, g, detail, &err);
	assert_string_equal(err.text, "");
	assert_non_null(r);
	return r;
}

static void two_transfers_share_a_link(void **state)
{
	struct to_plan *plan = line(3);
	struct to_simulator *s = simulator(plan);
	struct to_taskgraph g;
	const struct to_simulation *r;

	(void)state;
	to_taskgraph_init(&g, 3);
	to_taskgraph_transfer(&g, 0, 2, 1000 * MIB);
	to_taskgraph_transfer(&g, 1, 2, 3000 * MIB);
	r = run(s, &g, TO_SIMULATE_TASKS);
	/* half of the link each until the first ends, then all of it */
	same(r->finish[0], 2000 * MIB / CAPACITY + 2 * HOP);
	same(r->finish[1], 4000 * MIB / CAPACITY + 1 * HOP);
	same(r->time, r->finish[1]);
	assert_int_equal(r->n_critical, 1);
	assert_int_equal(r->critical[0], 1);
	same(r->critical_time[TO_TASK_MP], r->time);
	to_taskgraph_free(&g);
	to_simulator_free(s);
	to_plan_free(plan);
}

/*
 * A crosses three links, B and B' share the first with it, C the second, D the
 * third: a third of a link for A, B and B', two thirds for C and D.
 */
static void three_links_in_a_row(void **state)
{
	struct to_plan *plan = line(4);
	struct to_simulator *s = simulator(plan);
	struct to_taskgraph g;
	const struct to_simulation *r;

	(void)state;
	to_taskgraph_init(&g, 4);
	to_taskgraph_transfer(&g, 0, 3, 400 * MIB);	/* A */
	to_taskgraph_transfer(&g, 0, 1, 300 * MIB);	/* B */
	to_taskgraph_transfer(&g, 0, 1, 300 * MIB);	/* B' */
	to_taskgraph_transfer(&g, 1, 2, 400 * MIB);	/* C */
	to_taskgraph_transfer(&g, 2, 3, 700 * MIB);	/* D */
	r = run(s, &g, TO_SIMULATE_TASKS);
	/*
	 * After 600 units C ends; A and the Bs have sent 200, D 400. After 900
	 * the Bs end; A has sent 300, D 600. Then A has the first two links for
	 * itself and half of the third: 100 in 200, as much as D has left.
	 */
	same(r->finish[3], 600 * MIB / CAPACITY + HOP);
	same(r->finish[1], 900 * MIB / CAPACITY + HOP);
	same(r->finish[2], 900 * MIB / CAPACITY + HOP);
	same(r->finish[0], 1100 * MIB / CAPACITY + 3 * HOP);
	same(r->finish[4], 1100 * MIB / CAPACITY + HOP);
	to_taskgraph_free(&g);
	to_simulator_free(s);
	to_plan_free(plan);
}

static void allreduce_alone(void **state)
{
	static const struct { unsigned int n, degree; enum to_link_mode mode; } cases[] = {
		{ 16, 4, TO_LINKS_DUPLEX }, { 16, 3, TO_LINKS_SIMPLEX }, { 5, 2, TO_LINKS_DUPLEX },
		{ 2, 1, TO_LINKS_DUPLEX },
	};

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		unsigned int n = cases[i].n, d = cases[i].degree;
		struct to_demand *demand = job_new(n);
		struct to_error err = { "" };
		const struct to_simulation *r;
		struct to_simulator *s;
		struct to_taskgraph g;
		struct to_plan *plan;
		uint32_t all[16];

		job_group(demand, 0, 1, n, 1024 * MIB);
		plan = job_plan(demand, d, cases[i].mode, &err);
		assert_string_equal(err.text, "");
		s = simulator(plan);
		to_taskgraph_init(&g, n);
		for (unsigned int k = 0; k < n; k++)
			all[k] = n - 1 - k;
		to_taskgraph_allreduce(&g, all, n, 512 * MIB);
		r = run(s, &g, TO_SIMULATE_TASKS);
		same(r->time, 2.0 * (n - 1) / n * 512 * MIB / (d * CAPACITY) + 2 * (n - 1) * HOP);
		to_taskgraph_free(&g);
		to_simulator_free(s);
		to_plan_free(plan);
	}
}

/* Servers that have no ring in the plan: a ring over the ways there are. */
static void allreduce_without_a_ring(void **state)
{
	struct to_plan *plan = line(3);
	struct to_simulator *s = simulator(plan);
	const uint32_t ends[] = { 0, 2 }, all[] = { 0, 1, 2 };
	struct to_taskgraph g;
	const struct to_simulation *r;

	(void)state;
	to_taskgraph_init(&g, 3);
	to_taskgraph_allreduce(&g, ends, 2, 1000 * MIB);
	/* the buffer each way, two steps of two hops */
	r = run(s, &g, TO_SIMULATE_TASKS);
	same(r->time, 1000 * MIB / CAPACITY + 4 * HOP);

	/* 4/3 of the buffer, half each way round: both on each link and direction */
	to_taskgraph_clear(&g);
	to_taskgraph_allreduce(&g, all, 3, 1000 * MIB);
	r = run(s, &g, TO_SIMULATE_TASKS);
	same(r->time, 4.0 / 3 * 1000 * MIB / CAPACITY + 8 * HOP);
	to_taskgraph_free(&g);
	to_simulator_free(s);
	to_plan_free(plan);
}

/* The buffer once up and once down each link, two links deep. */
static void allreduce_on_a_tree(void **state)
{
	const uint32_t all[] = { 0, 1, 2, 3 }, parents[] = { 1, 2, TO_SERVER_NONE, 2 };
	struct to_plan *plan = line(4);
	struct to_allreduce_tree *tree;
	struct to_simulator *s;
	struct to_taskgraph g;

	(void)state;
	job_group(plan->demand, 0, 1, 4, MIB);
	free(plan->trees);
	tree = plan->trees = calloc(1, sizeof(*tree));
	assert_non_null(tree);
	plan->n_trees = 1;
	tree->n = 4;
	tree->share = 1;
	tree->parents = calloc(4, sizeof(*tree->parents));
	assert_non_null(tree->parents);
	memcpy(tree->parents, parents, sizeof(parents));
	s = simulator(plan);
	to_taskgraph_init(&g, 4);
	to_taskgraph_allreduce(&g, all, 4, 1000 * MIB);
	same(run(s, &g, TO_SIMULATE_TASKS)->time, 1000 * MIB / CAPACITY + 4 * HOP);
	to_taskgraph_free(&g);
	to_simulator_free(s);
	to_plan_free(plan);
}

/* All of a plan's demand at once puts on links what the plan's figures say, to the byte. */
static void links_carry_what_is_predicted(void **state)
{
	uint64_t random = 5;

	(void)state;
	for (unsigned int round = 0; round < 30; round++) {
		struct to_demand *demand = job_random(2 + to_random_below(&random, 14), &random);
		struct to_error err = { "" };
		const struct to_simulation *r;
		struct to_forwarding f;
		struct to_graph *graph;
		struct to_simulator *s;
		struct to_taskgraph g;
		struct to_plan *plan;
		double *rings, *mp;

		/* several groups of the same servers are one to a task graph */
		while (demand->n_groups > 1)
			free(demand->groups[--demand->n_groups].members);
		plan = job_plan(demand, 2 + to_random_below(&random, 4),
				to_random_below(&random, 2), &err);
		assert_string_equal(err.text, "");
		s = simulator(plan);
		graph = to_graph_new(demand->n, plan->cluster->links, plan->cluster->n_links,
				     plan->cluster->link_mode);
		assert_non_null(graph);
		assert_int_equal(to_simulator_network(s)->n_links, graph->n_arcs);
		rings = calloc(2 * graph->n_arcs, sizeof(*rings));
		assert_non_null(rings);
		mp = rings + graph->n_arcs;
		assert_int_equal(to_forwarding_init(&f, plan, graph), 0);
		assert_int_equal(to_link_loads(&f, rings, mp), 0);
		to_taskgraph_init(&g, plan->demand->n);
		to_taskgraph_matrix(&g, plan->demand->mp);
		for (unsigned int i = 0; i < plan->demand->n_groups; i++)
			to_taskgraph_allreduce(&g, plan->demand->groups[i].members,
					       plan->demand->groups[i].n_members,
					       plan->demand->groups[i].bytes);
		r = run(s, &g, round % 2);
		for (unsigned int a = 0; a < graph->n_arcs; a++)
			assert_true(fabs(r->link_bytes[a] - rings[a] - mp[a]) < 0.5);
		to_taskgraph_free(&g);
		to_forwarding_free(&f);
		to_graph_free(graph);
		free(rings);
		to_simulator_free(s);
		to_plan_free(plan);
	}
}

static void servers_compute_in_order(void **state)
{
	struct to_plan *plan = line(2);
	struct to_simulator *s = simulator(plan);
	const struct to_simulation *r;
	struct to_taskgraph g;
	uint32_t t[6];

	(void)state;
	to_taskgraph_init(&g, 2);
	t[0] = to_taskgraph_compute(&g, 1, 2);
	t[1] = to_taskgraph_compute(&g, 0, 1);
	t[2] = to_taskgraph_compute(&g, 0, 3);	/* ready after t[3] and t[4] */
	t[3] = to_taskgraph_compute(&g, 0, 5);
	t[4] = to_taskgraph_compute(&g, 0, 0.5);
	t[5] = to_taskgraph_compute(&g, 0, 1);	/* ready with t[2]: after it */
	to_taskgraph_after(&g, t[2], t[0]);
	to_taskgraph_after(&g, t[5], t[0]);
	r = run(s, &g, TO_SIMULATE_TASKS);
	same(r->start[t[1]], 0);
	same(r->start[t[3]], 1);
	same(r->start[t[4]], 6);
	same(r->start[t[2]], 6.5);
	same(r->start[t[5]], 9.5);
	same(r->time, 10.5);
	same(r->critical_time[TO_TASK_COMPUTE], 10.5);
	assert_int_equal(r->n_critical, 5);
	assert_int_equal(r->critical[0], t[1]);
	assert_int_equal(r->critical[4], t[5]);
	to_taskgraph_free(&g);
	to_simulator_free(s);
	to_plan_free(plan);
}

/* An AllReduce runs beside what does not wait for it. */
static void communication_overlaps_compute(void **state)
{
	struct to_demand *demand = job_new(4);
	const uint32_t all[] = { 0, 1, 2, 3 };
	uint32_t first, reduce, beside[4], update, t;
	struct to_error err = { "" };
	const struct to_simulation *r;
	struct to_simulator *s;
	struct to_taskgraph g;
	struct to_plan *plan;
	double reducing;

	(void)state;
	job_group(demand, 0, 1, 4, MIB);
	plan = job_plan(demand, 2, TO_LINKS_DUPLEX, &err);
	assert_string_equal(err.text, "");
	s = simulator(plan);
	reducing = 1.5 * 1000 * MIB / (2 * CAPACITY) + 6 * HOP;
	for (unsigned int slow = 0; slow < 2; slow++) {
		double computing = slow ? 2 * reducing : reducing / 2;

		to_taskgraph_init(&g, 4);
		first = to_taskgraph_compute(&g, 0, 0.25);
		reduce = to_taskgraph_allreduce(&g, all, 4, 1000 * MIB);
		to_taskgraph_after(&g, reduce, first);
		for (t = 0; t < 4; t++) {
			beside[t] = to_taskgraph_compute(&g, t, computing);
			to_taskgraph_after(&g, beside[t], first);
		}
		update = to_taskgraph_compute(&g, 3, 0.125);
		to_taskgraph_after(&g, update, reduce);
		to_taskgraph_after(&g, update, beside[3]);
		r = run(s, &g, TO_SIMULATE_TASKS);
		same(r->start[reduce], 0.25);
		same(r->finish[reduce], 0.25 + reducing);
		same(r->start[update], 0.25 + (slow ? computing : reducing));
		same(r->critical_time[TO_TASK_ALLREDUCE], slow ? 0 : reducing);
		same(r->critical_time[TO_TASK_COMPUTE], slow ? 0.375 + computing : 0.375);
		assert_int_equal(r->n_critical, 3);
		assert_int_equal(r->critical[1], slow ? beside[3] : reduce);
		to_taskgraph_free(&g);
	}
	to_simulator_free(s);
	to_plan_free(plan);
}

static void what_takes_no_time(void **state)
{
	struct to_plan *plan = line(2);
	struct to_simulator *s = simulator(plan);
	const uint32_t one[] = { 1 }, both[] = { 1, 0 };
	const struct to_simulation *r;
	struct to_taskgraph g;

	(void)state;
	to_taskgraph_init(&g, 2);
	same(run(s, &g, TO_SIMULATE_TASKS)->time, 0);
	to_taskgraph_transfer(&g, 1, 1, MIB);
	to_taskgraph_transfer(&g, 0, 1, 0);
	to_taskgraph_allreduce(&g, one, 1, MIB);
	to_taskgraph_allreduce(&g, both, 2, 0);
	to_taskgraph_compute(&g, 1, 0);
	to_taskgraph_after(&g, 0, 4);
	for (uint32_t t = 1; t < 4; t++)
		to_taskgraph_after(&g, t, t - 1);
	r = run(s, &g, TO_SIMULATE_TASKS);
	same(r->time, 0);
	assert_int_equal(r->n_critical, 2);
	assert_int_equal(r->critical[0], 4);
	to_taskgraph_free(&g);
	to_simulator_free(s);
	to_plan_free(plan);
}

static void refuse(struct to_taskgraph *g, int code, const char *text)
{
	struct to_error err = { "" };

	assert_int_equal(to_taskgraph_finish(g, &err), code);
	assert_string_equal(err.text, text);
	to_taskgraph_clear(g);
}

static void bad_graphs(void **state)
{
	const uint32_t twice[] = { 0, 2, 0 };
	struct to_plan *plan = line(2);
	struct to_simulator *s = simulator(plan);
	struct to_error err = { "" };
	struct to_taskgraph g;

	(void)state;
	to_taskgraph_init(&g, 3);
	for (uint32_t t = 0; t < 5; t++)
		to_taskgraph_compute(&g, 0, 1);
	g.tasks[2].name = "embedding";
	to_taskgraph_after(&g, 1, 0);
	to_taskgraph_after(&g, 2, 1);
	to_taskgraph_after(&g, 3, 2);
	to_taskgraph_after(&g, 2, 3);
	to_taskgraph_after(&g, 4, 3);
	assert_int_equal(to_taskgraph_finish(&g, &err), -ELOOP);
	assert_true(!strcmp(err.text, "task 2 (embedding) waits for itself in a cycle") ||
		    !strcmp(err.text, "task 3 waits for itself in a cycle"));
	to_taskgraph_clear(&g);

	to_taskgraph_compute(&g, 0, 1);
	to_taskgraph_after(&g, 0, 0);
	refuse(&g, -ELOOP, "task 0 waits for itself in a cycle");
	to_taskgraph_compute(&g, 0, 1);
	assert_int_equal(to_taskgraph_compute(&g, 3, 1), TO_TASK_NONE);
	to_taskgraph_after(&g, TO_TASK_NONE, 0);
	refuse(&g, -ERANGE, "task 1: server 3: there are only 3");
	to_taskgraph_compute(&g, 0, NAN);
	refuse(&g, -EINVAL, "task 0: computes for nan seconds");
	to_taskgraph_compute(&g, 0, -1);
	refuse(&g, -EINVAL, "task 0: computes for -1 seconds");
	to_taskgraph_transfer(&g, 0, 3, 1);
	refuse(&g, -ERANGE, "task 0: server 3: there are only 3");
	to_taskgraph_allreduce(&g, twice, 3, 1);
	refuse(&g, -EINVAL, "task 0: server 0 is in the AllReduce group twice");
	to_taskgraph_compute(&g, 0, 1);
	to_taskgraph_after(&g, 0, 1);
	refuse(&g, -ERANGE, "task 0 after task 1: there are only 1");

	to_taskgraph_compute(&g, 0, 1);
	assert_int_equal(to_taskgraph_finish(&g, &err), 0);
	assert_null(to_simulate(s, &g, TO_SIMULATE_TASKS, &err));
	assert_string_equal(err.text, "the tasks are for 3 servers, the plan for 2");
	to_taskgraph_free(&g);
	to_simulator_free(s);
	to_plan_free(plan);
}

static void demand_of_tasks(void **state)
{
	const uint32_t one[] = { 2, 0 }, other[] = { 0, 2 }, all[] = { 0, 1, 2 };
	const struct to_transfer some[] = { { 0, 1, 2 }, { 2, 2, 9 }, { 2, 1, 4 } };
	struct to_demand *d;
	struct to_taskgraph g;

	(void)state;
	to_taskgraph_init(&g, 3);
	to_taskgraph_allreduce(&g, one, 2, 10);
	to_taskgraph_allreduce(&g, all, 3, 5);
	to_taskgraph_allreduce(&g, other, 2, 1);
	to_taskgraph_transfer(&g, 0, 1, 7);
	to_taskgraph_transfers(&g, some, 3);
	to_taskgraph_matrix(&g, (uint64_t[]){ 9, 0, 1, 1, 9, 0, 0, 0, 9 });
	d = to_taskgraph_demand(&g);
	assert_non_null(d);
	assert_int_equal(d->n_groups, 2);
	assert_int_equal(d->groups[0].bytes, 11);
	assert_int_equal(d->groups[1].bytes, 5);
	assert_int_equal(d->groups[1].n_members, 3);
	assert_int_equal(d->mp[0 * 3 + 1], 9);
	assert_int_equal(d->mp[2 * 3 + 1], 4);
	assert_int_equal(d->mp[0 * 3 + 2], 1);
	assert_int_equal(d->mp[1 * 3 + 0], 1);
	assert_int_equal(d->mp[2 * 3 + 2], 0);
	to_demand_free(d);
	to_taskgraph_free(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_transfers_share_a_link),
		cmocka_unit_test(three_links_in_a_row),
		cmocka_unit_test(allreduce_alone),
		cmocka_unit_test(allreduce_without_a_ring),
		cmocka_unit_test(allreduce_on_a_tree),
		cmocka_unit_test(links_carry_what_is_predicted),
		cmocka_unit_test(servers_compute_in_order),
		cmocka_unit_test(communication_overlaps_compute),
		cmocka_unit_test(what_takes_no_time),
		cmocka_unit_test(bad_graphs),
		cmocka_unit_test(demand_of_tasks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
