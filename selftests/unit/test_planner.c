// SPDX-License-Identifier: GPL-2.0-or-later
/* Whole plans: known ones of the paper, and properties of generated ones. */

#include <errno.h>

#include <linux/topoopt.h>

#include "graph/coinchange.h"
#include "job.h"

#include "plan/plan_completion.h"
#include "topology/topology.h"

/* Is there a link between servers that are @jump apart, for every server? */
static bool circulant(const struct to_plan *plan, unsigned int jump)
{
	unsigned int n = plan->cluster->n_servers;

	for (unsigned int x = 0; x < n; x++) {
		bool found = false;

		for (unsigned int i = 0; i < plan->cluster->n_links; i++) {
			const struct to_link *l = &plan->cluster->links[i];

			found |= l->a.server == x && l->b.server == (x + jump) % n;
			found |= plan->cluster->link_mode == TO_LINKS_DUPLEX &&
				 l->b.server == x && l->a.server == (x + jump) % n;
		}
		if (!found)
			return false;
	}
	return true;
}

/* TopoOpt section 6: 12 servers, degree 4, links at +-1 and +-5. */
static void the_prototype(void **state)
{
	struct to_demand *demand = job_new(12);
	struct to_plan *plan, *best;
	struct to_error err = { "" };
	struct to_verify_report report;

	(void)state;
	job_group(demand, 0, 1, 12, 462 * MIB);
	job_hot(demand, 6, MIB / 4);
	best = job_planned(to_demand_copy(demand), 4, TO_LINKS_DUPLEX);
	plan = job_plan_family(demand, 4, TO_LINKS_DUPLEX, &to_family_totient, &err);
	assert_string_equal(err.text, "");
	assert_int_equal(plan->cluster->n_links, 24);
	assert_true(circulant(plan, 1));
	assert_true(circulant(plan, 5));
	assert_int_equal(plan->n_rings, 2);
	report = job_verify(plan);
	assert_int_equal(report.figures.diameter, 3);
	/* 2 * 11/12 * 462 MiB over four directions of 100 Gb/s */
	assert_true(report.figures.allreduce_time > 0.01776 && report.figures.allreduce_time < 0.01777);
	assert_int_equal(report.links.uncovered, 0);
	/* what wins over it is no slower */
	assert_true(job_verify(best).figures.comm_time <= report.figures.comm_time);
	to_plan_free(plan);
	to_plan_free(best);
}

/* TopoOpt section 2.2: tables on servers 0, 3, 8 and 13 of 16. */
static void dlrm(void **state)
{
	static const unsigned int hot[] = { 0, 3, 8, 13 };

	(void)state;
	for (unsigned int degree = 2; degree <= 8; degree++) {
		struct to_demand *demand = job_new(16);
		struct to_plan *plan;
		struct to_figures f;

		job_group(demand, 0, 1, 16, 4096 * MIB);
		for (unsigned int i = 0; i < 4; i++)
			job_hot(demand, hot[i], 32 * MIB);
		plan = job_planned(demand, degree, TO_LINKS_DUPLEX);
		f = job_verify(plan).figures;
		/* a hot server's bytes over its ports, unless hops take more */
		if (degree >= 4)
			assert_int_equal(f.max_mp_link_load_bound, (15 + 3) * 32 * MIB / degree);
		if (degree % 2 == 0)
			assert_true(f.max_link_load < 1.05 * f.max_link_load_bound);
		to_plan_free(plan);
	}
}

/* Hops of every way that the tables take from @x to @dst, which must be equal. */
static unsigned int hops(const struct to_plan *plan, uint32_t x, uint32_t dst)
{
	const struct to_table *table = &plan->tables[x];
	const struct to_group *group = &table->groups[table->route[dst * plan->slots]];
	unsigned int found = 0;

	for (unsigned int i = 0; x != dst && i < group->n; i++) {
		struct to_port_ref peer;
		unsigned int way;

		if (!to_nexthop_primary(&group->nexthops[i]))
			continue;
		assert_int_equal(to_plan_peer(plan, (struct to_port_ref){ x, group->nexthops[i].port },
					      &peer), 0);
		way = 1 + hops(plan, peer.server, dst);
		assert_true(!found || found == way);
		found = way;
	}
	return found;
}

/* On rings over all servers a way has as many hops as the change has coins. */
static void rings_are_routed_by_coin_change(void **state)
{
	(void)state;
	for (unsigned int n = 5; n < 40; n += 3) {
		struct to_error err = { "" };
		struct to_demand *demand = job_new(n);
		uint32_t coins[4], order[40];
		unsigned int n_coins = 0;
		uint16_t count[40];
		struct to_plan *plan;

		job_group(demand, 0, 1, n, 1000 * MIB);
		plan = job_plan_family(demand, 4, TO_LINKS_DUPLEX, &to_family_totient, &err);
		assert_string_equal(err.text, "");
		job_verify(plan);
		assert_int_equal(plan->n_rings, 2);
		for (unsigned int i = 0; i < 2; i++) {
			coins[n_coins++] = plan->rings[i].jump;
			coins[n_coins++] = n - plan->rings[i].jump;
		}
		to_coinchange_solve(n, coins, n_coins, count, order);
		for (uint32_t x = 0; x < n; x++)
			for (uint32_t y = 0; y < n; y++)
				assert_int_equal(hops(plan, x, y), count[(y + n - x) % n]);
		to_plan_free(plan);
	}
}

/*
 * Six servers have one regular duplex ring, twelve have two: further rings are
 * others, and no link is doubled while there are pairs without one.
 */
static void rings_do_not_repeat(void **state)
{
	(void)state;
	for (unsigned int n = 6; n <= 12; n += 6) {
		struct to_demand *demand = job_new(n);
		struct to_plan *plan;
		struct to_figures f;

		job_group(demand, 0, 1, n, 100 * MIB);
		plan = job_planned(demand, n == 6 ? 4 : 6, TO_LINKS_DUPLEX);
		assert_int_equal(plan->n_rings, n == 6 ? 2 : 3);
		assert_int_not_equal(plan->rings[0].jump, 0);
		assert_int_equal(plan->rings[plan->n_rings - 1].jump, 0);
		f = job_verify(plan).figures;
		assert_true(f.mean_hops <= f.mean_hops_bound + 1e-9);
		assert_true(f.comm_time <= f.comm_time_bound * (1 + 1e-9));
		to_plan_free(plan);
	}
}

/* As in Figure 7: port q of all servers on switch q, one permutation each. */
static void simplex_switches_hold_a_permutation_each(void **state)
{
	struct to_demand *demand = job_new(12);
	struct to_plan *plan;

	(void)state;
	job_group(demand, 0, 1, 12, 100 * MIB);
	plan = job_planned(demand, 4, TO_LINKS_SIMPLEX);
	assert_int_equal(plan->cluster->n_switches, 4);
	assert_int_equal(plan->n_cross_connects, 48);
	for (unsigned int i = 0; i < plan->cluster->n_links; i++) {
		const struct to_link *l = &plan->cluster->links[i];

		assert_int_equal(l->a.port, l->b.port);
		assert_int_equal(l->ring, l->a.port);
	}
	job_verify(plan);
	to_plan_free(plan);
}

static void two_servers(void **state)
{
	(void)state;
	for (unsigned int degree = 1; degree <= 3; degree++) {
		for (unsigned int mode = 0; mode < 2; mode++) {
			struct to_demand *demand = job_new(2);
			struct to_plan *plan;
			struct to_figures f;

			job_group(demand, 0, 1, 2, 30 * MIB);
			job_hot(demand, 0, 6 * MIB);
			plan = job_planned(demand, degree, mode);
			f = job_verify(plan).figures;
			assert_int_equal(f.diameter, 1);
			assert_int_equal(f.links, mode == TO_LINKS_DUPLEX ? degree : 2 * degree);
			/* all links share both */
			assert_true(f.max_link_load <= 1.2 * f.max_link_load_bound);
			to_plan_free(plan);
		}
	}
}

/* As many next hops as the module's tables take. */
static void many_links_share_one_transfer(void **state)
{
	static const unsigned int degrees[] = { 8, 9, 16, TOPOOPT_MAX_NEXTHOPS };

	(void)state;
	for (unsigned int i = 0; i < sizeof(degrees) / sizeof(*degrees); i++) {
		struct to_demand *demand = job_new(2);
		struct to_plan *plan;
		struct to_figures f;

		job_hot(demand, 0, 3000 * MIB);
		plan = job_planned(demand, degrees[i], TO_LINKS_DUPLEX);
		f = job_verify(plan).figures;
		assert_int_equal(f.links, degrees[i]);
		assert_true(f.max_link_load <= 1.02 * f.max_link_load_bound);
		to_plan_free(plan);
	}
}

/* The price of short routes is sought only where longer ones could save something. */
static void no_routes_take_less(void **state)
{
	struct to_demand *demand = job_new(16);
	struct to_plan *plan;
	struct to_figures f;
	double unbounded;

	(void)state;
	job_group(demand, 0, 1, 16, 100 * MIB);
	for (unsigned int i = 0; i < 16 * 16; i++)
		demand->mp[i] = i % 17 ? MIB : 0;
	plan = job_planned(demand, 4, TO_LINKS_DUPLEX);
	assert_int_equal(to_plan_completion_all_predictions(plan, TO_EFFORT_DEFAULT, &f), 0);
	assert_true(plan->least_time <= f.comm_time * (1 + 1e-9));
	assert_true(plan->least_time >= f.comm_time * 0.998);
	unbounded = json_number_value(json_object_get(plan->predictions, "comm_time_unbounded_s"));
	assert_true(unbounded == f.comm_time);
	/* nor what little effort comes to */
	plan->least_time = 0;
	assert_int_equal(to_plan_completion_all_predictions(plan, TO_EFFORT_MIN, &f), 0);
	unbounded = json_number_value(json_object_get(plan->predictions, "comm_time_unbounded_s"));
	assert_true(unbounded <= f.comm_time);
	to_plan_free(plan);
}

static void one_port_cannot_join_three(void **state)
{
	struct to_error err = { "" };

	(void)state;
	assert_null(job_plan(job_new(3), 1, TO_LINKS_DUPLEX, &err));
	assert_string_equal(err.text,
			    "3 servers with up to 1 ports each cannot be connected with duplex links");
}

/* A group that finds no port left still has a ring. */
static void too_many_bytes_are_refused(void **state)
{
	struct to_demand *demand;
	struct to_error err;

	(void)state;
	for (unsigned int more = 0; more < 4; more++) {
		err.text[0] = '\0';
		demand = job_new(3);
		job_group(demand, 0, 1, 3, (1ull << 59) + (more == 1));
		demand->mp[1] = 1ull << 58;
		demand->mp[3] = (1ull << 58) + (more == 2) + (more == 3) * (INT64_MAX >> 1);
		to_plan_free(job_plan(demand, 2, TO_LINKS_DUPLEX, &err));
		assert_string_equal(err.text, more ?
			"the job moves more than 2^60 bytes in an iteration" : "");
	}
}

static void groups_share_the_degree(void **state)
{
	struct to_demand *demand = job_new(16);
	struct to_plan *plan;

	(void)state;
	job_group(demand, 0, 1, 16, 1000 * MIB);
	job_group(demand, 0, 4, 4, 900 * MIB);
	job_group(demand, 1, 4, 4, 900 * MIB);
	job_group(demand, 2, 2, 7, 1);
	plan = job_planned(demand, 4, TO_LINKS_DUPLEX);
	for (unsigned int g = 0; g < 4; g++) {
		unsigned int rings = 0;

		for (unsigned int i = 0; i < plan->n_rings; i++)
			rings += plan->rings[i].group == g;
		for (unsigned int i = 0; i < plan->n_trees; i++)
			rings += plan->trees[i].group == g;
		assert_true(rings >= 1);
	}
	job_verify(plan);
	to_plan_free(plan);
}

/* Most MP bytes have a direct link where that is all there is. */
static void transfers_alone_get_links(void **state)
{
	struct to_demand *demand = job_new(8);
	struct to_plan *plan;
	struct to_figures f;

	(void)state;
	for (unsigned int i = 0; i < 8; i++)
		demand->mp[i * 8 + (i ^ 4)] = 100 * MIB;
	plan = job_planned(demand, 3, TO_LINKS_DUPLEX);
	f = job_verify(plan).figures;
	assert_true(f.bandwidth_tax < 1.5);
	assert_int_equal(plan->n_rings, 0);
	to_plan_free(plan);
}

/* A ring of cables, and a tree with leaves of one port. */
static struct to_cluster *cabled(unsigned int n, const unsigned int (*links)[2],
				 unsigned int n_links, unsigned int degree)
{
	struct to_cluster *c = to_cluster_synthetic(n, degree, 100 * GBPS, TO_LINKS_DUPLEX, NULL);
	unsigned int used[16] = { 0 };

	assert_non_null(c);
	c->links = calloc(n_links, sizeof(*c->links));
	assert_non_null(c->links);
	for (unsigned int i = 0; i < n_links; i++) {
		struct to_link *l = &c->links[c->n_links++];

		l->a = (struct to_port_ref){ links[i][0], used[links[i][0]]++ };
		l->b = (struct to_port_ref){ links[i][1], used[links[i][1]]++ };
		l->ring = -1;
	}
	return c;
}

static struct to_plan *planned_on(struct to_cluster *cluster, struct to_demand *demand)
{
	struct to_planner_knobs options = { .fixed = true, .seed = 1 };
	struct to_error err = { "" };
	struct to_plan *plan = to_planner_make(cluster, demand, &options, &err);

	assert_string_equal(err.text, "");
	assert_non_null(plan);
	return plan;
}

/* Two opposite servers of a ring of four send half of their bytes each way round. */
static void equal_ways_have_equal_weights(void **state)
{
	static const unsigned int ring[][2] = { { 0, 1 }, { 1, 2 }, { 2, 3 }, { 3, 0 } };
	struct to_demand *demand = job_new(4);
	struct to_plan *plan;

	(void)state;
	job_group(demand, 0, 1, 4, 100 * MIB);
	for (unsigned int x = 0; x < 4; x += 2)
		demand->mp[x * 4 + (x + 2) % 4] = 100 * MIB;
	plan = planned_on(cabled(4, ring, 4, 2), demand);
	for (unsigned int x = 0; x < 4; x += 2) {
		const struct to_table *table = &plan->tables[x];
		const struct to_group *group =
			&table->groups[table->route[(x + 2) % 4 * plan->slots]];

		for (unsigned int i = 0; i < 2; i++) {
			assert_true(to_nexthop_primary(&group->nexthops[i]));
			assert_int_equal(group->nexthops[i].weight, 1);
		}
		for (unsigned int i = 2; i < group->n; i++)
			assert_false(to_nexthop_primary(&group->nexthops[i]));
	}
	assert_int_equal(job_verify(plan).figures.max_mp_link_load, 50 * MIB);
	to_plan_free(plan);
}

static void fixed_rings_are_found(void **state)
{
	static const unsigned int ring[][2] = { { 0, 2 }, { 2, 1 }, { 1, 3 }, { 3, 0 } };
	/* Petersen's graph less a server has a Hamiltonian cycle, in no regular order */
	static const unsigned int petersen[][2] = {
		{ 0, 1 }, { 1, 2 }, { 2, 3 }, { 3, 4 }, { 0, 5 }, { 1, 6 }, { 2, 7 }, { 3, 8 },
		{ 5, 7 }, { 7, 4 }, { 4, 6 }, { 6, 8 }, { 8, 5 },
	};
	struct to_demand *demand = job_new(4);
	struct to_layout layout;
	struct to_cluster *c;
	unsigned int owned = 0;
	struct to_plan *plan;

	(void)state;
	job_group(demand, 0, 1, 4, 100 * MIB);
	plan = planned_on(cabled(4, ring, 4, 2), demand);
	assert_int_equal(plan->n_rings, 1);
	assert_int_equal(plan->cluster->links[0].ring, 0);
	assert_true(job_verify(plan).figures.allreduce_time < 0.0064);
	to_plan_free(plan);

	demand = job_new(9);
	job_group(demand, 0, 1, 9, 100 * MIB);
	c = cabled(9, petersen, 13, 3);
	assert_int_equal(to_topology_fixed(c, demand, &layout, NULL), 0);
	assert_int_equal(layout.n_rings, 1);
	assert_int_equal(layout.rings[0].jump, 0);
	for (unsigned int i = 0; i < 13; i++)
		owned += layout.links[i].ring == 0;
	assert_int_equal(owned, 9);
	to_layout_free(&layout);
	/* trees use the four other links too */
	plan = planned_on(c, demand);
	assert_int_equal(plan->n_rings, 0);
	assert_true(plan->n_trees > 1);
	assert_true(job_verify(plan).figures.allreduce_time < 0.67 * 100 * MIB * 8 / 100e9);
	to_plan_free(plan);
}

static void a_leaf_can_be_entered_by_its_only_port(void **state)
{
	static const unsigned int star[][2] = { { 0, 1 }, { 0, 2 }, { 0, 3 } };
	struct to_demand *demand = job_new(4);
	struct to_verify_report report;
	struct to_plan *plan;

	(void)state;
	job_group(demand, 0, 1, 4, 100 * MIB);
	plan = planned_on(cabled(4, star, 3, 3), demand);
	report = job_verify(plan);
	/* server 0's port to a leaf can be entered from that leaf alone */
	assert_int_equal(report.unreachable, 6);
	assert_int_equal(plan->tables[2].route[1 * plan->slots + 1] != TO_GROUP_NONE, 1);
	assert_int_equal(plan->tables[2].route[0 * plan->slots + 1], TO_GROUP_NONE);
	to_plan_free(plan);
}

/* A job on some servers of a fixed fabric is relayed by the others. */
static void fixed_links_must_fit_the_optical_switches(void **state)
{
	struct to_planner_knobs options = { .fixed = true, .seed = 1 };
	struct to_error err = { "" };
	struct to_cluster *cluster = to_cluster_synthetic(2, 2, 100 * GBPS, TO_LINKS_SIMPLEX, &err);

	(void)state;
	cluster->links = calloc(2, sizeof(*cluster->links));
	assert_non_null(cluster->links);
	cluster->n_links = 2;
	cluster->links[0] = (struct to_link){ { 0, 0 }, { 1, 0 }, .ring = -1 };
	cluster->links[1] = (struct to_link){ { 1, 0 }, { 0, 1 }, .ring = -1 };
	assert_null(to_planner_make(cluster, job_new(2), &options, &err));
	assert_string_equal(err.text,
		"link s1:eth0 - s0:eth1 joins ports that are not on one optical switch");
}

static void others_relay_on_fixed_links(void **state)
{
	static const unsigned int ring[][2] = { { 0, 1 }, { 1, 2 }, { 2, 3 }, { 3, 0 } };
	struct to_cluster *cluster = cabled(4, ring, 4, 2);
	struct to_demand *demand = job_new(2);
	struct to_plan *plan;

	(void)state;
	demand->names = calloc(2, sizeof(*demand->names));
	strcpy(demand->names[0], "s3");
	strcpy(demand->names[1], "s1");
	demand->mp[1] = 10 * MIB;
	job_group(demand, 0, 1, 2, 10 * MIB);
	plan = planned_on(cluster, demand);
	assert_int_equal(plan->demand->n, 4);
	assert_int_equal(plan->demand->mp[3 * 4 + 1], 10 * MIB);
	assert_int_equal(plan->demand->groups[0].members[0], 3);
	assert_int_equal(job_verify(plan).figures.diameter, 2);
	to_plan_free(plan);
}

/* Only the servers that the job names, in its order. */
static void a_job_takes_the_servers_it_names(void **state)
{
	struct to_planner_knobs options = { .seed = 1 };
	struct to_cluster *cluster = to_cluster_synthetic(8, 2, 100 * GBPS, TO_LINKS_DUPLEX, NULL);
	struct to_demand *demand = job_new(3);
	struct to_error err = { "" };
	struct to_plan *plan;

	(void)state;
	demand->names = calloc(3, sizeof(*demand->names));
	strcpy(demand->names[0], "s6");
	strcpy(demand->names[1], "s2");
	strcpy(demand->names[2], "s4");
	plan = to_planner_make(cluster, demand, &options, &err);
	assert_string_equal(err.text, "");
	assert_int_equal(plan->cluster->n_servers, 3);
	assert_string_equal(plan->cluster->servers[0].name, "s6");
	assert_int_equal(to_cluster_find_server(plan->cluster, "s4"), 2);
	job_verify(plan);
	to_plan_free(plan);

	cluster = to_cluster_synthetic(8, 2, 100 * GBPS, TO_LINKS_DUPLEX, NULL);
	demand = job_new(2);
	demand->names = calloc(2, sizeof(*demand->names));
	strcpy(demand->names[0], "s1");
	strcpy(demand->names[1], "gpu7");
	assert_null(to_planner_make(cluster, demand, &options, &err));
	assert_string_equal(err.text, "the job's server gpu7 is not in the cluster");
}

static bool same_ring(const struct to_ring *a, const struct to_ring *b)
{
	return a->group == b->group && a->jump == b->jump && a->reverse == b->reverse &&
	       a->n == b->n && a->order != b->order &&
	       !memcmp(a->order, b->order, a->n * sizeof(*a->order));
}

/* A copy of a plan's layout leads to the same plan; one that no switch can have to none. */
static void a_plan_follows_from_its_layout(void **state)
{
	struct to_demand *demand = job_new(8);
	struct to_figures figures, untouched;
	struct to_error err = { "" };
	struct to_layout was, copy;
	struct to_plan *plan;
	json_t *predictions;

	(void)state;
	job_group(demand, 0, 1, 8, 100 * MIB);
	job_hot(demand, 3, MIB);
	plan = job_planned(demand, 3, TO_LINKS_SIMPLEX);
	was = to_plan_layout(plan);
	assert_true(was.n_rings > 0);
	assert_int_equal(to_layout_copy(&copy, &was), 0);
	assert_int_equal(copy.n_links, was.n_links);
	assert_memory_equal(copy.links, was.links, was.n_links * sizeof(*was.links));
	assert_int_equal(copy.n_rings, was.n_rings);
	for (unsigned int i = 0; i < was.n_rings; i++)
		assert_true(same_ring(&copy.rings[i], &was.rings[i]));

	predictions = json_incref(plan->predictions);
	assert_int_equal(to_plan_completion_fill(plan, &copy, TO_EFFORT_DEFAULT, &figures, &err), 0);
	assert_null(copy.links);
	assert_int_equal(copy.n_rings, 0);
	assert_true(json_equal(predictions, plan->predictions));
	json_decref(predictions);
	job_verify(plan);

	was = to_plan_layout(plan);
	assert_int_equal(to_layout_copy(&copy, &was), 0);
	copy.links[0].b.port = (copy.links[0].a.port + 1) % 3;
	memset(&figures, 0xa5, sizeof(figures));
	untouched = figures;
	assert_int_equal(to_plan_completion_fill(plan, &copy, TO_EFFORT_DEFAULT, &figures, &err),
			 -EINVAL);
	assert_non_null(strstr(err.text, "joins ports that are not on one optical switch"));
	assert_memory_equal(&figures, &untouched, sizeof(figures));
	assert_null(plan->tables);
	assert_null(plan->predictions);
	assert_null(copy.links);
	to_plan_free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_prototype),
		cmocka_unit_test(dlrm),
		cmocka_unit_test(rings_are_routed_by_coin_change),
		cmocka_unit_test(rings_do_not_repeat),
		cmocka_unit_test(equal_ways_have_equal_weights),
		cmocka_unit_test(simplex_switches_hold_a_permutation_each),
		cmocka_unit_test(two_servers),
		cmocka_unit_test(many_links_share_one_transfer),
		cmocka_unit_test(no_routes_take_less),
		cmocka_unit_test(one_port_cannot_join_three),
		cmocka_unit_test(too_many_bytes_are_refused),
		cmocka_unit_test(groups_share_the_degree),
		cmocka_unit_test(transfers_alone_get_links),
		cmocka_unit_test(fixed_rings_are_found),
		cmocka_unit_test(a_leaf_can_be_entered_by_its_only_port),
		cmocka_unit_test(fixed_links_must_fit_the_optical_switches),
		cmocka_unit_test(others_relay_on_fixed_links),
		cmocka_unit_test(a_job_takes_the_servers_it_names),
		cmocka_unit_test(a_plan_follows_from_its_layout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
