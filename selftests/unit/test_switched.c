// SPDX-License-Identifier: GPL-2.0-or-later
/* Plans for fabrics with packet switches: BCube, rails, a ToR beside cables. */

#include <errno.h>
#include <math.h>

#include "job.h"

#include "data/port_loads.h"
#include "routing/link_loads.h"
#include "routing/queue_pairs.h"
#include "simulate/simulate.h"
#include "topology/switched.h"

static struct to_cluster *bcube_new(unsigned int n, unsigned int k)
{
	struct to_error err = { "" };
	struct to_bcube bcube;
	struct to_cluster *c;

	assert_int_equal(to_bcube_init(&bcube, n, k, &err), 0);
	c = to_cluster_synthetic(bcube.servers, k, 0, TO_LINKS_DUPLEX, &err);
	assert_non_null(c);
	assert_int_equal(to_switched_bcube(c, &bcube, &err), 0);
	return c;
}

static struct to_plan *fixed_plan(struct to_cluster *cluster, struct to_demand *demand)
{
	const struct to_planner_knobs options = { .fixed = true, .seed = 1 };
	struct to_error err = { "" };
	struct to_plan *plan = to_planner_make(cluster, demand, &options, &err);

	assert_string_equal(err.text, "");
	assert_non_null(plan);
	return plan;
}

static struct to_demand *all_to_all(unsigned int n, uint64_t bytes)
{
	struct to_demand *demand = job_new(n);

	for (unsigned int i = 0; i < n * n; i++)
		demand->mp[i] = i % (n + 1) ? bytes : 0;
	return demand;
}

/* Switches hold the servers that differ in one digit; addresses say the digits. */
static void bcube_digits(void **state)
{
	struct to_cluster *c = bcube_new(3, 2);

	(void)state;
	assert_int_equal(c->n_packet_switches, 6);
	assert_int_equal(c->n_switches, 0);
	for (uint32_t x = 0; x < 9; x++) {
		const struct to_packet_switch *on[2] = {
			to_port_packet_switch(c, &c->servers[x].ports[0]),
			to_port_packet_switch(c, &c->servers[x].ports[1]) };
		char name[2][TO_NAME_MAX];

		snprintf(name[0], TO_NAME_MAX, "sw0.%u", x / 3);
		snprintf(name[1], TO_NAME_MAX, "sw1.%u", x % 3);
		assert_string_equal(on[0]->name, name[0]);
		assert_string_equal(on[1]->name, name[1]);
		assert_int_equal(ntohl(c->servers[x].address.v4.s_addr),
				 10 << 24 | 200 << 16 | (x / 3 + 1) << 8 | (x % 3 + 1));
		assert_int_equal(ntohl(c->servers[x].ports[1].address.v4.s_addr),
				 10 << 24 | 202 << 16 | (x / 3 + 1) << 8 | (x % 3 + 1));
		assert_int_equal(c->servers[x].ports[0].optical_switch, -1);
	}
	to_cluster_free(c);
}

static void too_wide(void **state)
{
	struct to_error err = { "" };
	struct to_cluster *c = to_cluster_synthetic(66, 1, 0, TO_LINKS_DUPLEX, &err);

	(void)state;
	assert_int_equal(to_switched_rails(c, &err), -ERANGE);
	assert_string_equal(err.text, "1 ports on switches of 66: a server reaches 65 ports at one hop, it may reach 64");
	to_cluster_free(c);
}

/* All ports carry 4 neighbours' bytes and twice those of 4 more, over two. */
static void bcube_all_to_all(void **state)
{
	struct to_plan *plan = fixed_plan(bcube_new(3, 2), all_to_all(9, MIB));
	struct to_verify_report report = job_verify(plan);

	(void)state;
	assert_int_equal(plan->cluster->n_links, 18);
	assert_true(report.figures.max_mp_link_load >= 6 * MIB * 0.999999);
	assert_true(report.figures.max_mp_link_load <= 6 * MIB * 1.02);
	assert_true(report.figures.max_mp_link_load_bound >= 6 * MIB * 0.999999);
	assert_int_equal(report.figures.diameter, 2);
	assert_int_equal(report.figures.diameter_bound, 2);
	assert_int_equal(report.links.cases, 0);
	assert_true(report.switches.cases > 0);
	assert_int_equal(report.switches.uncovered, 0);
	/* covered where the port was the sender's own, lost where packets came in by it */
	assert_int_equal(report.ports.covered, 288);
	assert_int_equal(report.ports.uncovered, 504);
	to_plan_free(plan);
}

/* Rings load both ports of each server alike: as soon done as BML, 2(N - 1)/(kN). */
static void bcube_allreduce(void **state)
{
	struct to_demand *demand = job_new(9);
	struct to_verify_report report;
	struct to_plan *plan;

	(void)state;
	job_group(demand, 0, 1, 9, 900 * MIB);
	plan = fixed_plan(bcube_new(3, 2), demand);
	report = job_verify(plan);
	assert_true(report.figures.max_link_load >= 800 * MIB * 0.999999);
	assert_true(report.figures.max_link_load <= 800 * MIB * 1.000001);
	to_plan_free(plan);
}

/* Two servers on each of two switches, which a third server's two ports join. */
static void one_relay(void **state)
{
	struct to_error err = { "" };
	struct to_cluster *c = to_cluster_synthetic(5, 2, 0, TO_LINKS_DUPLEX, &err);
	struct to_demand *demand = job_new(5);
	struct to_verify_report report;
	struct to_plan *plan;

	(void)state;
	c->packet_switches = calloc(2, sizeof(*c->packet_switches));
	c->n_packet_switches = 2;
	for (unsigned int i = 0; i < 2; i++) {
		snprintf(c->packet_switches[i].name, TO_NAME_MAX, "tor%u", i);
		c->packet_switches[i].n_ports = 3;
	}
	for (uint32_t x = 0; x < 5; x++) {
		for (unsigned int q = 0; q < 2; q++)
			c->servers[x].ports[q].optical_switch = -1;
		c->servers[x].ports[0].packet_switch = x < 2 ? 1 : 2;
	}
	c->servers[4].ports[1].packet_switch = 1;
	demand->mp[0 * 5 + 2] = 3 * MIB;
	demand->mp[1 * 5 + 3] = 5 * MIB;
	plan = fixed_plan(c, demand);
	report = job_verify(plan);
	/* through the relay's port, which no link's load alone is */
	assert_int_equal(report.figures.max_mp_link_load, 8 * MIB);
	assert_true(report.ports.disconnected > 0);
	assert_int_equal(report.switches.uncovered, 0);
	to_plan_free(plan);
}

/*
 * s0 reaches s4 by s1 and s2 through one port, by s3 through the other: half of it leaves by
 * each, not a third by each link.
 */
static void by_port(void **state)
{
	struct to_error err = { "" };
	struct to_cluster *c = to_cluster_synthetic(5, 3, 0, TO_LINKS_DUPLEX, &err);
	struct to_demand *demand = job_new(5);
	struct to_verify_report report;
	struct to_plan *plan;

	(void)state;
	c->packet_switches = calloc(2, sizeof(*c->packet_switches));
	c->links = calloc(3, sizeof(*c->links));
	c->n_packet_switches = 2;
	strcpy(c->packet_switches[0].name, "left");
	strcpy(c->packet_switches[1].name, "right");
	c->packet_switches[0].n_ports = c->packet_switches[1].n_ports = 3;
	for (uint32_t x = 0; x < 5; x++)
		for (unsigned int q = 0; q < 3; q++)
			c->servers[x].ports[q].optical_switch = -1;
	for (uint32_t x = 0; x < 3; x++)
		c->servers[x].ports[0].packet_switch = 1;
	c->servers[0].ports[1].packet_switch = c->servers[3].ports[0].packet_switch = 2;
	for (uint32_t x = 1; x < 4; x++)
		c->links[c->n_links++] = (struct to_link){ .a = { x, 2 }, .b = { 4, x - 1 },
							   .ring = -1, .tree = -1 };
	demand->mp[0 * 5 + 4] = 64 * MIB;
	plan = fixed_plan(c, demand);
	report = job_verify(plan);
	assert_true(report.figures.max_mp_link_load >= 32 * MIB * 0.999999);
	assert_true(report.figures.max_mp_link_load <= 32 * MIB * 1.02);
	to_plan_free(plan);
}

/* Cables and packet switches at random: no violation, and what dies is gone round. */
static void random_fabrics(void **state)
{
	uint64_t random = 7, cases = 0, uncovered = 0;

	(void)state;
	for (unsigned int i = 0; i < 40; i++) {
		unsigned int n = 4 + to_random_below(&random, 6), switches = 1 + to_random_below(&random, 3);
		struct to_error err = { "" };
		struct to_cluster *c = to_cluster_synthetic(n, 4, 0, TO_LINKS_DUPLEX, &err);
		struct to_verify_report report;
		struct to_plan *plan;

		c->packet_switches = calloc(switches, sizeof(*c->packet_switches));
		c->n_packet_switches = switches;
		for (unsigned int k = 0; k < switches; k++) {
			snprintf(c->packet_switches[k].name, TO_NAME_MAX, "p%u", k);
			c->packet_switches[k].n_ports = n;
		}
		c->links = calloc(n, sizeof(*c->links));
		for (uint32_t x = 0; x < n; x++) {
			for (unsigned int q = 0; q < 4; q++)
				c->servers[x].ports[q].optical_switch = -1;
			/* a ring of cables; other ports on switches or dark */
			c->links[c->n_links++] = (struct to_link){ .a = { x, 0 }, .b = { (x + 1) % n, 1 },
								   .ring = -1, .tree = -1 };
			for (unsigned int k = 0; k < switches && k < 2; k++)
				c->servers[x].ports[2 + k].packet_switch =
					to_random_below(&random, 3) ? 1 + (k + x) % 2 % switches : 0;
			if (c->servers[x].ports[2].packet_switch == c->servers[x].ports[3].packet_switch)
				c->servers[x].ports[3].packet_switch = 0;
		}
		plan = fixed_plan(c, job_random(n, &random));
		report = job_verify(plan);
		cases += report.switches.cases + report.links.cases;
		uncovered += report.switches.uncovered + report.links.uncovered;
		to_plan_free(plan);
	}
	assert_true(cases > 1000);
	print_message("%lu of %lu cases not covered\n", (unsigned long)uncovered, (unsigned long)cases);
	assert_true(uncovered * 100 < cases);
}

/* On the switch of the port it is for: that port. Else a server that is nearest, never the
 * one that it is for, if there is another. */
static void queue_pairs(void **state)
{
	struct to_cluster *c = bcube_new(3, 2);
	struct to_graph *g;
	uint16_t distance[9];
	uint32_t order[9], a;

	(void)state;
	assert_int_equal(to_cluster_join_shared(c), 0);
	g = to_graph_new(9, c->links, c->n_links, c->link_mode);
	to_graph_port_distances(g, 1, 0, distance, order);
	a = to_queue_pair_arc(g, (struct to_port_ref){ 0, 0 }, 1, 0, distance);
	assert_int_equal(g->to[a], 1);
	/* s1's port 1 is on the switch of s4 and s7 */
	to_graph_port_distances(g, 1, 1, distance, order);
	assert_int_equal(distance[4], 1);
	assert_int_equal(distance[2], 3);
	a = to_queue_pair_arc(g, (struct to_port_ref){ 0, 0 }, 1, 1, distance);
	assert_int_equal(g->to[a], 2);
	assert_int_equal(g->port[a], 0);
	a = to_queue_pair_arc(g, (struct to_port_ref){ 0, 1 }, 1, 1, distance);
	assert_int_not_equal(g->to[a], 1);
	assert_int_equal(distance[g->to[a]], 2);
	to_graph_free(g);
	to_cluster_free(c);
}

/* Simulated bytes through each port are the predicted ones, to the byte. */
static void simulated_loads(void **state)
{
	struct to_demand *demand = all_to_all(9, MIB);
	struct to_error err = { "" };
	struct to_plan *plan;
	struct to_simulator *s;
	const struct to_simulation *run;
	const struct to_network *w;
	struct to_taskgraph g;
	struct to_graph *graph;
	struct to_forwarding f = {};
	struct to_port_loads ports;
	double rings[36 + 1] = {}, mp[36 + 1] = {};

	(void)state;
	plan = fixed_plan(bcube_new(3, 2), demand);
	to_taskgraph_init(&g, 9);
	to_taskgraph_matrix(&g, demand->mp);
	assert_int_equal(to_taskgraph_finish(&g, &err), 0);
	s = to_simulator_new(plan, &err);
	assert_non_null(s);
	run = to_simulate(s, &g, TO_SIMULATE_TRANSFERS, &err);
	assert_non_null(run);
	graph = to_graph_new(9, plan->cluster->links, plan->cluster->n_links, TO_LINKS_DUPLEX);
	assert_int_equal(graph->n_arcs, 36);
	assert_int_equal(to_forwarding_init(&f, plan, graph), 0);
	assert_int_equal(to_link_loads(&f, rings, mp), 0);
	assert_int_equal(to_port_loads_init(&ports, graph, plan->cluster), 0);
	to_port_loads_set(&ports, mp);
	w = to_simulator_network(s);
	assert_int_equal(w->n_vertices, 9 + 6);
	assert_int_equal(w->n_links, 36);
	for (uint32_t a = 0; a < graph->n_arcs; a++) {
		const uint32_t on = plan->cluster->servers[graph->from[a]].ports[graph->port[a]].packet_switch;

		for (uint32_t i = 0; i < w->n_links; i++) {
			if (w->links[i].from == graph->from[a] && w->links[i].to == 9 + on - 1)
				assert_true(fabs(run->link_bytes[i] - ports.bytes[ports.way[ports.first[a]]]) < 0.5);
			if (w->links[i].from == 9 + on - 1 && w->links[i].to == graph->to[a])
				assert_true(fabs(run->link_bytes[i] - ports.bytes[ports.way[ports.first[a] + 1]]) < 0.5);
		}
	}
	to_port_loads_free(&ports);
	to_forwarding_free(&f);
	to_graph_free(graph);
	to_simulator_free(s);
	to_taskgraph_free(&g);
	to_plan_free(plan);
}

/* Eight send to one by one rail: its port has the bandwidth once, and two links' latency. */
static void simulated_incast(void **state)
{
	const struct to_delays delays = { .link = 1e-6, .relay = 5e-6, .step = 2e-6 };
	struct to_error err = { "" };
	struct to_cluster *c = to_cluster_synthetic(9, 1, 0, TO_LINKS_DUPLEX, &err);
	const struct to_simulation *run;
	struct to_router *router;
	struct to_simulator *s;
	struct to_taskgraph g;
	struct to_plan *plan;

	(void)state;
	assert_int_equal(to_switched_rails(c, &err), 0);
	plan = fixed_plan(c, job_new(9));
	router = to_router_of_plan(plan, &delays, &err);
	assert_non_null(router);
	s = to_simulator_on(router, &err);
	assert_non_null(s);
	to_taskgraph_init(&g, 9);
	for (uint32_t x = 1; x < 9; x++)
		to_taskgraph_transfer(&g, x, 0, 100 * MIB);
	assert_int_equal(to_taskgraph_finish(&g, &err), 0);
	run = to_simulate(s, &g, TO_SIMULATE_TRANSFERS, &err);
	assert_non_null(run);
	assert_true(fabs(run->time / (8 * 100.0 * MIB * 8 / 100e9 + 2 * 1e-6 + 2e-6) - 1) < 1e-9);
	to_simulator_free(s);
	to_router_free(router);
	to_taskgraph_free(&g);
	to_plan_free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bcube_digits),
		cmocka_unit_test(too_wide),
		cmocka_unit_test(bcube_all_to_all),
		cmocka_unit_test(bcube_allreduce),
		cmocka_unit_test(one_relay),
		cmocka_unit_test(by_port),
		cmocka_unit_test(random_fabrics),
		cmocka_unit_test(queue_pairs),
		cmocka_unit_test(simulated_loads),
		cmocka_unit_test(simulated_incast),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
