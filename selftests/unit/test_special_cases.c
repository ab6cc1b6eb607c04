// SPDX-License-Identifier: GPL-2.0-or-later
/* A plan falls behind none of an easier search. */

#include "job.h"

#define SERVERS 8
#define EFFORT 1

/* Groups of four beside one of all, and transfers between neighbours and of a hot server. */
static struct to_demand *small_job(unsigned int kind)
{
	struct to_demand *demand = job_new(SERVERS);

	if (kind != 1)
		for (unsigned int g = 0; g < 2; g++)
			job_group(demand, 4 * g, 1, 4, 4096 * MIB);
	if (kind != 2)
		job_group(demand, 0, 1, SERVERS, 1024 * MIB);
	if (kind)
		job_hot(demand, 3, 64 * MIB);
	for (uint32_t x = 0; x < SERVERS; x++)
		demand->mp[x * SERVERS + (x + SERVERS / 2) % SERVERS] += 128 * MIB;
	return demand;
}

static double comm_time(unsigned int kind, unsigned int degree, enum to_link_mode mode,
			unsigned int effort, uint64_t seed)
{
	const struct to_planner_knobs options = { .degree = degree, .effort = effort,
						    .seed = seed };
	struct to_error err = { "" };
	struct to_cluster *cluster = to_cluster_synthetic(SERVERS, degree, 100 * GBPS, mode, &err);
	struct to_plan *plan;
	double time;

	assert_non_null(cluster);
	plan = to_planner_make(cluster, small_job(kind), &options, &err);
	assert_string_equal(err.text, "");
	assert_non_null(plan);
	time = job_verify(plan).figures.comm_time;
	to_plan_free(plan);
	return time;
}

/* One permille is what a regular family is preferred at. */
static void not_worse(const char *what, unsigned int kind, unsigned int degree, double time,
		      double than)
{
	if (time > 1.001 * than)
		fail_msg("job %u, degree %u, %s: %g ms, %g ms without", kind, degree, what,
			 time * 1e3, than * 1e3);
}

static void more_ports(void **state)
{
	(void)state;
	for (unsigned int kind = 0; kind < 3; kind++) {
		for (enum to_link_mode mode = TO_LINKS_DUPLEX; mode <= TO_LINKS_SIMPLEX; mode++) {
			double before = comm_time(kind, 2, mode, EFFORT, 1);

			for (unsigned int degree = 3; degree <= 5; degree++) {
				double now = comm_time(kind, degree, mode, EFFORT, 1);

				not_worse("one port more", kind, degree, now, before);
				before = now;
			}
		}
	}
}

static void more_effort(void **state)
{
	(void)state;
	for (unsigned int kind = 0; kind < 3; kind++) {
		for (unsigned int degree = 3; degree <= 4; degree++) {
			double before = comm_time(kind, degree, TO_LINKS_SIMPLEX, 1, 1);

			for (unsigned int effort = 2; effort <= 3; effort++) {
				double now = comm_time(kind, degree, TO_LINKS_SIMPLEX, effort, 1);

				not_worse("more effort", kind, degree, now, before);
				before = now;
			}
		}
	}
}

static void simplex_and_other_seeds(void **state)
{
	(void)state;
	for (unsigned int kind = 0; kind < 3; kind++) {
		for (unsigned int degree = 3; degree <= 5; degree += 2) {
			double duplex = comm_time(kind, degree, TO_LINKS_DUPLEX, EFFORT, 1);
			double simplex = comm_time(kind, degree, TO_LINKS_SIMPLEX, EFFORT, 1);

			not_worse("simplex", kind, degree, simplex, duplex);
			for (uint64_t seed = 2; seed <= 5; seed++) {
				not_worse("another seed", kind, degree,
					  comm_time(kind, degree, TO_LINKS_DUPLEX, EFFORT, seed), duplex);
				not_worse("another seed, simplex", kind, degree,
					  comm_time(kind, degree, TO_LINKS_SIMPLEX, EFFORT, seed),
					  simplex);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more_ports),
		cmocka_unit_test(more_effort),
		cmocka_unit_test(simplex_and_other_seeds),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
