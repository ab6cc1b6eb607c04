// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Link loads of whole plans against the linear program: what the tables do with
 * integer weights may hardly take longer than the best flows there are, and
 * never less long.
 */

#include <math.h>
#include <unistd.h>

#include "job.h"
#include "optimum.h"

#define NEAR 1.01		/* over the optimum */
#define ODD_SECONDS 60		/* for a plan that takes a tenth of one */

/* What a case plans: links of its own making, and demand. */
struct lab {
	unsigned int n, degree;
	struct to_cluster *cluster;
	struct to_demand *demand;
	unsigned int *used;	/* ports, per server */
	double stretch;		/* that routes may take; at first any */
};

static struct lab lab_new(unsigned int n, unsigned int degree, enum to_link_mode mode)
{
	struct lab lab = { .n = n, .degree = degree, .demand = job_new(n), .stretch = n };

	lab.cluster = to_cluster_synthetic(n, degree, 100 * GBPS, mode, NULL);
	lab.used = calloc(n, sizeof(*lab.used));
	assert_non_null(lab.cluster);
	assert_non_null(lab.used);
	lab.cluster->links = calloc(n * degree, sizeof(*lab.cluster->links));
	assert_non_null(lab.cluster->links);
	return lab;
}

static void lab_link(struct lab *lab, uint32_t x, uint32_t y)
{
	lab->cluster->links[lab->cluster->n_links++] = (struct to_link){
		.a = { x, lab->used[x]++ }, .b = { y, lab->used[y]++ }, .ring = -1, .tree = -1 };
}

/* Duplex links i -> i + jump. */
static void lab_circulant(struct lab *lab, unsigned int jump)
{
	for (uint32_t x = 0; x < lab->n; x++)
		lab_link(lab, x, (x + jump) % lab->n);
}

/* A cycle through all servers in random order, duplex. */
static void lab_cycle(struct lab *lab, uint64_t *random)
{
	uint32_t *order = calloc(lab->n, sizeof(*order));

	assert_non_null(order);
	for (unsigned int i = 0; i < lab->n; i++) {
		unsigned int at = to_random_below(random, i + 1);

		order[i] = order[at];
		order[at] = i;
	}
	for (unsigned int i = 0; i < lab->n; i++)
		lab_link(lab, order[i], order[(i + 1) % lab->n]);
	free(order);
}

static struct to_plan *lab_plan(struct lab *lab)
{
	struct to_planner_knobs options = { .fixed = true, .seed = 1,
					      .max_stretch = lab->stretch };
	struct to_error err = { "" };
	struct to_plan *plan = to_planner_make(lab->cluster, lab->demand, &options, &err);

	free(lab->used);
	assert_string_equal(err.text, "");
	assert_non_null(plan);
	return plan;
}

static void near_optimum(struct to_plan *plan, const char *what)
{
	struct to_figures f = job_verify(plan).figures;
	double time = f.comm_time * 1e3, least = optimum(plan);

	if (getenv("VERBOSE"))
		print_message("%s: %.4f ms, optimum %.4f ms, ratio %.4f\n", what, time, least,
			      time / least);
	/* routed rings are counted in whole bytes */
	if (time > NEAR * least || time < least * (1 - 1e-6))
		fail_msg("%s: %.6f ms, the optimum is %.6f ms", what, time, least);
	to_plan_free(plan);
}

/* The four embedding servers of the paper, with and without AllReduce below. */
static void dlrm(void **state)
{
	static const unsigned int hot[] = { 0, 3, 8, 13 }, jumps[] = { 1, 7, 3 };

	(void)state;
	for (unsigned int degree = 4; degree <= 6; degree += 2) {
		for (unsigned int reduce = 0; reduce < 2; reduce++) {
			struct lab lab = lab_new(16, degree, TO_LINKS_DUPLEX);
			struct to_plan *plan;

			for (unsigned int i = 0; i < degree / 2; i++)
				lab_circulant(&lab, jumps[i]);
			for (unsigned int i = 0; i < 4; i++)
				job_hot(lab.demand, hot[i], 32 * MIB);
			if (reduce)
				job_group(lab.demand, 0, 1, 16, 128 * MIB);
			plan = lab_plan(&lab);
			if (!reduce && degree == 4)
				assert_true(job_verify(plan).figures.max_mp_link_load < 1.02 * 144 * MIB);
			near_optimum(plan, degree == 4 ? "dlrm on {1,7}" : "dlrm on {1,3,7}");
		}
	}
}

/* Links of a group of every other server have less room for transfers. */
static void a_group_takes_its_links(void **state)
{
	struct lab lab = lab_new(16, 6, TO_LINKS_DUPLEX);

	(void)state;
	lab_circulant(&lab, 2);
	lab_circulant(&lab, 1);
	lab_circulant(&lab, 7);
	job_group(lab.demand, 0, 2, 8, 100 * MIB);
	for (unsigned int x = 0; x < 16; x += 3)
		job_hot(lab.demand, x, 20 * MIB);
	near_optimum(lab_plan(&lab), "a group of 8");
}

static void random_graphs(void **state)
{
	static const struct {
		unsigned int n, cycles, hot;
	} cases[] = { { 12, 2, 12 }, { 17, 2, 5 }, { 20, 3, 3 }, { 24, 2, 2 }, { 33, 2, 1 }, { 64, 2, 0 },
		    { 48, 3, 2 } };
	uint64_t random = 11;

	(void)state;
	for (unsigned int k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		unsigned int n = cases[k].n;
		struct lab lab = lab_new(n, 2 * cases[k].cycles, TO_LINKS_DUPLEX);
		char what[64];

		for (unsigned int i = 0; i < cases[k].cycles; i++)
			lab_cycle(&lab, &random);
		for (unsigned int i = 0; i < cases[k].hot; i++)
			job_hot(lab.demand, i * 5 % n, (1 + to_random_below(&random, 40)) * MIB);
		/* many to one and some to a few: few destinations keep the program small */
		for (unsigned int x = 0; !cases[k].hot && x < n; x++)
			for (unsigned int dst = 0; dst < 4; dst++)
				if (x != dst)
					lab.demand->mp[x * n + dst] =
						to_random_below(&random, 10) * MIB;
		snprintf(what, sizeof(what), "%u servers, %u cycles", n, cases[k].cycles);
		near_optimum(lab_plan(&lab), what);
	}
}

/* Links of 25, 50 and 100 Gb/s, and AllReduce of a part on some of them. */
static void uneven(void **state)
{
	uint64_t random = 3;

	(void)state;
	for (unsigned int round = 0; round < 3; round++) {
		struct lab lab = lab_new(16, 4, TO_LINKS_DUPLEX);

		lab_cycle(&lab, &random);
		lab_cycle(&lab, &random);
		for (unsigned int x = 0; x < 16; x++)
			for (unsigned int q = 0; q < 4; q++)
				lab.cluster->servers[x].ports[q].bandwidth =
					100 * GBPS >> to_random_below(&random, 3);
		for (unsigned int i = 0; i < 40; i++) {
			unsigned int x = to_random_below(&random, 16), y = to_random_below(&random, 16);

			if (x != y)
				lab.demand->mp[x * 16 + y] += to_random_below(&random, 100) * MIB;
		}
		job_group(lab.demand, 0, 1, 16, round * 100 * MIB + 1);
		near_optimum(lab_plan(&lab), "uneven bandwidths");
	}
}

/*
 * Links to two more servers are idle, and prices are no round numbers: what such
 * a link costs is next to nothing, and may not be less.
 */
static void odd_rates_end(void **state)
{
	static const unsigned int rates[][2] = {
		{ 155, 155 }, { 163, 163 }, { 310, 310 }, { 100, 60 }, { 400, 300 }, { 128, 63 },
	};

	(void)state;
	for (unsigned int k = 0; k < sizeof(rates) / sizeof(*rates); k++) {
		struct lab lab = lab_new(10, 5, TO_LINKS_DUPLEX);

		for (unsigned int x = 0; x < 10; x++)
			for (unsigned int q = 0; q < 5; q++)
				lab.cluster->servers[x].ports[q].bandwidth =
					rates[k][x >= 8] * GBPS;
		for (unsigned int x = 0; x < 8; x++) {
			lab_link(&lab, x, (x + 1) % 8);
			lab_link(&lab, x, (x + 3) % 8);
			lab.demand->mp[x * 10 + (x + 2) % 8] = 32 * MIB;
		}
		lab_link(&lab, 0, 8);
		lab_link(&lab, 8, 9);
		alarm(ODD_SECONDS);
		near_optimum(lab_plan(&lab), "odd rates");
		alarm(0);
	}
}

/* Links between two servers that differ in rate: no share that the kernel refuses. */
static void shares_are_not_too_small(void **state)
{
	static const uint64_t rates[][4] = {
		{ 255, 1 }, { 1000, 1 }, { 85, 85, 85, 1 }, { 1000, 1000, 1000, 3 },
		{ 4000, 900, 100, 7 }, { 60, 50, 40, 2 },
	};
	unsigned int least = 0;

	(void)state;
	for (unsigned int i = 0; i < sizeof(rates) / sizeof(*rates); i++) {
		struct lab lab = lab_new(2, 4, TO_LINKS_DUPLEX);
		struct to_plan *plan;

		for (unsigned int q = 0; q < 4 && rates[i][q]; q++) {
			lab_link(&lab, 0, 1);
			for (unsigned int x = 0; x < 2; x++)
				lab.cluster->servers[x].ports[q].bandwidth = rates[i][q] * GBPS / 10;
		}
		lab.demand->mp[1] = lab.demand->mp[2] = 4096 * MIB;
		plan = lab_plan(&lab);
		job_verify(plan);
		for (unsigned int x = 0; x < 2; x++) {
			for (unsigned int k = 0; k < plan->tables[x].n_groups; k++) {
				const struct to_group *group = &plan->tables[x].groups[k];
				unsigned int weights = 0, lightest = UINT16_MAX;

				assert_int_equal(to_group_least(group), -1);
				for (unsigned int h = 0; h < group->n; h++) {
					if (!to_nexthop_primary(&group->nexthops[h]))
						continue;
					weights += group->nexthops[h].weight;
					if (group->nexthops[h].weight < lightest)
						lightest = group->nexthops[h].weight;
				}
				least += weights == TO_GROUP_SHARES && lightest == 1;
			}
		}
		to_plan_free(plan);
	}
	assert_true(least);	/* the smallest that it takes was there */
}

/*
 * Longer ways only where they make links less busy: a ring of six where one
 * neighbour sends to the other goes the short way round, up to half of it.
 */
static void ways_are_short_unless_it_helps(void **state)
{
	struct lab lab = lab_new(6, 2, TO_LINKS_DUPLEX);
	struct to_figures f;
	struct to_plan *plan;

	(void)state;
	lab_circulant(&lab, 1);
	for (unsigned int x = 0; x < 6; x++)
		lab.demand->mp[x * 6 + (x + 1) % 6] = 60 * MIB;
	plan = lab_plan(&lab);
	f = job_verify(plan).figures;
	/* one link one way, five the other: 5/6 and 1/6 would be even, at twice the bytes */
	assert_true(f.max_mp_link_load < 1.01 * 50 * MIB);
	to_plan_free(plan);

	lab = lab_new(6, 2, TO_LINKS_DUPLEX);
	lab_circulant(&lab, 1);
	for (unsigned int x = 0; x < 6; x++)
		lab.demand->mp[x * 6 + (x + 2) % 6] = lab.demand->mp[x * 6 + (x + 4) % 6] = 60 * MIB;
	plan = lab_plan(&lab);
	f = job_verify(plan).figures;
	assert_int_equal(f.max_mp_link_load, 120 * MIB);
	assert_true(f.bandwidth_tax <= 2);
	to_plan_free(plan);
}

/* Six in a ring, each of which sends to the next: round the ring, or not. */
static void routes_keep_to_their_stretch(void **state)
{
	static const struct {
		double stretch;
		unsigned int hops;
		double mib;
	} cases[] = { { 1, 1, 60 }, { 4.9, 1, 60 }, { 5, 5, 50 } };

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct lab lab = lab_new(6, 2, TO_LINKS_DUPLEX);
		struct to_figures f;
		struct to_plan *plan;

		lab_circulant(&lab, 1);
		for (unsigned int x = 0; x < 6; x++)
			lab.demand->mp[x * 6 + (x + 1) % 6] = 60 * MIB;
		lab.stretch = cases[i].stretch;
		plan = lab_plan(&lab);
		f = job_verify(plan).figures;
		assert_int_equal(f.hops.mp.most, cases[i].hops);
		assert_true(fabs(f.max_mp_link_load / MIB / cases[i].mib - 1) < 0.01);
		to_plan_free(plan);
	}
}

/* Any links, any demand: verify finds no route that is too long, and all arrive. */
static void random_routes_keep_to_their_stretch(void **state)
{
	unsigned int longer = 0;
	uint64_t random = 23;

	(void)state;
	for (unsigned int round = 0; round < 60; round++) {
		struct lab lab = lab_new(4 + to_random_below(&random, 12), 4, TO_LINKS_DUPLEX);
		unsigned int n = lab.demand->n;
		struct to_plan *plan;

		lab_circulant(&lab, 1);
		lab_cycle(&lab, &random);
		for (unsigned int i = 0; i < 2 * n; i++) {
			unsigned int x = to_random_below(&random, n), y = to_random_below(&random, n);

			if (x != y)
				lab.demand->mp[x * n + y] = (1 + to_random_below(&random, 64)) * MIB;
		}
		lab.stretch = 1 + to_random_below(&random, 30) / 10.;
		plan = lab_plan(&lab);
		longer += job_verify(plan).figures.hops.mp.most > job_verify(plan).figures.diameter;
		to_plan_free(plan);
	}
	assert_true(longer > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dlrm),
		cmocka_unit_test(a_group_takes_its_links),
		cmocka_unit_test(random_graphs),
		cmocka_unit_test(uneven),
		cmocka_unit_test(odd_rates_end),
		cmocka_unit_test(shares_are_not_too_small),
		cmocka_unit_test(ways_are_short_unless_it_helps),
		cmocka_unit_test(routes_keep_to_their_stretch),
		cmocka_unit_test(random_routes_keep_to_their_stretch),
	};

	glp_term_out(GLP_OFF);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
