// SPDX-License-Identifier: GPL-2.0-or-later
/* Link loads against following every byte through the tables. */

#include <math.h>

#include "base/file.h"
#include "base/limits.h"
#include "format/demand_json.h"
#include "job.h"
#include "routing/busy_time.h"
#include "routing/source_routes.h"

#define PORTS 6

/* Bytes out of every port, [server * PORTS + port]. */
static double sent[16 * PORTS];

/* Follow @bytes from @src, now at @at, and split them as its table says. */
static void follow(const struct to_plan *plan, uint32_t at, uint32_t src, uint32_t dst,
		   double bytes)
{
	const struct to_table *table = &plan->tables[at];
	const struct to_group *group = &table->groups[table->route[dst * plan->slots]];
	double weights = 0;

	if (at == dst || bytes <= 0)
		return;
	for (unsigned int i = 0; i < table->n_pairs; i++)
		if (table->pairs[i].src == src && table->pairs[i].dst == dst &&
		    table->pairs[i].slot == 0)
			group = &table->groups[table->pairs[i].group];
	for (unsigned int i = 0; i < group->n; i++)
		weights += to_nexthop_primary(&group->nexthops[i]) ? group->nexthops[i].weight : 0;
	for (unsigned int i = 0; i < group->n; i++) {
		struct to_port_ref out = { at, group->nexthops[i].port }, in;
		double part = bytes * group->nexthops[i].weight / weights;

		if (!to_nexthop_primary(&group->nexthops[i]))
			continue;
		sent[at * PORTS + out.port] += part;
		assert_int_equal(to_plan_peer(plan, out, &in), 0);
		follow(plan, in.server, src, dst, part);
	}
}

/* The same demand as if it had been measured: what is in @sent, and as long as @most takes. */
static void measured(const struct to_plan *plan, double most)
{
	struct to_busy_time busy, moved;
	double *load, seconds;

	assert_int_equal(to_busy_time_init(&busy, plan), 0);
	moved = busy;	/* it may be copied */
	load = calloc(busy.graph->n_arcs, sizeof(*load));
	assert_int_equal(to_busy_time_of(&moved, plan->demand, load, &seconds), 0);
	for (uint32_t a = 0; a < busy.graph->n_arcs; a++) {
		double bytes = sent[busy.graph->from[a] * PORTS + busy.graph->port[a]];

		/* shares are floats */
		assert_true(fabs(load[a] - bytes) <= 1e-5 * bytes + 64);
	}
	assert_true(fabs(seconds - most * 8 / 100e9) <= 1e-5 * seconds + 1e-8);
	free(load);
	to_busy_time_free(&moved);
}

/* One hop of a tree without links of its own, on all links there. Returns how many. */
static unsigned int hop_direct(const struct to_plan *plan, uint32_t x, uint32_t y, double bytes,
			       bool send)
{
	bool duplex = plan->cluster->link_mode == TO_LINKS_DUPLEX;
	unsigned int links = 0, all = send ? hop_direct(plan, x, y, bytes, false) : 0;

	for (unsigned int i = 0; i < plan->cluster->n_links; i++) {
		struct to_port_ref a = plan->cluster->links[i].a, b = plan->cluster->links[i].b;
		bool forth = a.server == x && b.server == y;

		if (!forth && !(duplex && a.server == y && b.server == x))
			continue;
		links++;
		if (send)
			sent[x * PORTS + (forth ? a : b).port] += bytes / all;
	}
	return links;
}

/* One hop of a ring or tree, on its own link or as the tables say. */
static void hop(const struct to_plan *plan, int ring, int tree, uint32_t x, uint32_t y,
		double bytes)
{
	bool duplex = plan->cluster->link_mode == TO_LINKS_DUPLEX;

	for (unsigned int i = 0; i < plan->cluster->n_links; i++) {
		const struct to_link *l = &plan->cluster->links[i];

		if (l->ring != ring || l->tree != tree)
			continue;
		if (l->a.server == x && l->b.server == y) {
			sent[x * PORTS + l->a.port] += bytes;
			return;
		}
		if (duplex && l->b.server == x && l->a.server == y) {
			sent[x * PORTS + l->b.port] += bytes;
			return;
		}
	}
	for (unsigned int i = 0; tree >= 0 && i < plan->cluster->n_links; i++)
		assert_int_not_equal(plan->cluster->links[i].tree, tree);
	if (tree < 0 || !hop_direct(plan, x, y, bytes, true))
		follow(plan, x, x, y, bytes);
}

static void loads_are_what_the_tables_do(void **state)
{
	unsigned int on_trees = 0;
	uint64_t random = 17;

	(void)state;
	for (unsigned int round = 0; round < 200; round++) {
		unsigned int n = 2 + to_random_below(&random, 12), degree = 2 + to_random_below(&random, 4);
		enum to_link_mode mode = to_random_below(&random, 2);
		struct to_demand *demand_of = job_random(n, &random);
		struct to_error err = { "" };
		struct to_plan *plan = NULL;
		const struct to_demand *d;
		double most = 0, all = 0, demand = 0;
		struct to_figures f;

		/* some on trees, where they fit */
		if (round % 2)
			plan = job_plan_family(to_demand_copy(demand_of), degree, mode,
					       &to_family_double_tree, &err);
		if (plan) {
			to_demand_free(demand_of);
			on_trees++;
		} else {
			plan = job_plan_any(demand_of, degree, mode, &err);
		}
		assert_non_null(plan);
		d = plan->demand;
		memset(sent, 0, sizeof(sent));
		for (uint32_t x = 0; x < n; x++) {
			for (uint32_t y = 0; y < n; y++) {
				follow(plan, x, x, y, d->mp[x * n + y]);
				demand += d->mp[x * n + y];
			}
		}
		for (unsigned int g = 0; g < d->n_groups; g++) {
			unsigned int directions = 0, members = d->groups[g].n_members;

			demand += 2.0 * (members - 1) * d->groups[g].bytes;
			for (unsigned int i = 0; i < plan->n_rings; i++)
				if (plan->rings[i].group == g)
					directions += 1 + plan->rings[i].reverse;
			for (unsigned int i = 0; i < plan->n_rings; i++) {
				const struct to_ring *ring = &plan->rings[i];
				double bytes = 2.0 * (members - 1) / members * d->groups[g].bytes / directions;

				for (unsigned int k = 0; ring->group == g && k < ring->n; k++) {
					uint32_t x = ring->order[k], y = ring->order[(k + 1) % ring->n];

					hop(plan, i, -1, x, y, bytes);
					if (ring->reverse)
						hop(plan, i, -1, y, x, bytes);
				}
			}
			for (unsigned int i = 0; i < plan->n_trees; i++) {
				const struct to_allreduce_tree *tree = &plan->trees[i];

				for (unsigned int k = 0; tree->group == g && k < members; k++) {
					uint32_t x = d->groups[g].members[k], y = tree->parents[k];

					if (y == TO_SERVER_NONE)
						continue;
					hop(plan, -1, i, x, y, d->groups[g].bytes * tree->share);
					hop(plan, -1, i, y, x, d->groups[g].bytes * tree->share);
				}
			}
		}
		for (unsigned int i = 0; i < n * PORTS; i++) {
			most = sent[i] > most ? sent[i] : most;
			all += sent[i];
		}
		f = job_verify(plan).figures;
		/* routed rings are counted in whole bytes */
		assert_true(fabs(f.max_link_load - most) <= 1e-6 * most + 64);
		assert_true(fabs(f.comm_time - most * 8 / 100e9) <= 1e-6 * most * 8 / 100e9 + 1e-8);
		if (demand > 0)
			assert_true(fabs(f.bandwidth_tax - all / demand) < 1e-4);
		measured(plan, most);
		to_plan_free(plan);
	}
	assert_true(on_trees > 10);
}

static unsigned int turned, round_again;	/* packets on alternates, and to the right port */

/* Out of port @out of @at. */
static void leave(const struct to_plan *plan, uint32_t at, unsigned int out, uint32_t dst,
		  unsigned int slot, double bytes);

/* RDMA for port @slot - 1 of @dst has arrived at port @in of @at. */
static void arrive(const struct to_plan *plan, uint32_t at, unsigned int in, uint32_t dst,
		   unsigned int slot, double bytes)
{
	const struct to_table *table = &plan->tables[at];
	uint16_t route = table->route[dst * plan->slots + slot];
	const struct to_group *group;
	struct to_port_ref peer;
	double weights = 0;

	if (at == dst) {
		if (in != slot - 1 &&
		    !to_plan_peer(plan, (struct to_port_ref){ dst, slot - 1 }, &peer)) {
			round_again++;
			leave(plan, dst, slot - 1, dst, slot, bytes);
		}
		return;
	}
	if (route == TO_GROUP_NONE)
		return;
	group = &table->groups[route];
	for (unsigned int i = 0; i < group->n; i++) {
		if (group->nexthops[i].ingress == in + 1) {
			turned++;
			leave(plan, at, group->nexthops[i].port, dst, slot, bytes);
			return;
		}
		if (to_nexthop_primary(&group->nexthops[i]))
			weights += group->nexthops[i].weight;
	}
	for (unsigned int i = 0; i < group->n; i++)
		if (to_nexthop_primary(&group->nexthops[i]))
			leave(plan, at, group->nexthops[i].port, dst, slot,
			      bytes * group->nexthops[i].weight / weights);
}

static void leave(const struct to_plan *plan, uint32_t at, unsigned int out, uint32_t dst,
		  unsigned int slot, double bytes)
{
	struct to_port_ref in;

	sent[at * PORTS + out] += bytes;
	assert_int_equal(to_plan_peer(plan, (struct to_port_ref){ at, out }, &in), 0);
	arrive(plan, in.server, in.port, dst, slot, bytes);
}

/* Queue pairs on all ports of their servers: what they load is what packets do. */
static void rdma_leaves_by_its_own_port(void **state)
{
	uint64_t random = 29;

	(void)state;
	for (unsigned int round = 0; round < 100; round++) {
		unsigned int n = 3 + to_random_below(&random, 8), degree = 2 + to_random_below(&random, 3);
		struct to_error err = { "" };
		struct to_plan *plan = job_plan_any(job_random(n, &random), degree,
						    to_random_below(&random, 2), &err);
		struct to_port_ref peer;
		double most = 0;
		struct to_figures f;

		assert_string_equal(err.text, "");
		memset(sent, 0, sizeof(sent));
		for (uint32_t x = 0; x < n; x++) {
			unsigned int lit = 0;

			for (unsigned int p = 0; p < degree; p++)
				lit += !to_plan_peer(plan, (struct to_port_ref){ x, p }, &peer);
			for (uint32_t y = 0; y < n; y++)
				for (unsigned int q = 0; q < degree; q++) {
					double share = plan->port_shares[(x * n + y) * degree + q];
					double bytes = plan->demand->mp[x * n + y] * share / TO_PORT_SHARES;

					for (unsigned int p = 0; p < degree && bytes > 0; p++)
						if (!to_plan_peer(plan, (struct to_port_ref){ x, p }, &peer))
							leave(plan, x, p, y, 1 + q, bytes / lit);
				}
		}
		for (unsigned int i = 0; i < n * PORTS; i++)
			most = sent[i] > most ? sent[i] : most;
		assert_int_equal(to_predict_plan(plan, &f), 0);
		assert_true(fabs(f.max_mp_link_load_rdma_ports - most) <= 1e-9 * most);
		to_plan_free(plan);
	}
	assert_true(turned && round_again);
}

/* Four servers in a ring: everything by hand. */
/* Two functions on each cable are two links to one neighbour, not two neighbours. */
static void degree_counts_cables(void **state)
{
	struct to_error err = { "" };
	struct to_cluster *c = to_cluster_synthetic(4, 4, 100 * GBPS, TO_LINKS_DUPLEX, &err);
	const struct to_planner_knobs options = { .fixed = true, .seed = 1 };
	struct to_demand *demand = job_new(4);
	struct to_figures apart, shared;
	struct to_plan *plan;

	(void)state;
	job_group(demand, 0, 1, 4, MIB);
	c->links = calloc(8, sizeof(*c->links));
	assert_non_null(c->links);
	for (uint32_t x = 0; x < 4; x++)
		for (unsigned int f = 0; f < 4; f += 2)
			c->links[c->n_links++] = (struct to_link){
				.a = { x, f }, .b = { (x + 1) % 4, f + 1 }, .ring = -1, .tree = -1 };
	plan = to_planner_make(c, demand, &options, &err);
	assert_string_equal(err.text, "");
	apart = job_verify(plan).figures;
	for (uint32_t x = 0; x < 4; x++)
		for (unsigned int q = 0; q < 4; q++)
			strcpy(c->servers[x].ports[q].cable, q % 2 ? "p1" : "p0");
	assert_int_equal(to_predict_plan(plan, &shared), 0);
	assert_int_equal(apart.degree, 4);
	assert_int_equal(apart.diameter_bound, 1);
	assert_int_equal(shared.degree, 2);
	assert_int_equal(shared.ports, 4);
	assert_int_equal(shared.reach, 2);
	assert_int_equal(shared.diameter_bound, 2);
	assert_true(fabs(shared.mean_hops_bound - 4.0 / 3) < 1e-9);
	assert_true(shared.comm_time == apart.comm_time);
	to_plan_free(plan);
}

static void a_ring_of_four(void **state)
{
	struct to_demand *demand = job_new(4);
	struct to_error err = { "" };
	struct to_plan *plan;
	struct to_figures f;

	(void)state;
	job_group(demand, 0, 1, 4, 1024 * MIB);
	demand->mp[0 * 4 + 2] = demand->mp[2 * 4 + 0] = 32 * MIB;
	demand->mp[1 * 4 + 3] = demand->mp[3 * 4 + 1] = 32 * MIB;
	plan = job_plan(demand, 2, TO_LINKS_DUPLEX, &err);
	assert_string_equal(err.text, "");
	f = job_verify(plan).figures;
	assert_int_equal(f.diameter, 2);
	assert_int_equal(f.diameter_bound, 2);
	assert_true(fabs(f.mean_hops - 4.0 / 3) < 1e-9);
	assert_true(fabs(f.mean_hops_bound - 4.0 / 3) < 1e-9);
	/* those that have a transfer are opposite */
	assert_int_equal(f.hops.mp.most, 2);
	assert_true(fabs(f.hops.mp.mean - 2) < 1e-6);
	assert_int_equal((f.hops.mp.src + 2) % 4, f.hops.mp.dst);
	assert_int_equal(f.hops.all.most, 2);
	assert_true(fabs(f.hops.all.mean - 4.0 / 3) < 1e-6);
	assert_int_equal(f.hops.allreduce.most, 1);
	assert_true(fabs(f.hops.allreduce.mean - 1) < 1e-6);
	/* into the far port of a neighbour it is the long way round */
	assert_int_equal(f.hops.ports.most, 3);
	assert_true(fabs(f.hops.ports.mean - 2) < 1e-6);
	assert_int_not_equal(f.hops.ports.slot, 0);
	/* 2 * 3/4 * 1024 MiB over two directions */
	assert_true(fabs(f.allreduce_time - 768 * MIB * 8 / 100e9) < 1e-9);
	assert_true(f.allreduce_time == f.allreduce_time_bound);
	/* half of each transfer one way round: 4 transfers, 2 hops, 8 arcs */
	assert_int_equal(f.max_mp_link_load, 32 * MIB);
	assert_int_equal(f.max_link_load, 800 * MIB);
	to_plan_free(plan);
}

/* Figures of a cluster without links: what is left are the bounds. Takes @demand. */
static struct to_figures bounds(struct to_demand *demand, unsigned int degree,
				enum to_link_mode mode)
{
	struct to_plan *plan = calloc(1, sizeof(*plan));
	struct to_forwarding f = { 0 };
	struct to_figures figures;
	struct to_graph *graph;

	assert_non_null(plan);
	assert_non_null(demand);
	plan->demand = demand;
	plan->cluster = to_cluster_synthetic(demand->n, degree, 100 * GBPS, mode, NULL);
	assert_non_null(plan->cluster);
	assert_int_equal(to_plan_alloc_tables(plan), 0);
	assert_int_equal(to_plan_index(plan), 0);
	graph = to_graph_new(demand->n, NULL, 0, mode);
	assert_non_null(graph);
	assert_int_equal(to_forwarding_init(&f, plan, graph), 0);
	assert_int_equal(to_predict_figures(&f, &figures), 0);
	to_forwarding_free(&f);
	to_graph_free(graph);
	to_plan_free(plan);
	return figures;
}

/* By hand from host egress, or from byte-hops on Moore distances over N d links. */
static void jobs_have_the_known_bounds(void **state)
{
	static const struct {
		const char *job;
		unsigned int degree;
		double mib;
	} known[] = {
		{ "examples/jobs/dlrm-16.json", 4, 144 }, { "examples/jobs/dlrm-16.json", 6, 96 },
		{ "examples/jobs/hybrid-128.json", 4, 3200 },
		{ "examples/jobs/hybrid-128.json", 8, 1094 },
		{ "examples/jobs/hybrid-432.json", 8, 1976 },
		{ "examples/jobs/hybrid-1024.json", 8, 4344 },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(known) / sizeof(*known); i++) {
		struct to_figures f = bounds(to_demand_load(known[i].job, TO_SERVERS_USUAL, NULL), known[i].degree,
					     TO_LINKS_DUPLEX);

		assert_true(fabs(f.max_mp_link_load_bound / MIB - known[i].mib) < 0.5);
	}
}

/* Every server sends 7, 6, ... 1 bytes to others, of which the larger go near. */
static void byte_hops_bound_the_load(void **state)
{
	static const struct {
		enum to_link_mode mode;
		double load, hops;
	} known[] = {
		/* 2, 2, 2 and 1 servers at 1 to 4 hops */
		{ TO_LINKS_DUPLEX, (7 + 6 + 2 * (5 + 4) + 3 * (3 + 2) + 4 * 1) / 2., 16 / 7. },
		/* 2, 4 and 1 */
		{ TO_LINKS_SIMPLEX, (7 + 6 + 2 * (5 + 4 + 3 + 2) + 3 * 1) / 2., 13 / 7. },
	};

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct to_demand *demand = job_new(8);
		struct to_figures f;

		for (unsigned int x = 0; x < 8; x++)
			for (unsigned int k = 1; k < 8; k++)
				demand->mp[x * 8 + (x + 3 * k) % 8] = k;
		f = bounds(demand, 2, known[i].mode);
		assert_true(fabs(f.max_mp_link_load_bound - known[i].load) < 1e-9);
		assert_true(fabs(f.mean_hops_bound - known[i].hops) < 1e-9);
		assert_true(fabs(f.bandwidth_tax_bound - 2 * known[i].load / 28) < 1e-9);
	}
}

/* One server takes all: no topology gives it more ports. */
static void ingress_bounds_the_load(void **state)
{
	struct to_demand *demand = job_new(6);
	struct to_figures f;

	(void)state;
	for (unsigned int x = 1; x < 6; x++)
		demand->mp[x * 6] = 30;
	job_group(demand, 0, 1, 4, 100);
	f = bounds(demand, 3, TO_LINKS_DUPLEX);
	assert_true(fabs(f.max_mp_link_load_bound - 50) < 1e-9);
	/* as the leaf of a tree it sends 100 to be reduced and gets 100 back */
	assert_true(fabs(f.max_link_load_bound - (150 + 100) / 3.) < 1e-9);
	assert_true(fabs(f.comm_time_bound - (150 + 100) * 8 / 300e9) < 1e-18);
}

static struct to_plan *plan_tor(void)
{
	struct to_error err = { 0 };
	struct to_plan *plan;
	char *text;
	size_t len;

	assert_int_equal(to_file_read("selftests/unit/formats/plan-tor.json", TO_FILE_MAX, &text, &len,
				      &err), 0);
	plan = to_plan_parse(text, len, "plan-tor", &err);
	assert_string_equal(err.text, "");
	free(text);
	return plan;
}

/* a's eth0 has two links: tables say by which, with a peer. */
static void next_hop_is_a_port_and_a_peer(void **state)
{
	struct to_plan *plan = plan_tor();
	const struct to_cluster *c = plan->cluster;
	struct to_graph *g = to_graph_new(c->n_servers, c->links, c->n_links, c->link_mode);
	struct to_forwarding f;

	(void)state;
	assert_int_equal(to_forwarding_init(&f, plan, g), 0);
	to_forwarding_resolve(&f, 2, 0);
	assert_int_equal(f.n_reached, 3);
	for (uint32_t x = 0; x < 2; x++) {
		uint64_t next = f.next[x];
		uint32_t a = g->out[x] + __builtin_ctzll(next);

		assert_int_equal(__builtin_popcountll(next), 1);
		assert_int_equal(g->port[a], 0);
		assert_int_equal(g->to[a], 2);
	}
	/* b by the packet switch and by the cable */
	to_forwarding_resolve(&f, 1, 0);
	assert_int_equal(__builtin_popcountll(f.next[0]), 2);
	/* the backup of a group is another peer by the same port */
	assert_int_equal(__builtin_popcountll(f.live[f.first_group[0] + 2]), 1);
	assert_int_equal(__builtin_popcountll(f.spare[f.first_group[0] + 2]), 1);
	assert_int_not_equal(f.live[f.first_group[0] + 2], f.spare[f.first_group[0] + 2]);
	to_forwarding_free(&f);
	to_graph_free(g);
	to_plan_free(plan);
}

/*
 * c, at 10 Gbit/s, gets 1000 bytes from a and 3000 from b by one port, more than any link
 * carries: 3600 of 5400 bytes to b are on the cable.
 */
static void port_on_a_packet_switch_is_busy_with_all_its_links(void **state)
{
	struct to_plan *plan = plan_tor();
	struct to_busy_time busy;
	struct to_figures f;
	double seconds;

	(void)state;
	assert_int_equal(to_predict_plan_flows(plan, &f), 0);
	assert_true(fabs(f.max_mp_link_load - 4000) < 1e-9);
	assert_true(fabs(f.max_link_load - 4000) < 1e-9);
	assert_true(fabs(f.comm_time - 4000 * 8 / 10e9) < 1e-15);
	/* however the flows to b fall, c gets its bytes */
	assert_true(f.max_mp_link_load_flows[0].mean >= 4000 - 1e-9);
	assert_int_equal(to_busy_time_init(&busy, plan), 0);
	assert_int_equal(to_busy_time_of(&busy, plan->demand, NULL, &seconds), 0);
	assert_true(fabs(seconds - 4000 * 8 / 10e9) < 1e-12);
	to_busy_time_free(&busy);
	to_plan_free(plan);
}

/*
 * b sends a 6000 bytes by its port on the packet switch, and 6000 to c: the port gets rid
 * of the former by the cable, which no link's own load asks for.
 */
static void crowded_port_is_relieved(void **state)
{
	struct to_plan *plan = plan_tor();
	struct to_cluster *c = plan->cluster;
	struct to_graph *g = to_graph_new(c->n_servers, c->links, c->n_links, c->link_mode);
	struct to_figures f;

	(void)state;
	memset(plan->demand->mp, 0, 9 * sizeof(*plan->demand->mp));
	c->servers[2].ports[0].bandwidth = 100 * GBPS;
	plan->demand->mp[1 * 3 + 0] = plan->demand->mp[1 * 3 + 2] = 6000;
	assert_int_equal(to_predict_plan(plan, &f), 0);
	assert_true(fabs(f.max_mp_link_load - 12000) < 1e-9);
	assert_int_equal(to_source_routes_relieve(plan, g), 0);
	assert_int_equal(to_predict_plan(plan, &f), 0);
	assert_true(fabs(f.max_mp_link_load - 6000) < 1e-9);
	to_graph_free(g);
	to_plan_free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loads_are_what_the_tables_do),
		cmocka_unit_test(rdma_leaves_by_its_own_port),
		cmocka_unit_test(a_ring_of_four),
		cmocka_unit_test(degree_counts_cables),
		cmocka_unit_test(jobs_have_the_known_bounds),
		cmocka_unit_test(byte_hops_bound_the_load),
		cmocka_unit_test(ingress_bounds_the_load),
		cmocka_unit_test(next_hop_is_a_port_and_a_peer),
		cmocka_unit_test(port_on_a_packet_switch_is_busy_with_all_its_links),
		cmocka_unit_test(crowded_port_is_relieved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
