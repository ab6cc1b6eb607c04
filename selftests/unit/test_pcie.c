// SPDX-License-Identifier: GPL-2.0-or-later
/* PCIe links bind what servers send and receive: plans, figures, simulators, RDMA pairs. */

#include <arpa/inet.h>
#include <math.h>

#include "job.h"

#include "data/down.h"
#include "packets/simulator.h"
#include "routing/busy_time.h"
#include "shard/shard_plan.h"
#include "simulate/bound.h"
#include "simulate/simulate.h"
#include "verify/verify_down.h"

#define GIB (1024 * MIB)
#define FAST (1000 * GBPS)	/* more than all ports of a server */

static void near(double is, double should, double part)
{
	if (fabs(is - should) > part * should)
		fail_msg("%.9g instead of %.9g", is, should);
}

/* All ports of server @x on one PCIe link. */
static void on_pcie(struct to_cluster *c, uint32_t x, uint64_t from_host, uint64_t to_host)
{
	struct to_server *server = &c->servers[x];

	server->pcie = calloc(1, sizeof(*server->pcie));
	assert_non_null(server->pcie);
	server->n_pcie = 1;
	server->pcie[0] = (struct to_pcie_link){ "x4", 0, FAST, to_host, from_host };
	for (unsigned int q = 0; q < server->n_ports; q++)
		server->ports[q].pcie = 1;
}

static void transit(struct to_cluster *c, uint32_t x, enum to_transit transit)
{
	for (unsigned int q = 0; q < c->servers[x].n_ports; q++) {
		c->servers[x].ports[q].transit = transit;
		strcpy(c->servers[x].ports[q].card, "cx7");
	}
}

static void join(struct to_cluster *c, uint32_t a, uint32_t p, uint32_t b, uint32_t q)
{
	c->links = realloc(c->links, (c->n_links + 1) * sizeof(*c->links));
	assert_non_null(c->links);
	c->links[c->n_links++] = (struct to_link){ .a = { a, p }, .b = { b, q }, .ring = -1,
						   .tree = -1 };
}

/* Server x + 1 at port 0 of server x, by its own port 1; in @functions / 2 links. */
static struct to_cluster *ring(unsigned int n, unsigned int functions)
{
	struct to_error err = { "" };
	struct to_cluster *c = to_cluster_synthetic(n, functions, 0, TO_LINKS_DUPLEX, &err);

	assert_non_null(c);
	for (uint32_t x = 0; x < n; x++)
		for (unsigned int f = 0; f < functions; f += 2)
			join(c, x, f, (x + 1) % n, f + 1);
	return c;
}

/* A row of three servers. */
static struct to_cluster *row(void)
{
	struct to_cluster *c = ring(3, 2);

	c->n_links = 2;
	return c;
}

/*
 * Four Sparks: ports 0 and 1 are functions of one PCI domain, ports 2 and 3 of the other; each
 * domain has 109 Gbit/s, all functions 24 GB/s sent and 26.8 GB/s received.
 */
static struct to_cluster *sparks(unsigned int functions)
{
	static const struct to_pcie_link links[] = {
		{ "chip", 0, 0, 214400000000, 192000000000 },
		{ "x4a", 1, 126000000000, 109000000000, 109000000000 },
		{ "x4b", 1, 126000000000, 109000000000, 109000000000 } };
	struct to_cluster *c = ring(4, functions);

	for (uint32_t x = 0; x < 4; x++) {
		struct to_server *server = &c->servers[x];

		server->n_pcie = 3;
		server->pcie = malloc(sizeof(links));
		assert_non_null(server->pcie);
		memcpy(server->pcie, links, sizeof(links));
		for (unsigned int q = 0; q < functions; q++)
			server->ports[q].pcie = q < 2 ? 2 : 3;
		transit(c, x, TO_TRANSIT_NONE);
	}
	return c;
}

static struct to_plan *planned(struct to_cluster *cluster, struct to_demand *demand)
{
	const struct to_planner_knobs knobs = { .fixed = true, .seed = 1 };
	struct to_error err = { "" };
	struct to_plan *plan = to_planner_make(cluster, demand, &knobs, &err);

	assert_string_equal(err.text, "");
	assert_non_null(plan);
	return plan;
}

static struct to_plan *reducing(struct to_cluster *cluster, uint64_t bytes)
{
	struct to_demand *demand = job_new(cluster->n_servers);

	job_group(demand, 0, 1, demand->n, bytes);
	return planned(cluster, demand);
}

/* @bytes from the first server to number @dst. */
static struct to_plan *sending(struct to_cluster *cluster, uint32_t dst, uint64_t bytes)
{
	struct to_demand *demand = job_new(cluster->n_servers);

	demand->mp[dst] = bytes;
	return planned(cluster, demand);
}

/* Bus bandwidth of AllReduce over four servers, bytes/s. */
static double bus(const struct to_figures *figures)
{
	return 2.0 * 3 / 4 * GIB / figures->allreduce_time;
}

static void bound_by(const struct to_figures *f, const struct to_plan *plan, const char *name)
{
	char text[TO_PCIE_LOAD_TEXT_MAX];

	assert_true(f->allreduce_pcie.binds);
	assert_true(f->comm_pcie.binds);
	assert_string_equal(to_pcie_load_text(plan->cluster, &f->allreduce_pcie.way, text), name);
	near(f->allreduce_time, f->allreduce_pcie.seconds, 1e-9);
	near(f->allreduce_time_bound, f->allreduce_time, 1e-9);
	near(f->comm_time_bound, f->comm_time, 1e-9);
}

static void four_functions(void **state)
{
	struct to_plan *plan = reducing(sparks(4), GIB);
	struct to_figures figures = job_verify(plan).figures;

	(void)state;
	near(bus(&figures), 24e9, 1e-9);
	bound_by(&figures, plan, "s0:chip, from host");
	to_plan_free(plan);
}

static void two_functions(void **state)
{
	struct to_plan *plan = reducing(sparks(2), GIB);
	struct to_figures figures = job_verify(plan).figures;

	(void)state;
	near(bus(&figures), 109e9 / 8, 1e-9);
	bound_by(&figures, plan, "s0:x4a, from host");
	to_plan_free(plan);
}

static void cables_bind(void **state)
{
	struct to_cluster *c = ring(4, 2);
	struct to_figures figures;
	struct to_plan *plan;

	(void)state;
	for (uint32_t x = 0; x < 4; x++)
		on_pcie(c, x, FAST, FAST);
	plan = reducing(c, GIB);
	figures = job_verify(plan).figures;
	near(bus(&figures), 25e9, 1e-9);
	assert_false(figures.allreduce_pcie.binds);
	near(figures.allreduce_pcie.seconds, 1.5 * GIB * 8 / FAST, 1e-9);
	to_plan_free(plan);
}

/* Without PCIe links nothing is said of them. */
static void unknown(void **state)
{
	struct to_plan *plan = reducing(ring(4, 2), GIB);
	struct to_figures figures = job_verify(plan).figures;
	json_t *json = to_predict_json(plan, &figures);

	(void)state;
	near(bus(&figures), 25e9, 1e-9);
	assert_true(figures.comm_pcie.rate == 0);
	assert_null(json_object_get(json, "pcie"));
	json_decref(json);
	to_plan_free(plan);
}

static void nested(void **state)
{
	struct to_cluster *c = sparks(4);
	struct to_server *server = &c->servers[0];

	(void)state;
	near(to_pcie_sends(server, 4), 192e9, 1e-9);
	near(to_pcie_receives(server, 4), 214.4e9, 1e-9);
	near(to_pcie_sends(server, 2), 109e9, 1e-9);
	near(to_pcie_sends(server, 1), 100e9, 1e-9);
	server->ports[3].pcie = 0;
	near(to_pcie_sends(server, 4), 192e9 + 100e9, 1e-9);
	to_cluster_free(c);
}

/* Seconds that @plan communicates, as predicted and as if the demand had been measured. */
static double communicates(const struct to_plan *plan)
{
	const struct to_figures figures = job_verify(plan).figures;
	struct to_busy_time busy;
	double seconds;

	assert_true(figures.comm_time_bound <= figures.comm_time * 1.000001);
	assert_int_equal(to_busy_time_init(&busy, plan), 0);
	for (int again = 0; again < 2; again++) {
		assert_int_equal(to_busy_time_of(&busy, plan->demand, NULL, &seconds), 0);
		near(seconds, figures.comm_time, 1e-6);
	}
	assert_true(to_busy_time_bound(plan->cluster, plan->demand->mp) <= seconds * 1.000001);
	to_busy_time_free(&busy);
	return figures.comm_time;
}

/* Seconds that 1 GiB takes from the first to the last of a row, whose middle relays. */
static double relayed(uint64_t from_host, uint64_t to_host, enum to_transit by)
{
	struct to_cluster *c = row();
	struct to_plan *plan;
	double seconds;

	on_pcie(c, 1, from_host, to_host);
	transit(c, 1, by);
	plan = sending(c, 2, GIB);
	seconds = communicates(plan);
	to_plan_free(plan);
	return seconds;
}

static void kernels_cross_twice(void **state)
{
	(void)state;
	near(relayed(50 * GBPS, FAST, TO_TRANSIT_KERNEL), GIB * 8 / 50e9, 1e-9);
	near(relayed(FAST, 40 * GBPS, TO_TRANSIT_KERNEL), GIB * 8 / 40e9, 1e-9);
	/* the RDMA engine drops it, so the kernel has it by TCP */
	near(relayed(50 * GBPS, 40 * GBPS, TO_TRANSIT_NONE), GIB * 8 / 40e9, 1e-9);
}

static void cards_do_not_cross(void **state)
{
	(void)state;
	near(relayed(50 * GBPS, 40 * GBPS, TO_TRANSIT_NIC), GIB * 8 / 100e9, 1e-9);
}

/* Bytes of its own cross, also where the card passes others on. */
static void own_bytes_cross(void **state)
{
	struct to_cluster *c = row();
	struct to_demand *demand = job_new(3);
	struct to_plan *plan;

	(void)state;
	on_pcie(c, 1, 25 * GBPS, 20 * GBPS);
	transit(c, 1, TO_TRANSIT_NIC);
	demand->mp[0 * 3 + 2] = demand->mp[1 * 3 + 2] = GIB;
	demand->mp[0 * 3 + 1] = GIB / 2;
	plan = planned(c, demand);
	near(communicates(plan), GIB * 8 / 25e9, 1e-6);
	to_plan_free(plan);
}

/* Bounds know that bytes in transit do not cross: each server sends 6, and 12 hops. */
static void bounds_of_cards(void **state)
{
	struct to_cluster *c = ring(7, 2);
	struct to_demand *demand = job_new(7);
	struct to_plan *plan;

	(void)state;
	for (uint32_t x = 0; x < 7; x++) {
		on_pcie(c, x, 20 * GBPS, 20 * GBPS);
		transit(c, x, TO_TRANSIT_NIC);
	}
	for (unsigned int i = 0; i < 7 * 7; i++)
		demand->mp[i] = i % 8 ? 64 * MIB : 0;
	plan = planned(c, demand);
	near(communicates(plan), 6 * 64 * MIB * 8 / 20e9, 1e-6);
	to_plan_free(plan);
}

/* Topologies are rated with PCIe links. */
static void estimates(void **state)
{
	const struct to_planner_knobs knobs = { .seed = 1 };
	struct to_error err = { "" };
	struct to_cluster *c = to_cluster_synthetic(6, 2, 0, TO_LINKS_DUPLEX, &err);
	struct to_demand *demand = job_new(6);
	struct to_plan *plan;

	(void)state;
	on_pcie(c, 2, 50 * GBPS, 50 * GBPS);
	job_group(demand, 0, 1, 6, GIB);
	plan = to_planner_make(c, demand, &knobs, &err);
	assert_string_equal(err.text, "");
	assert_true(plan->n_candidates > 0);
	for (unsigned int i = 0; i < plan->n_candidates; i++)
		assert_true(plan->candidates[i].estimated_time > GIB * 8 / 50e9);
	to_plan_free(plan);
}

/* Of two ways round a ring of four, each takes what its relay can. */
static void routes_share(void **state)
{
	struct to_cluster *c = ring(4, 2);
	struct to_figures figures;
	struct to_plan *plan;

	(void)state;
	on_pcie(c, 1, 25 * GBPS, FAST);
	plan = sending(c, 2, GIB);
	figures = job_verify(plan).figures;
	near(figures.comm_time, GIB * 8 / 125e9, 0.01);
	to_plan_free(plan);
}

/* Routes of single sources leave no PCIe link busier than plain routes do. */
static void sources_spare_pcie(void **state)
{
	uint64_t random = 5;

	(void)state;
	for (unsigned int i = 0; i < 20; i++) {
		struct to_planner_knobs knobs = { .fixed = true, .seed = 1, .effort = TO_EFFORT_MIN };
		struct to_cluster *c = ring(6, 2);
		struct to_demand *demand = job_new(6);
		struct to_error err = { "" };
		struct to_figures without, with;
		struct to_cluster *same;
		struct to_demand *also;
		struct to_plan *plan;

		for (uint32_t x = 0; x < 6; x++)
			on_pcie(c, x, (20 + to_random_below(&random, 180)) * GBPS,
				(20 + to_random_below(&random, 180)) * GBPS);
		for (unsigned int k = 0; k < 36; k++)
			demand->mp[k] = k % 7 ? to_random_below(&random, 64) * MIB : 0;
		same = to_cluster_copy(c);
		also = to_demand_copy(demand);
		plan = to_planner_make(c, demand, &knobs, &err);
		assert_non_null(plan);
		without = job_verify(plan).figures;
		to_plan_free(plan);
		plan = planned(same, also);
		with = job_verify(plan).figures;
		to_plan_free(plan);
		assert_true(with.comm_time <= without.comm_time * 1.01);
	}
}

/* Routes that go up and down have no choice but the root: not the slow server. */
static void roots_are_chosen(void **state)
{
	const struct to_planner_knobs knobs = { .fixed = true, .seed = 1, .no_buffer_cycles = true };
	struct to_error err = { "" };
	struct to_cluster *c = ring(4, 2);
	struct to_demand *demand = job_new(4);
	struct to_plan *plan;

	(void)state;
	on_pcie(c, 0, GBPS, GBPS);
	demand->mp[1 * 4 + 3] = GIB;
	plan = to_planner_make(c, demand, &knobs, &err);
	assert_string_equal(err.text, "");
	near(job_verify(plan).figures.comm_time, GIB * 8 / 100e9, 1e-6);
	to_plan_free(plan);
}

/* A server that is a leaf of all trees sends two thirds of what rings have it send. */
static void trees_spare(void **state)
{
	struct to_error err = { "" };
	struct to_cluster *c = to_cluster_synthetic(4, 3, 0, TO_LINKS_DUPLEX, &err);
	struct to_figures figures;
	struct to_plan *plan;

	(void)state;
	join(c, 0, 0, 1, 0);
	join(c, 2, 0, 3, 0);
	join(c, 0, 1, 2, 1);
	join(c, 1, 1, 3, 1);
	join(c, 0, 2, 3, 2);
	join(c, 1, 2, 2, 2);
	on_pcie(c, 0, 20 * GBPS, 20 * GBPS);
	plan = reducing(c, GIB);
	figures = job_verify(plan).figures;
	near(figures.allreduce_time_bound, GIB * 8 / 20e9, 1e-9);
	near(figures.allreduce_time, figures.allreduce_time_bound, 0.01);
	to_plan_free(plan);
}

/* The bound of measured bytes: what a server sends or receives, and all hops. */
static void measured_bound(void **state)
{
	struct to_cluster *c = row();
	uint64_t mp[9] = { [1] = GIB };

	(void)state;
	near(to_busy_time_bound(c, mp), GIB * 8 / 200e9, 1e-9);
	on_pcie(c, 0, 50 * GBPS, FAST);
	near(to_busy_time_bound(c, mp), GIB * 8 / 50e9, 1e-9);
	on_pcie(c, 1, FAST, 40 * GBPS);
	near(to_busy_time_bound(c, mp), GIB * 8 / 40e9, 1e-9);
	to_cluster_free(c);
}

/* Servers that the job does not take are freed with their PCIe links. */
static void jobs_select(void **state)
{
	struct to_error err = { "" };
	struct to_cluster *c = ring(4, 2);
	struct to_demand *demand = job_new(2);
	struct to_planner_knobs knobs = { .seed = 1 };
	struct to_plan *plan;

	(void)state;
	for (uint32_t x = 0; x < 4; x++)
		on_pcie(c, x, 50 * GBPS, 50 * GBPS);
	demand->names = calloc(2, sizeof(*demand->names));
	strcpy(demand->names[0], "s1");
	strcpy(demand->names[1], "s3");
	demand->mp[1] = GIB;
	plan = to_planner_make(c, demand, &knobs, &err);
	assert_string_equal(err.text, "");
	near(job_verify(plan).figures.comm_time, GIB * 8 / 50e9, 1e-6);
	to_plan_free(plan);
}

/* Nor are those outside a shard. */
static void shards_select(void **state)
{
	const uint32_t servers[] = { 3, 1 };
	struct to_cluster *c = sparks(4), *part = to_shard_part(c, servers, 2);

	(void)state;
	to_cluster_free(c);
	assert_non_null(part);
	assert_int_equal(part->servers[0].n_pcie, 3);
	assert_string_equal(part->servers[1].pcie[1].name, "x4a");
	to_cluster_free(part);
}

static void failures_bind(void **state)
{
	struct to_plan *plan = reducing(sparks(4), GIB);
	const char *words[] = { "s0:eth0" };
	struct to_error err = { "" };
	struct to_verify_down found;
	struct to_down down;

	(void)state;
	assert_int_equal(to_down_parse_all(&down, plan->cluster, words, 1, "plan", &err), 0);
	assert_int_equal(to_verify_down(plan, &down, &found), 0);
	assert_true(found.pcie_binds);
	near(to_pcie_way_rate(plan->cluster, &found.pcie), 109e9, 1e-9);
	/* three links do what four did, and the other domain has its own bytes and those */
	assert_true(found.comm_time > 1.5 * GIB * 8 / 192e9);
	to_down_free(&down);
	to_plan_free(plan);
}

/* Seconds of the flow level. */
static double flows(const struct to_plan *plan, bool reduces)
{
	struct to_error err = { "" };
	struct to_simulator *s = to_simulator_new(plan, &err);
	const struct to_simulation *run;
	struct to_taskgraph g;
	struct to_bound bound;
	double seconds;

	assert_non_null(s);
	to_taskgraph_init(&g, plan->cluster->n_servers);
	if (reduces)
		to_taskgraph_allreduce(&g, plan->demand->groups[0].members,
				       plan->demand->groups[0].n_members,
				       plan->demand->groups[0].bytes);
	else
		to_taskgraph_matrix(&g, plan->demand->mp);
	assert_int_equal(to_taskgraph_finish(&g, &err), 0);
	run = to_simulate(s, &g, TO_SIMULATE_TRANSFERS, &err);
	assert_non_null(run);
	seconds = run->time;
	assert_int_equal(to_bound_init(&bound, plan->cluster, plan->cluster->n_servers, 0), 0);
	assert_true(to_bound_time(&bound, &g) <= seconds);
	if (reduces)
		near(to_bound_time(&bound, &g), seconds, 0.01);
	to_bound_free(&bound);
	to_simulator_free(s);
	to_taskgraph_free(&g);
	return seconds;
}

static void flows_share(void **state)
{
	struct to_plan *plan = reducing(sparks(4), GIB);
	struct to_cluster *c;

	(void)state;
	near(flows(plan, true), 1.5 * GIB * 8 / 192e9, 0.01);
	to_plan_free(plan);
	c = row();
	on_pcie(c, 1, 50 * GBPS, 40 * GBPS);
	plan = sending(c, 2, GIB);
	near(flows(plan, false), GIB * 8 / 40e9, 0.01);
	to_plan_free(plan);
	c = row();
	on_pcie(c, 1, 50 * GBPS, 40 * GBPS);
	transit(c, 1, TO_TRANSIT_NIC);
	plan = sending(c, 2, GIB);
	near(flows(plan, false), GIB * 8 / 100e9, 0.01);
	to_plan_free(plan);
}

/* What packets take over @plan's demand from the first server; @counts gets theirs. */
static double packets(const struct to_plan *plan, enum to_transport transport, bool pfc,
		      struct to_packets *counts)
{
	const struct to_delays delays = { .link = 1e-6, .relay = 1350e-9 };
	struct to_packet_options options = to_packet_options_default(transport);
	const int protocol = transport == TO_TRANSPORT_TCP ? IPPROTO_TCP : IPPROTO_UDP;
	struct to_error err = { "" };
	struct to_router *router = to_router_of_plan(plan, &delays, &err);
	struct to_packet_simulator *s;
	struct to_packet_paths *paths;
	const struct to_packets *run;
	struct to_taskgraph g;
	double seconds;

	assert_non_null(router);
	options.pfc = pfc;
	to_taskgraph_init(&g, plan->cluster->n_servers);
	to_taskgraph_matrix(&g, plan->demand->mp);
	assert_int_equal(to_taskgraph_finish(&g, &err), 0);
	paths = to_packet_paths_of_plan(plan, router->network, protocol, 1, &err);
	assert_non_null(paths);
	s = to_packet_simulator_new(paths, &delays, &options, &err);
	assert_non_null(s);
	run = to_packet_simulate(s, &g, &err);
	assert_string_equal(err.text, "");
	assert_non_null(run);
	assert_int_equal(run->sent, run->received + run->dropped + run->queued);
	seconds = run->simulation.time;
	if (counts)
		*counts = *run;
	to_packet_simulator_free(s);
	to_packet_paths_free(paths);
	to_router_free(router);
	to_taskgraph_free(&g);
	return seconds;
}

/* Rates of what two neighbours send and receive, with headers of 82 bytes on 4096. */
#define WIRE (4178.0 / 4096)

static void packets_wait(void **state)
{
	struct to_packets counts;
	struct to_cluster *c = row();
	struct to_plan *plan;

	(void)state;
	on_pcie(c, 0, 50 * GBPS, FAST);
	plan = sending(c, 1, 16 * MIB);
	near(packets(plan, TO_TRANSPORT_NONE, true, &counts), 16 * MIB * WIRE * 8 / 50e9, 0.01);
	assert_int_equal(counts.pauses, 0);
	to_plan_free(plan);
	/* a NIC that cannot write as fast as packets come pauses its neighbour */
	c = row();
	on_pcie(c, 1, FAST, 50 * GBPS);
	plan = sending(c, 1, 16 * MIB);
	near(packets(plan, TO_TRANSPORT_NONE, true, &counts), 16 * MIB * WIRE * 8 / 50e9, 0.01);
	assert_true(counts.pauses > 0);
	assert_int_equal(counts.dropped, 0);
	/* or drops what its ring has no room for */
	packets(plan, TO_TRANSPORT_TCP, false, &counts);
	assert_true(counts.dropped > 0);
	to_plan_free(plan);
	/* relays write to memory and read from there */
	c = row();
	on_pcie(c, 1, 50 * GBPS, FAST);
	plan = sending(c, 2, 16 * MIB);
	assert_true(packets(plan, TO_TRANSPORT_NONE, true, &counts) >
		    16 * MIB * WIRE * 8 / 50e9 * 0.99);
	to_plan_free(plan);
}

/* Two ports share what one PCIe link reads. */
static void packets_share(void **state)
{
	struct to_cluster *c = row();
	struct to_demand *demand = job_new(3);
	struct to_plan *plan;

	(void)state;
	on_pcie(c, 1, 100 * GBPS, FAST);
	demand->mp[1 * 3 + 0] = demand->mp[1 * 3 + 2] = 8 * MIB;
	plan = planned(c, demand);
	near(packets(plan, TO_TRANSPORT_NONE, true, NULL), 16 * MIB * WIRE * 8 / 100e9, 0.01);
	to_plan_free(plan);
}

/* Pairs that RDMA reaches in a ring of five, of all servers or of @src. */
static struct to_rdma_pairs reached(enum to_transit by, bool cards, uint32_t src)
{
	struct to_cluster *c = ring(5, 2);
	struct to_rdma_pairs pairs;
	struct to_plan *plan;

	for (uint32_t x = 0; x < 5; x++) {
		transit(c, x, by);
		for (unsigned int q = 0; cards && q < 2; q++)
			c->servers[x].ports[q].card[0] = 'a' + q;
	}
	plan = planned(c, job_new(5));
	assert_int_equal(to_rdma_pairs_limited(plan->cluster), by != TO_TRANSIT_KERNEL);
	if (src == TO_SERVER_NONE)
		pairs = job_verify(plan).rdma;
	else
		assert_int_equal(to_rdma_pairs_find(plan, src, &pairs), 0);
	to_plan_free(plan);
	return pairs;
}

static void rdma_needs_relays(void **state)
{
	struct to_rdma_pairs pairs = reached(TO_TRANSIT_NONE, false, TO_SERVER_NONE);

	(void)state;
	/* each server has two neighbours, and each neighbour a port towards it */
	assert_int_equal(pairs.pairs, 5 * 4 * 2);
	assert_int_equal(pairs.reached, 5 * 2);
	pairs = reached(TO_TRANSIT_NONE, false, 3);
	assert_int_equal(pairs.pairs, 4 * 2);
	assert_int_equal(pairs.reached, 2);
	pairs = reached(TO_TRANSIT_NIC, false, TO_SERVER_NONE);
	assert_int_equal(pairs.reached, pairs.pairs);
	/* a card for each port: none passes anything on */
	pairs = reached(TO_TRANSIT_NIC, true, TO_SERVER_NONE);
	assert_int_equal(pairs.reached, 5 * 2);
	/* all are reached, so that nothing is said */
	pairs = reached(TO_TRANSIT_KERNEL, false, TO_SERVER_NONE);
	assert_int_equal(pairs.pairs, 0);
}

/* A plan's file says what binds, and verify agrees; a shorter time is a lie. */
static void predictions(void **state)
{
	struct to_plan *plan = reducing(sparks(4), GIB);
	json_t *pcie = json_object_get(plan->predictions, "pcie");
	json_t *allreduce = json_object_get(pcie, "allreduce");
	struct to_verify_report report;

	(void)state;
	assert_string_equal(json_string_value(json_object_get(allreduce, "link")), "chip");
	assert_string_equal(json_string_value(json_object_get(allreduce, "direction")), "from_host");
	assert_true(json_is_true(json_object_get(allreduce, "binds")));
	assert_int_equal(to_verify(plan, job_line, &(struct job_lines){ 0 }, &report), 0);
	assert_int_equal(report.violations, 0);
	json_object_set_new(allreduce, "busy_s", json_real(1e-3));
	assert_int_equal(to_verify(plan, job_line, &(struct job_lines){ 0 }, &report), 0);
	assert_int_equal(report.violations, 1);
	to_plan_free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(four_functions),
		cmocka_unit_test(two_functions),
		cmocka_unit_test(cables_bind),
		cmocka_unit_test(unknown),
		cmocka_unit_test(nested),
		cmocka_unit_test(kernels_cross_twice),
		cmocka_unit_test(cards_do_not_cross),
		cmocka_unit_test(own_bytes_cross),
		cmocka_unit_test(bounds_of_cards),
		cmocka_unit_test(estimates),
		cmocka_unit_test(routes_share),
		cmocka_unit_test(sources_spare_pcie),
		cmocka_unit_test(roots_are_chosen),
		cmocka_unit_test(trees_spare),
		cmocka_unit_test(measured_bound),
		cmocka_unit_test(jobs_select),
		cmocka_unit_test(shards_select),
		cmocka_unit_test(failures_bind),
		cmocka_unit_test(flows_share),
		cmocka_unit_test(packets_wait),
		cmocka_unit_test(packets_share),
		cmocka_unit_test(rdma_needs_relays),
		cmocka_unit_test(predictions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
