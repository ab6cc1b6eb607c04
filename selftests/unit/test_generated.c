// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What holds for every plan, on generated jobs: any number of servers and ports,
 * duplex and simplex links, groups of any servers, any transfers, own cabling.
 * A case follows from its seed, which is shown when it fails; SEED=n repeats it.
 * TEST_ALL=1 has more of them.
 */

#include <inttypes.h>
#include <math.h>

#include "job.h"

#include "graph/totient.h"
#include "plan/plan_completion.h"
#include "topology/builder.h"
#include "topology/crossconnect.h"
#include "format/plan_json.h"

#define CASES 60
#define CASES_ALL 160

static uint64_t running;	/* seed of the case, 0 when done */

static struct to_demand *generate_demand(unsigned int n, uint64_t *random)
{
	enum { NONE, DENSE, SPARSE, SKEWED } kind = to_random_below(random, 4);
	struct to_demand *demand = job_new(n);
	unsigned int groups = to_random_below(random, 4), most = 1 + to_random_below(random, 30);
	unsigned int i, k;

	for (i = 0; i < groups; i++) {
		struct to_allreduce *group;

		/* the first members of a shuffled list of all */
		job_group(demand, 0, 1, n, 1 + to_random_below(random, 1 << most));
		group = &demand->groups[i];
		for (k = 0; k + 1 < n; k++) {
			unsigned int at = k + to_random_below(random, n - k);
			uint32_t other = group->members[at];

			group->members[at] = group->members[k];
			group->members[k] = other;
		}
		if (i || to_random_below(random, 2))
			group->n_members = 2 + to_random_below(random, n - 1);
	}
	for (i = 0; kind != NONE && i < n * n; i++)
		if (i / n != i % n && (kind == DENSE || !to_random_below(random, n)))
			demand->mp[i] = to_random_below(random, 1 << most);
	for (i = 0; kind == SKEWED && i < 1 + n / 8; i++)
		job_hot(demand, to_random_below(random, n), 1ull << (most + 4));
	return demand;
}

/* Any links between the ports of @cluster. */
static void generate_links(struct to_cluster *cluster, uint64_t *random)
{
	unsigned int n = cluster->n_servers, degree = cluster->servers[0].n_ports, tries;
	bool simplex = cluster->link_mode == TO_LINKS_SIMPLEX;
	unsigned int sends[64] = { 0 }, takes[64] = { 0 };

	cluster->links = calloc((size_t)n * degree, sizeof(*cluster->links));
	assert_non_null(cluster->links);
	for (tries = to_random_below(random, 2 * n * degree) + n; tries; tries--) {
		uint32_t a = to_random_below(random, n), b = to_random_below(random, n);
		unsigned int *into = simplex ? &takes[b] : &sends[b];

		if (a == b || sends[a] == degree || *into == degree)
			continue;
		cluster->links[cluster->n_links++] = (struct to_link){
			.a = { a, sends[a]++ }, .b = { b, (*into)++ }, .ring = -1 };
	}
}

static bool connected(const struct to_cluster *cluster)
{
	struct to_graph *graph = to_graph_new(cluster->n_servers, cluster->links, cluster->n_links,
					      cluster->link_mode);
	uint16_t distance[64];
	uint32_t order[64], dst;
	bool all = true;

	assert_non_null(graph);
	for (dst = 0; dst < graph->n; dst++)
		all &= to_graph_distances(graph, dst, TO_SERVER_NONE, distance, order) == graph->n;
	to_graph_free(graph);
	return all;
}

static char *printed(const struct to_plan *plan)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(to_plan_print(plan, out, NULL), 0);
	fclose(out);
	return text;
}

#define at_least(value, bound) assert_true((value) >= (bound) * (1 - 1e-9))

static struct to_figures check(const struct to_plan *plan, bool fixed)
{
	bool duplex = plan->cluster->link_mode == TO_LINKS_DUPLEX;
	struct to_verify_report report = job_verify(plan);
	const struct to_figures *f = &report.figures;

	/* every port can be entered, where the links are ours and there are two */
	if (!fixed && duplex && f->degree > 1)
		assert_int_equal(report.unreachable, 0);
	at_least(f->diameter, f->diameter_bound);
	at_least(f->mean_hops, f->mean_hops_bound);
	at_least(f->max_mp_link_load, f->max_mp_link_load_bound);
	at_least(f->max_link_load, f->max_link_load_bound);
	at_least(f->allreduce_time, f->allreduce_time_bound);
	at_least(f->comm_time, f->comm_time_bound);
	at_least(f->bandwidth_tax, f->bandwidth_tax_bound);
	at_least(f->comm_time, f->allreduce_time);
	at_least(f->max_link_load, f->max_mp_link_load);
	assert_int_equal(report.links.cases, report.links.covered + report.links.uncovered +
			 report.links.last_hops + report.links.disconnected);
	return report.figures;
}

static struct to_plan *make(const struct to_cluster *cluster, const struct to_demand *demand,
			    bool fixed, unsigned int effort, uint64_t seed, struct to_error *err)
{
	struct to_planner_knobs options = { .fixed = fixed, .effort = effort, .seed = seed };
	struct to_cluster *copy = to_cluster_synthetic(cluster->n_servers,
						       cluster->servers[0].n_ports, 100 * GBPS,
						       cluster->link_mode, err);

	assert_non_null(copy);
	/* cables lead anywhere */
	for (unsigned int i = 0; fixed && i < copy->n_servers; i++)
		for (unsigned int q = 0; q < copy->servers[i].n_ports; q++)
			copy->servers[i].ports[q].optical_switch = -1;
	copy->links = calloc(cluster->n_links + 1, sizeof(*copy->links));
	assert_non_null(copy->links);
	if (cluster->n_links)
		memcpy(copy->links, cluster->links, cluster->n_links * sizeof(*copy->links));
	copy->n_links = cluster->n_links;
	return to_planner_make(copy, to_demand_copy(demand), &options, err);
}

/*
 * Algorithm 1 to the letter for one group of all servers: @reserve ports for
 * rings evenly by index among TotientPerms, the others matched to transfers.
 * Returns the time of an iteration on these links with our routes.
 */
static double literal(const struct to_cluster *cluster, const struct to_demand *demand,
		      unsigned int reserve, unsigned int effort)
{
	unsigned int n = cluster->n_servers, degree = cluster->servers[0].n_ports, n_jumps, i;
	bool duplex = cluster->link_mode == TO_LINKS_DUPLEX;
	unsigned int n_rings = duplex && n > 2 ? reserve / 2 : reserve;
	struct to_error err = { "" };
	uint32_t jumps[64], *order;
	struct to_builder b;
	struct to_plan *plan;
	double time;

	assert_int_equal(to_builder_init(&b, cluster, demand, reserve, &(const struct to_planner_knobs){
		.degree = degree, .effort = 1, .seed = 1 }), 0);
	n_jumps = to_totient_jumps(n, duplex, jumps);
	for (i = 0; i < n_rings; i++) {
		uint32_t jump = jumps[i * n_jumps / n_rings];

		order = calloc(n, sizeof(*order));
		assert_non_null(order);
		to_totient_ring(demand->groups[0].members, n, jump, order);
		to_builder_ring(&b, order, n, jump, 0);
	}
	assert_int_equal(to_builder_match(&b), 0);
	assert_int_equal(to_crossconnect_assign(cluster, b.layout.links, b.layout.n_links,
						degree, &err), 0);
	/* the plan takes links and rings over */
	plan = calloc(1, sizeof(*plan));
	assert_non_null(plan);
	plan->demand = to_demand_copy(demand);
	plan->cluster = to_cluster_synthetic(n, degree, 100 * GBPS, cluster->link_mode, &err);
	assert_int_equal(to_plan_completion_fill(plan, &b.layout, effort, NULL, &err), 0);
	time = job_verify(plan).figures.comm_time;
	to_plan_free(plan);
	to_builder_free(&b);
	return time;
}

/* Ports that line 2 of Algorithm 1 gives to AllReduce; a duplex ring takes two. */
static unsigned int literal_split(const struct to_demand *demand, unsigned int degree, bool duplex)
{
	double reduced = demand->groups[0].bytes, sent = 0;
	unsigned int i, ports;

	for (i = 0; i < demand->n * demand->n; i++)
		sent += demand->mp[i];
	ports = ceil(degree * reduced / (reduced + sent));
	return duplex && demand->n > 2 ? (ports + 1) / 2 * 2 : ports;
}

static void run(uint64_t seed)
{
	uint64_t random = running = seed;
	unsigned int n = 2 + to_random_below(&random, 1 + to_random_below(&random, 39));
	unsigned int degree = 1 + to_random_below(&random, 8);
	unsigned int effort = 1 + to_random_below(&random, 3);
	bool duplex = to_random_below(&random, 3), fixed = !to_random_below(&random, 4);
	bool possible = !duplex || degree > 1 || n == 2;
	struct to_demand *demand = generate_demand(n, &random);
	struct to_error err = { "" };
	struct to_cluster *cluster = to_cluster_synthetic(n, degree, 100 * GBPS, duplex ?
							  TO_LINKS_DUPLEX : TO_LINKS_SIMPLEX, &err);
	struct to_plan *plan, *again;
	char *text, *text_again;
	struct to_figures f;

	assert_non_null(cluster);
	if (fixed) {
		generate_links(cluster, &random);
		possible = connected(cluster);
	}
	plan = make(cluster, demand, fixed, effort, seed, &err);
	if (!possible) {
		assert_null(plan);
		assert_non_null(strstr(err.text, fixed ? (cluster->n_links ? " do not lead from "
							  : "has no links") : "cannot be connected"));
		assert_null(strchr(err.text, '\n'));
		goto out;
	}
	assert_string_equal(err.text, "");
	assert_non_null(plan);
	f = check(plan, fixed);

	/* same seed, same bytes; what is read is what was written */
	text = printed(plan);
	to_plan_free(plan);
	again = make(cluster, demand, fixed, effort, seed, &err);
	text_again = printed(again);
	assert_string_equal(text, text_again);
	to_plan_free(again);
	free(text_again);
	again = to_plan_parse(text, strlen(text), "plan", &err);
	assert_string_equal(err.text, "");
	check(again, fixed);
	text_again = printed(again);
	assert_string_equal(text, text_again);
	to_plan_free(again);
	free(text_again);
	free(text);

	/* another seed may find another plan, which is no less right */
	again = make(cluster, demand, fixed, effort, seed + 1, &err);
	assert_non_null(again);
	check(again, fixed);
	to_plan_free(again);

	if (!fixed && demand->n_groups == 1 && demand->groups[0].n_members == n &&
	    (!duplex || degree > 1)) {
		unsigned int ports = literal_split(demand, degree, duplex);
		unsigned int all = duplex && n > 2 ? degree & ~1u : degree;

		/* next-hop weights are rounded: a little more or less is luck */
		assert_true(f.comm_time <= 1.001 * literal(cluster, demand, ports > all ?
							   all : ports, effort));
		assert_true(f.comm_time <= 1.001 * literal(cluster, demand, all, effort));
	}
out:
	to_cluster_free(cluster);
	to_demand_free(demand);
	running = 0;
}

static void plans_of_generated_jobs_keep_every_rule(void **state)
{
	const uint64_t cases = getenv("TEST_ALL") ? CASES_ALL : CASES;
	const char *seed = getenv("SEED");

	(void)state;
	if (seed)
		run(strtoull(seed, NULL, 0));

	for (uint64_t i = 1; !seed && i <= cases; i++)
		run(i * 1000003);
}

static int show_seed(void **state)
{
	(void)state;
	if (running)
		print_error("repeat the case with SEED=%" PRIu64 "\n", running);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(plans_of_generated_jobs_keep_every_rule, show_seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
