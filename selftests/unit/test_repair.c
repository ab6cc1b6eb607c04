// SPDX-License-Identifier: GPL-2.0-or-later
/* Repaired plans: valid without what is down, and as good as plans of what is left. */

#include "base/limits.h"
#include "job.h"

#include <errno.h>

#include "format/cluster_json.h"
#include "format/demand_json.h"
#include "format/plan_json.h"
#include "plan/repair.h"

#define EXAMPLES "examples/"
#define NEAR 1.05
#define SAMPLED 6	/* links of a large plan */

static struct to_plan *plan_example(const char *cluster_path, const char *job_path,
				    unsigned int degree)
{
	struct to_planner_knobs options = { .degree = degree, .seed = 1 };
	struct to_error err = { 0 };
	struct to_demand *demand = to_demand_load(job_path, TO_SERVERS_USUAL, &err);
	struct to_cluster *cluster = NULL;
	struct to_plan *plan;

	assert_string_equal(err.text, "");
	cluster = cluster_path ? to_cluster_load(cluster_path, &err) :
		  to_cluster_synthetic(demand->n, degree, 100 * GBPS, TO_LINKS_DUPLEX, &err);
	assert_string_equal(err.text, "");
	plan = to_planner_make(cluster, demand, &options, &err);
	assert_string_equal(err.text, "");
	return plan;
}

static struct to_repair repair_words(const struct to_plan *plan, unsigned int effort,
				     const char *const *words)
{
	struct to_error err = { 0 };
	struct to_repair repair;
	struct to_down down;

	assert_int_equal(to_down_init(&down, plan->cluster), 0);
	for (; *words; words++)
		assert_int_equal(to_down_parse(&down, plan->cluster, *words, &err), 0);
	to_repair_plan(plan, &down, effort, &repair, &err);
	assert_string_equal(err.text, "");
	to_down_free(&down);
	return repair;
}

static struct to_repair repair_link(const struct to_plan *plan, unsigned int effort,
				    unsigned int link)
{
	char word[TO_DOWN_NAME_MAX];
	const char *const words[] = {
		to_down_name(plan->cluster, plan->cluster->links[link].a, word), NULL };

	return repair_words(plan, effort, words);
}

/* All that is left is one valid plan, and no table uses a link that is dark. */
static void check_valid(const struct to_repair *repair)
{
	struct job_lines lines = { 0 };
	struct to_verify_report report;
	struct to_error err = { 0 };
	struct to_plan *read;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(to_verify(repair->plan, job_line, &lines, &report), 0);
	assert_string_equal(lines.first, "");
	/* written and read, it still says what it does without */
	assert_non_null(out);
	assert_int_equal(to_plan_print(repair->plan, out, &err), 0);
	fclose(out);
	read = to_plan_parse(text, len, "plan", &err);
	assert_string_equal(err.text, "");
	assert_int_equal(read->n_down, repair->plan->n_down);
	assert_int_equal(read->n_dark, repair->plan->n_dark);
	assert_memory_equal(read->down, repair->plan->down, read->n_down * sizeof(*read->down));
	for (unsigned int i = 0; i < read->n_dark; i++) {
		assert_int_equal(read->dark[i].a.server, repair->plan->dark[i].a.server);
		assert_int_equal(read->dark[i].b.port, repair->plan->dark[i].b.port);
	}
	to_plan_free(read);
	free(text);
}

/* As toctl plan --fixed on the links that are left; rings stay rings. */
static struct to_figures from_nothing(const struct to_plan *repaired)
{
	struct to_planner_knobs options = { .fixed = true, .seed = 1,
					      .rings = !repaired->n_trees };
	struct to_error err = { 0 };
	struct to_plan *plan = to_planner_make(to_cluster_copy(repaired->cluster),
					       to_demand_copy(repaired->demand), &options, &err);
	struct to_figures figures;

	assert_string_equal(err.text, "");
	assert_int_equal(to_predict_plan(plan, &figures), 0);
	to_plan_free(plan);
	return figures;
}

static void check_near(struct to_plan *plan, unsigned int effort, unsigned int samples)
{
	const unsigned int n = plan->cluster->n_links;
	double worst = 0;

	for (unsigned int i = 0; i < (samples < n ? samples : n); i++) {
		unsigned int link = samples < n ? i * (n / samples) + i % 2 : i;
		struct to_repair repair = repair_link(plan, effort, link);
		struct to_figures anew = from_nothing(repair.plan);
		double ratio = repair.after.comm_time / anew.comm_time;

		check_valid(&repair);
		assert_int_equal(repair.dark, 1);
		assert_int_equal(repair.n_cut_off, 0);
		assert_int_equal(repair.plan->cluster->n_links, n - 1);
		worst = ratio > worst ? ratio : worst;
		assert_true(repair.after.comm_time <= anew.comm_time * NEAR);
		assert_true(repair.after.max_link_load <= anew.max_link_load * NEAR);
		to_repair_free(&repair);
	}
	print_message("# %u servers, effort %u: at worst %.4f of what planning from nothing gives\n",
		      plan->cluster->n_servers, effort, worst);
	to_plan_free(plan);
}

static void test_ring(void **state)
{
	(void)state;
	check_near(plan_example(EXAMPLES "ring-4/cluster.json", EXAMPLES "ring-4/job.json", 0),
		   TO_EFFORT_DEFAULT, 99);
}

static void test_prototype(void **state)
{
	(void)state;
	check_near(plan_example(NULL, EXAMPLES "prototype-12/job.json", 4), TO_EFFORT_DEFAULT, 99);
}

static void test_dlrm(void **state)
{
	(void)state;
	check_near(plan_example(NULL, EXAMPLES "jobs/dlrm-16.json", 4), TO_EFFORT_DEFAULT, 99);
}

static void test_hybrid(void **state)
{
	(void)state;
	check_near(plan_example(NULL, EXAMPLES "jobs/hybrid-128.json", 4), TO_EFFORT_DEFAULT,
		   SAMPLED);
}

/* A server that is gone takes its demand along; the others are planned as if it had not been. */
static void test_dead_server(void **state)
{
	static const char *const words[] = { "s3", NULL };
	struct to_plan *plan = plan_example(NULL, EXAMPLES "jobs/dlrm-16.json", 4);
	struct to_repair repair = repair_words(plan, TO_EFFORT_DEFAULT, words);
	const struct to_demand *d = repair.plan->demand;

	(void)state;
	assert_int_equal(repair.n_cut_off, 1);
	assert_true(repair.cut_off[3]);
	assert_int_equal(repair.dark, 4);
	assert_int_equal(repair.parts, 2);
	for (unsigned int i = 0; i < d->n; i++) {
		assert_int_equal(d->mp[3 * d->n + i], 0);
		assert_int_equal(d->mp[i * d->n + 3], 0);
		for (unsigned int k = 0; k < repair.plan->slots; k++)
			assert_int_equal(repair.plan->tables[i].route[3 * repair.plan->slots + k],
					 TO_GROUP_NONE);
	}
	assert_true(d->n_groups > 0);
	for (unsigned int g = 0; g < d->n_groups; g++) {
		assert_int_equal(d->groups[g].n_members, plan->demand->groups[g].n_members - 1);
		for (unsigned int i = 0; i < d->groups[g].n_members; i++)
			assert_int_not_equal(d->groups[g].members[i], 3);
	}
	/* the plan itself is as it was */
	assert_int_equal(plan->n_down, 0);
	assert_int_equal(plan->cluster->n_links, 32);
	to_repair_free(&repair);
	to_plan_free(plan);
}

/* Two islands: each keeps what it sends inside. */
static void test_islands(void **state)
{
	static const char *const words[] = { "s0:eth0", "s2:eth0", NULL };
	struct to_plan *plan = plan_example(EXAMPLES "ring-4/cluster.json",
					    EXAMPLES "ring-4/job.json", 0);
	struct to_repair repair = repair_words(plan, TO_EFFORT_DEFAULT, words);

	(void)state;
	assert_int_equal(repair.parts, 2);
	assert_int_equal(repair.n_cut_off, 2);
	assert_int_equal(repair.plan->demand->groups[0].n_members, 2);
	assert_int_equal(repair.plan->n_rings, 1);
	to_repair_free(&repair);
	to_plan_free(plan);
}

/* Nothing is left of a fabric without links. */
/* A function without its siblings, and all of a cable: what the plan says is what was down. */
static void test_shared_cable(void **state)
{
	const char *const one[] = { "spark1:enp1s0f0np0", NULL };
	const char *const both[] = { "spark1:enp1s0f0np0", "spark1:enP2p1s0f0np0", NULL };
	struct to_planner_knobs options = { .fixed = true, .seed = 1 };
	struct to_error err = { 0 };
	struct to_demand *demand = job_new(4);
	struct to_repair repair;
	struct to_plan *plan;

	(void)state;
	job_group(demand, 0, 1, 4, 100 * MIB);
	plan = to_planner_make(to_cluster_load(EXAMPLES "spark-4/cluster.json", &err), demand,
			       &options, &err);
	assert_string_equal(err.text, "");
	for (unsigned int n = 1; n <= 2; n++) {
		repair = repair_words(plan, TO_EFFORT_MIN, n == 1 ? one : both);
		assert_int_equal(repair.plan->n_down, n);
		assert_int_equal(repair.dark, n);
		assert_int_equal(repair.n_cut_off, 0);
		check_valid(&repair);
		to_repair_free(&repair);
	}
	to_plan_free(plan);
}

static void test_nothing_left(void **state)
{
	struct to_plan *plan = plan_example(EXAMPLES "ring-4/cluster.json",
					    EXAMPLES "ring-4/job.json", 0);
	struct to_error err = { 0 };
	struct to_repair repair;
	struct to_down down;

	(void)state;
	assert_int_equal(to_down_init(&down, plan->cluster), 0);
	assert_int_equal(to_down_parse(&down, plan->cluster, "s0", &err), 0);
	assert_int_equal(to_down_parse(&down, plan->cluster, "s2", &err), 0);
	assert_int_equal(to_repair_plan(plan, &down, 1, &repair, &err), -ENOLINK);
	assert_string_equal(err.text, "no link is left");
	to_down_free(&down);
	to_plan_free(plan);
}

/*
 * Servers with a port to spare on the optical switch: the link moves there, the rings
 * are as they were, and the switch keeps no cross-connect of a port with another use.
 */
static void test_spare_ports(void **state)
{
	static const char *const one[] = { "s0:eth0", NULL };
	struct to_demand *demand = job_new(6);
	struct to_planner_knobs options = { .degree = 2, .seed = 1 };
	struct to_error err = { 0 };
	struct to_plan *plan;
	struct to_repair repair, more;
	const char *both[3] = { NULL };
	char words[2][TO_DOWN_NAME_MAX];

	(void)state;
	job_group(demand, 0, 1, 6, 100 * MIB);
	plan = to_planner_make(to_cluster_synthetic(6, 2, 0, TO_LINKS_DUPLEX, &err), demand,
			       &options, &err);
	assert_string_equal(err.text, "");
	/* a third port each, with the address scheme of to_cluster_synthetic() */
	for (unsigned int s = 0; s < 6; s++) {
		struct to_cluster *wide = to_cluster_synthetic(6, 3, 0, TO_LINKS_DUPLEX, &err);
		struct to_server *server = &plan->cluster->servers[s];

		server->ports = realloc(server->ports, 3 * sizeof(*server->ports));
		memcpy(server->ports, wide->servers[s].ports, 3 * sizeof(*server->ports));
		server->n_ports = 3;
		plan->cluster->switches[0].n_ports = wide->switches[0].n_ports;
		to_cluster_free(wide);
	}
	repair = repair_words(plan, TO_EFFORT_DEFAULT, one);
	check_valid(&repair);
	assert_int_equal(repair.moved, 1);
	assert_int_equal(repair.dark, 1);
	assert_int_equal(repair.plan->n_cross_connects, 6 + repair.plan->n_dark);
	assert_true(repair.after.comm_time <= repair.before.comm_time * 1.0001);
	assert_int_equal(repair.plan->n_rings, plan->n_rings);
	/* as the loop sees a cut: both ends are dark, and wait for light */
	for (unsigned int l = 0; l < 6; l++) {
		const struct to_link *link = &plan->cluster->links[l];

		if ((link->a.server || link->a.port) && (link->b.server || link->b.port))
			continue;
		both[0] = to_down_name(plan->cluster, link->a, words[0]);
		both[1] = to_down_name(plan->cluster, link->b, words[1]);
	}
	more = repair_words(plan, TO_EFFORT_DEFAULT, both);
	check_valid(&more);
	assert_int_equal(more.moved, 1);
	assert_int_equal(more.plan->n_dark, 1);
	assert_int_equal(more.plan->n_cross_connects, 7);
	to_repair_free(&more);
	to_repair_free(&repair);
	to_plan_free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ring),
		cmocka_unit_test(test_prototype),
		cmocka_unit_test(test_dlrm),
		cmocka_unit_test(test_hybrid),
		cmocka_unit_test(test_dead_server),
		cmocka_unit_test(test_islands),
		cmocka_unit_test(test_shared_cable),
		cmocka_unit_test(test_nothing_left),
		cmocka_unit_test(test_spare_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
