// SPDX-License-Identifier: GPL-2.0-or-later
/* What given failures do to a plan, against what toctl verify counts and what can be added up by hand. */

#include "job.h"
#include "verify/verify_down.h"

static struct to_verify_down what_if(const struct to_plan *plan, const struct to_port_ref *down,
				     unsigned int n)
{
	struct to_verify_down found;
	struct to_down all;

	assert_int_equal(to_down_init(&all, plan->cluster), 0);
	while (n--)
		assert_int_equal(to_down_add(&all, plan->cluster, down[n]), 0);
	assert_int_equal(to_verify_down(plan, &all, &found), 0);
	to_down_free(&all);
	return found;
}

static void add(struct to_failure_cases *sum, const struct to_verify_down *found)
{
	const struct to_failure_cases *c = &found->cases;

	assert_int_equal(c->cases, c->covered + c->last_hops + c->disconnected + c->uncovered);
	assert_true(found->looping <= c->cases - c->covered);
	assert_true(c->cases <= found->pairs);
	sum->cases += c->cases;
	sum->covered += c->covered;
	sum->last_hops += c->last_hops;
	sum->disconnected += c->disconnected;
	sum->uncovered += c->uncovered;
}

static void assert_same(const struct to_failure_cases *a, const struct to_failure_cases *b)
{
	assert_int_equal(a->cases, b->cases);
	assert_int_equal(a->covered, b->covered);
	assert_int_equal(a->last_hops, b->last_hops);
	assert_int_equal(a->disconnected, b->disconnected);
	assert_int_equal(a->uncovered, b->uncovered);
}

/* Take alternates away here and there, so that not all is covered. */
static void weaken(struct to_plan *plan, uint64_t *random)
{
	for (uint32_t x = 0; x < plan->cluster->n_servers; x++)
		for (unsigned int i = 0; i < plan->tables[x].n_groups; i++) {
			struct to_group *group = &plan->tables[x].groups[i];

			while (!to_nexthop_primary(&group->nexthops[group->n - 1]) &&
			       !to_random_below(random, 4))
				group->n--;
		}
}

/* Nothing down: the figures of the plan. One thing after the other: its failures. */
static void sums(void **state)
{
	struct to_failure_cases all = { 0 };
	uint64_t random = 31;

	(void)state;
	for (unsigned int round = 0; round < 60; round++) {
		unsigned int n = 3 + to_random_below(&random, 8);
		unsigned int degree = 2 + to_random_below(&random, 4);
		struct to_failure_cases links = { 0 }, servers = { 0 };
		struct to_error err = { "" };
		struct to_plan *plan = job_plan(job_random(n, &random), degree,
						TO_LINKS_DUPLEX, &err);
		struct job_lines loops = { 0 };
		struct to_verify_report report;
		struct to_verify_down found;

		assert_string_equal(err.text, "");
		if (round % 2)
			weaken(plan, &random);
		assert_int_equal(to_verify(plan, job_line, &loops, &report), 0);
		found = what_if(plan, NULL, 0);
		assert_int_equal(found.cases.cases, 0);
		assert_float_equal(found.max_mp_link_load / (report.figures.max_mp_link_load + 1),
				   report.figures.max_mp_link_load /
				   (report.figures.max_mp_link_load + 1), 1e-9);
		assert_float_equal(found.max_link_load / report.figures.max_link_load, 1, 1e-9);
		assert_float_equal(found.comm_time / report.figures.comm_time, 1, 1e-9);
		assert_float_equal(found.left_out, 0, 0);
		for (unsigned int i = 0; i < plan->cluster->n_links; i++) {
			found = what_if(plan, &plan->cluster->links[i].a, 1);
			add(&links, &found);
		}
		assert_same(&links, &report.links);
		for (uint32_t x = 0; x < n; x++) {
			struct to_port_ref at = { x, TO_DOWN_SERVER };

			found = what_if(plan, &at, 1);
			add(&servers, &found);
		}
		assert_same(&servers, &report.servers);
		all.covered += links.covered;
		all.uncovered += links.uncovered;
		all.last_hops += links.last_hops;
		to_plan_free(plan);
	}
	assert_true(all.covered && all.uncovered && all.last_hops);
}

/* The cable of link @i: gets a port of each of its functions. Return: 0 if an earlier link has it. */
static unsigned int cable(const struct to_cluster *c, unsigned int i, struct to_port_ref *ports)
{
	unsigned int n = 0;

	for (unsigned int k = 0; k < c->n_links; k++) {
		const struct to_port_ref a = c->links[i].a, b = c->links[k].a;

		if (k != i && (a.server != b.server ||
			       !to_port_shares_cable(&c->servers[a.server], a.port, b.port)))
			continue;
		if (k < i)
			return 0;
		ports[n++] = b;
	}
	return n;
}

/* One cable after the other, and one function while its siblings keep the light. */
static void sums_of_shared_cables(void **state)
{
	const struct to_planner_knobs options = { .fixed = true, .seed = 1, .effort = TO_EFFORT_MIN };
	struct to_failure_cases all = { 0 };
	uint64_t random = 32;

	(void)state;
	for (unsigned int round = 0; round < 40; round++) {
		unsigned int n = 3 + to_random_below(&random, 6);
		struct to_cluster *c = job_cabled(n, 12, &random);
		struct to_failure_cases cables = { 0 }, functions = { 0 };
		struct to_verify_report report;
		struct to_verify_down found;
		struct job_lines loops = { 0 };
		struct to_port_ref ports[3];
		struct to_error err = { "" };
		struct to_plan *plan;

		if (!c)
			continue;
		plan = to_planner_make(c, job_random(n, &random), &options, &err);
		assert_string_equal(err.text, "");
		if (round % 2)
			weaken(plan, &random);
		assert_int_equal(to_verify(plan, job_line, &loops, &report), 0);
		for (unsigned int i = 0; i < c->n_links; i++) {
			const struct to_port_ref ends[] = { c->links[i].a, c->links[i].b };
			unsigned int cut = cable(c, i, ports);

			if (cut) {
				found = what_if(plan, ports, cut);
				add(&cables, &found);
			}
			for (unsigned int e = 0; e < 2; e++) {
				if (!to_port_is_function(&c->servers[ends[e].server], ends[e].port))
					continue;
				found = what_if(plan, &ends[e], 1);
				add(&functions, &found);
			}
		}
		assert_same(&cables, &report.links);
		assert_same(&functions, &report.functions);
		all.covered += functions.covered;
		all.uncovered += functions.uncovered;
		all.last_hops += functions.last_hops;
		to_plan_free(plan);
	}
	assert_true(all.covered && all.uncovered && all.last_hops);
}

/* Four servers in a ring, each with 3 MiB for both neighbours. */
static struct to_plan *ring(void)
{
	struct to_demand *demand = job_new(4);
	struct to_error err = { "" };
	struct to_plan *plan;

	for (unsigned int x = 0; x < 4; x++)
		demand->mp[x * 4 + (x + 1) % 4] = demand->mp[(x + 1) % 4 * 4 + x] = 3 * MIB;
	plan = job_plan(demand, 2, TO_LINKS_DUPLEX, &err);
	assert_string_equal(err.text, "");
	return plan;
}

/* The link between two servers of a ring. */
static struct to_port_ref between(const struct to_plan *plan, uint32_t x, uint32_t y)
{
	for (unsigned int i = 0; i < plan->cluster->n_links; i++) {
		const struct to_link *l = &plan->cluster->links[i];

		if ((l->a.server == x && l->b.server == y) || (l->a.server == y && l->b.server == x))
			return l->a;
	}
	fail_msg("%u and %u are not neighbours", x, y);
	return (struct to_port_ref){ 0 };
}

static void loads(void **state)
{
	struct to_plan *plan = ring();
	struct to_port_ref down[2] = { between(plan, 0, 1), between(plan, 2, 3) };
	struct to_verify_down found = what_if(plan, down, 1);

	(void)state;
	/* what 0 and 1 have for each other goes through 3 and 2, beside what these have */
	assert_int_equal(found.cases.uncovered, 0);
	assert_float_equal(found.max_mp_link_load, 6 * MIB, 1);
	assert_float_equal(found.left_out, 0, 0);
	assert_int_equal(found.looping, 0);

	/* two halves: 0 - 3 and 1 - 2 go on, 0 - 1 and 2 - 3 do not */
	found = what_if(plan, down, 2);
	assert_int_equal(found.cases.uncovered, 0);
	assert_true(found.cases.disconnected >= 8 && found.looping);
	assert_float_equal(found.max_mp_link_load, 3 * MIB, 1);
	assert_float_equal(found.left_out, 12 * MIB, 1);

	/* a server takes what it sends and gets with it */
	down[0] = (struct to_port_ref){ 1, TO_DOWN_SERVER };
	found = what_if(plan, down, 1);
	assert_float_equal(found.left_out, 12 * MIB, 1);
	assert_float_equal(found.max_mp_link_load, 3 * MIB, 1);
	to_plan_free(plan);
}

/* A ring that lost its link goes the long way, with what is there. */
static void ring_loads(void **state)
{
	struct to_demand *demand = job_new(4);
	struct to_error err = { "" };
	struct to_verify_down before, then;
	struct to_port_ref down;
	struct to_plan *plan;

	(void)state;
	job_group(demand, 0, 1, 4, 8 * MIB);
	plan = job_plan(demand, 2, TO_LINKS_DUPLEX, &err);
	assert_string_equal(err.text, "");
	/* 2 (n - 1) / n of the buffer, half of it each way */
	before = what_if(plan, NULL, 0);
	assert_float_equal(before.max_link_load, 6 * MIB, 1);
	down = plan->cluster->links[2].b;
	then = what_if(plan, &down, 1);
	assert_float_equal(then.max_link_load, 12 * MIB, 1);
	assert_float_equal(then.comm_time, 2 * before.comm_time, 1e-9);
	assert_float_equal(then.left_out, 0, 0);
	to_plan_free(plan);
}

/* A route that a source has for itself, though it is that of all: nothing changes. */
static void own_route(void **state)
{
	struct to_plan *plan = ring();
	struct to_table *table = &plan->tables[0];
	struct to_verify_down was[3], is[3];
	struct to_port_ref down[3] = {
		between(plan, 0, 1), between(plan, 2, 3), { 0, TO_DOWN_SERVER },
	};

	(void)state;
	for (unsigned int i = 0; i < 3; i++)
		was[i] = what_if(plan, &down[i], 1);
	table->pairs = calloc(1, sizeof(*table->pairs));
	assert_non_null(table->pairs);
	table->pairs[table->n_pairs++] = (struct to_source_route){
		.src = 0, .dst = 1, .slot = 0, .group = table->route[plan->slots],
	};
	for (unsigned int i = 0; i < 3; i++) {
		is[i] = what_if(plan, &down[i], 1);
		assert_int_equal(is[i].pairs, was[i].pairs);
		assert_same(&is[i].cases, &was[i].cases);
		assert_float_equal(is[i].max_mp_link_load, was[i].max_mp_link_load, 1);
		assert_float_equal(is[i].left_out, was[i].left_out, 1);
	}
	to_plan_free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums),
		cmocka_unit_test(sums_of_shared_cables),
		cmocka_unit_test(loads),
		cmocka_unit_test(ring_loads),
		cmocka_unit_test(own_route),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
