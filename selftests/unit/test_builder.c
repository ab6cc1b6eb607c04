// SPDX-License-Identifier: GPL-2.0-or-later
/* The steps of Algorithm 1, one by one. */

#include <errno.h>

#include "job.h"
#include "topology/family.h"

static unsigned int links_between(const struct to_builder *b, uint32_t x, uint32_t y)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < b->layout.n_links; i++) {
		const struct to_link *l = &b->layout.links[i];

		n += l->a.server == x && l->b.server == y;
		n += b->duplex && l->a.server == y && l->b.server == x;
	}
	return n;
}

/* A builder for @demand with @degree ports each, @reserve of them for rings. */
static struct to_builder start(struct to_demand *demand, unsigned int degree, unsigned int reserve,
			       enum to_link_mode mode)
{
	struct to_cluster *c = to_cluster_synthetic(demand->n, degree, GBPS, mode, NULL);
	struct to_builder b;

	assert_non_null(c);
	assert_int_equal(to_builder_init(&b, c, demand, reserve, &(const struct to_planner_knobs){
		.degree = degree, .effort = TO_EFFORT_DEFAULT, .seed = 1 }), 0);
	return b;
}

static void finish(struct to_builder *b)
{
	to_cluster_free((struct to_cluster *)b->cluster);
	to_demand_free((struct to_demand *)b->demand);
	to_builder_free(b);
}

/* Equation 2: a pair that has a link counts half in the next round. */
static void demand_is_halved_for_every_link(void **state)
{
	struct to_demand *demand = job_new(4);
	struct to_builder b;

	(void)state;
	demand->mp[0 * 4 + 1] = demand->mp[2 * 4 + 3] = 100;
	demand->mp[0 * 4 + 2] = demand->mp[1 * 4 + 3] = 60;
	b = start(demand, 3, 0, TO_LINKS_DUPLEX);
	assert_int_equal(to_builder_match(&b), 0);
	/* 100 + 100, then 60 + 60 before 50 + 50, then 50 + 50 before 30 + 30 */
	assert_int_equal(b.layout.n_links, 6);
	assert_int_equal(links_between(&b, 0, 1), 2);
	assert_int_equal(links_between(&b, 2, 3), 2);
	assert_int_equal(links_between(&b, 0, 2), 1);
	assert_int_equal(links_between(&b, 1, 3), 1);
	finish(&b);
}

/* A duplex link serves both directions, a simplex link the one it has. */
static void duplex_links_see_both_directions(void **state)
{
	struct to_builder b;

	(void)state;
	for (unsigned int mode = 0; mode < 2; mode++) {
		struct to_demand *demand = job_new(3);

		demand->mp[0 * 3 + 1] = 70;
		demand->mp[1 * 3 + 0] = 70;
		demand->mp[0 * 3 + 2] = 100;
		b = start(demand, 1, 0, mode);
		assert_int_equal(to_builder_match(&b), 0);
		if (mode == TO_LINKS_DUPLEX) {
			assert_int_equal(links_between(&b, 0, 1), 1);
			assert_int_equal(b.layout.n_links, 1);
		} else {
			/* one transmitter and one receiver each */
			assert_int_equal(links_between(&b, 0, 2), 1);
			assert_int_equal(links_between(&b, 1, 0), 1);
			assert_int_equal(b.layout.n_links, 2);
		}
		finish(&b);
	}
}

/* Lines 5 to 7: ports by bytes, the rings of the larger group first. */
static void groups_get_ports_by_bytes(void **state)
{
	struct to_demand *demand = job_new(12);
	unsigned int rings[2] = { 0 };
	struct to_builder b;

	(void)state;
	job_group(demand, 0, 1, 12, 100);
	job_group(demand, 0, 1, 12, 300);
	b = start(demand, 8, 8, TO_LINKS_DUPLEX);
	assert_int_equal(to_family_totient.build(&b, 0), 0);
	for (unsigned int i = 0; i < b.layout.n_rings; i++)
		rings[b.layout.rings[i].group]++;
	assert_int_equal(rings[0], 1);
	assert_int_equal(rings[1], 3);
	assert_int_equal(b.layout.n_links, 48);
	finish(&b);
}

/* Groups without a common server do not compete. */
static void apart_groups_have_all_ports_each(void **state)
{
	struct to_demand *demand = job_new(14);
	struct to_builder b;

	(void)state;
	job_group(demand, 0, 2, 7, 300);
	job_group(demand, 1, 2, 7, 100);
	b = start(demand, 4, 4, TO_LINKS_DUPLEX);
	assert_int_equal(to_family_totient.build(&b, 0), 0);
	assert_int_equal(b.layout.n_rings, 4);
	for (unsigned int i = 0; i < b.layout.n_links; i++)
		assert_int_equal(b.layout.links[i].a.server % 2, b.layout.links[i].b.server % 2);
	/* all ports are taken: nothing is left to join the two */
	assert_int_equal(to_builder_connect(&b), -ENOSPC);
	finish(&b);
}

static void parts_are_joined_by_few_links(void **state)
{
	struct to_demand *demand = job_new(9);
	struct to_builder b;

	(void)state;
	job_group(demand, 0, 1, 3, 100);
	job_group(demand, 3, 1, 3, 100);
	job_group(demand, 6, 1, 3, 100);
	b = start(demand, 4, 2, TO_LINKS_DUPLEX);
	assert_int_equal(to_family_totient.build(&b, 0), 0);
	assert_int_equal(b.layout.n_links, 9);
	assert_int_equal(to_builder_connect(&b), 0);
	assert_int_equal(b.layout.n_links, 11);
	assert_int_equal(b.layout.links[9].use, TO_LINK_REPAIR);
	/* the ports left go to far pairs until there are none */
	assert_int_equal(to_builder_shorten(&b), 0);
	for (unsigned int x = 0, left = 0; x < 9; x++) {
		left += b.transmit[x];
		assert_true(left <= 1);
	}
	finish(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(demand_is_halved_for_every_link),
		cmocka_unit_test(duplex_links_see_both_directions),
		cmocka_unit_test(groups_get_ports_by_bytes),
		cmocka_unit_test(apart_groups_have_all_ports_each),
		cmocka_unit_test(parts_are_joined_by_few_links),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
