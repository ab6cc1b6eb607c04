// SPDX-License-Identifier: GPL-2.0-or-later
/* Detours, against packets that walk through the tables hop by hop. */

#include "job.h"
#include "routing/alternates.h"

#define PORTS_MAX 16
#define SERVERS_MAX 64

enum visit { NEW, OPEN, DONE };

/* One packet, or all that its flow hash could make of it. */
struct walk {
	const struct to_plan *plan;
	uint32_t src, dst;
	unsigned int slot;
	bool rdma;			/* must enter the right port */
	bool dark[SERVERS_MAX][PORTS_MAX];
	enum visit visits[SERVERS_MAX][PORTS_MAX + 1];	/* by server, 1 + ingress port */
};

static const struct to_group *group_of(const struct walk *w, uint32_t x)
{
	const struct to_table *table = &w->plan->tables[x];
	uint16_t group = table->route[w->dst * w->plan->slots + w->slot];

	for (unsigned int i = 0; i < table->n_pairs; i++)
		if (table->pairs[i].src == w->src && table->pairs[i].dst == w->dst &&
		    table->pairs[i].slot == w->slot)
			group = table->pairs[i].group;
	return group == TO_GROUP_NONE ? NULL : &table->groups[group];
}

static bool arrives(struct walk *w, uint32_t x, int ingress);

/* Out of @port, if it is lit. */
static bool leaves(struct walk *w, uint32_t x, unsigned int port)
{
	struct to_port_ref peer;

	assert_int_equal(to_plan_peer(w->plan, (struct to_port_ref){ x, port }, &peer), 0);
	return arrives(w, peer.server, peer.port);
}

/* By all next hops of one kind that are lit. Return: whether there is one. */
static bool spread(struct walk *w, uint32_t x, const struct to_group *group, bool backup,
		   bool *arrived)
{
	bool any = false;

	for (unsigned int i = 0; i < group->n; i++) {
		const struct to_nexthop *hop = &group->nexthops[i];

		if (hop->ingress || hop->backup != backup || w->dark[x][hop->port])
			continue;
		any = true;
		*arrived = *arrived && leaves(w, x, hop->port);
	}
	return any;
}

/* Whether all packets at @x that arrived at @ingress, -1 for none, get there. */
static bool arrives(struct walk *w, uint32_t x, int ingress)
{
	enum visit *visit = &w->visits[x][1 + ingress];
	const struct to_group *group;
	bool arrived = true;

	if (x == w->dst && (!w->slot || !w->rdma || ingress == (int)w->slot - 1))
		return true;
	if (*visit != NEW)
		return *visit == DONE;
	*visit = OPEN;
	if (x == w->dst) {
		arrived = !w->dark[x][w->slot - 1] && leaves(w, x, w->slot - 1);
	} else {
		group = group_of(w, x);
		if (!group)
			return false;
		for (unsigned int i = 0; i < group->n; i++)
			if (ingress >= 0 && group->nexthops[i].ingress == 1 + ingress &&
			    !w->dark[x][group->nexthops[i].port]) {
				arrived = leaves(w, x, group->nexthops[i].port);
				goto out;
			}
		if (!spread(w, x, group, false, &arrived) && !spread(w, x, group, true, &arrived))
			return false;
	}
out:
	*visit = arrived ? DONE : OPEN;
	return arrived;
}

/* Whether light leads from @x to the address; RoCEv2 ends at the right port. */
static bool connected(const struct walk *w, uint32_t x)
{
	bool seen[SERVERS_MAX] = { [0] = false };
	uint32_t stack[SERVERS_MAX];
	unsigned int n = 0;

	stack[n++] = x;
	seen[x] = true;
	while (n) {
		x = stack[--n];
		for (unsigned int q = 0; q < w->plan->slots - 1; q++) {
			struct to_port_ref peer;

			if (w->dark[x][q] ||
			    to_plan_peer(w->plan, (struct to_port_ref){ x, q }, &peer))
				continue;
			if (peer.server == w->dst && (!w->slot || peer.port == w->slot - 1))
				return true;
			if (!seen[peer.server]) {
				seen[peer.server] = true;
				stack[n++] = peer.server;
			}
		}
	}
	return false;
}

static void darken(struct walk *w, struct to_port_ref at, bool dark)
{
	struct to_port_ref peer;

	w->dark[at.server][at.port] = dark;
	if (w->plan->cluster->link_mode == TO_LINKS_DUPLEX && !to_plan_peer(w->plan, at, &peer))
		w->dark[peer.server][peer.port] = dark;
}

struct count {
	unsigned long arrived, lost, cut_off;
};

static void walk_all(struct walk *w, struct count *count, uint32_t without)
{
	const struct to_plan *plan = w->plan;
	unsigned int n = plan->cluster->n_servers;

	for (w->src = 0; w->src < n; w->src++)
		for (w->dst = 0; w->dst < n; w->dst++)
			for (w->slot = 0; w->slot < plan->slots; w->slot++) {
				if (w->src == w->dst || w->src == without || w->dst == without ||
				    plan->tables[w->src].route[w->dst * plan->slots + w->slot] ==
					    TO_GROUP_NONE)
					continue;
				for (unsigned int rdma = 0; rdma < 2; rdma++) {
					w->rdma = rdma;
					memset(w->visits, 0, sizeof(w->visits));
					if (arrives(w, w->src, -1))
						count->arrived++;
					else if (connected(w, w->src))
						count->lost++;
					else
						count->cut_off++;
				}
			}
}

/* All packets of all pairs: with all links, with each of them dark, with each server. */
static void fail_each(const struct to_plan *plan, struct count *links, struct count *servers)
{
	const struct to_cluster *c = plan->cluster;
	struct count whole = { 0 };
	struct walk *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	assert_true(c->n_servers <= SERVERS_MAX && plan->slots - 1 <= PORTS_MAX);
	w->plan = plan;
	walk_all(w, &whole, UINT32_MAX);
	assert_int_equal(whole.lost, 0);
	for (unsigned int i = 0; i < c->n_links; i++) {
		darken(w, c->links[i].a, true);
		walk_all(w, links, UINT32_MAX);
		darken(w, c->links[i].a, false);
	}
	for (uint32_t x = 0; x < c->n_servers; x++) {
		for (unsigned int i = 0; i < c->n_links; i++)
			if (c->links[i].a.server == x || c->links[i].b.server == x)
				darken(w, c->links[i].a, true);
		walk_all(w, servers, x);
		for (unsigned int i = 0; i < c->n_links; i++)
			darken(w, c->links[i].a, false);
	}
	free(w);
}

static void rings(void **state)
{
	(void)state;
	for (unsigned int n = 3; n <= 16; n++) {
		struct count links = { 0 }, servers = { 0 };
		struct to_demand *demand = job_new(n);
		struct to_error err = { "" };
		struct to_plan *plan;

		job_group(demand, 0, 1, n, 100 * MIB);
		plan = job_plan_any(demand, 2, TO_LINKS_DUPLEX, &err);
		assert_string_equal(err.text, "");
		fail_each(plan, &links, &servers);
		assert_int_equal(links.lost, 0);
		assert_int_equal(servers.lost, 0);
		assert_true(links.arrived > 0);
		to_plan_free(plan);
	}
}

/* Weighted paths that are not the shortest. */
static void random_jobs(void **state)
{
	uint64_t random = 5;

	(void)state;
	for (unsigned int round = 0; round < 60; round++) {
		unsigned int n = 3 + to_random_below(&random, 10);
		unsigned int degree = 2 + to_random_below(&random, 4);
		struct count links = { 0 }, servers = { 0 };
		struct to_error err = { "" };
		struct to_plan *plan = job_plan_any(job_random(n, &random), degree,
						    TO_LINKS_DUPLEX, &err);

		assert_string_equal(err.text, "");
		fail_each(plan, &links, &servers);
		assert_int_equal(links.lost, 0);
		assert_true(200 * servers.lost <= servers.arrived);
		to_plan_free(plan);
	}
}

/* Leave primaries alone, as to_alternates_fill() finds them. */
static void strip(struct to_plan *plan)
{
	for (uint32_t x = 0; x < plan->cluster->n_servers; x++)
		for (unsigned int g = 0; g < plan->tables[x].n_groups; g++) {
			struct to_group *group = &plan->tables[x].groups[g];
			unsigned int n = 0;

			for (unsigned int i = 0; i < group->n; i++)
				if (to_nexthop_primary(&group->nexthops[i]))
					group->nexthops[n++] = group->nexthops[i];
			group->n = n;
		}
}

/* A path of its own from @x to @dst, anywhere but where it was. Return: found. */
static bool stray(struct to_plan *plan, uint32_t src, uint32_t x, uint32_t dst, bool *met,
		  uint64_t *random)
{
	unsigned int ports = plan->slots - 1, first = to_random_below(random, ports);
	struct to_table *table = &plan->tables[x];

	if (x == dst)
		return true;
	met[x] = true;
	for (unsigned int q = 0; q < ports; q++) {
		struct to_nexthop hop = { .port = (first + q) % ports, .weight = 1 };
		struct to_port_ref peer;
		int group;

		if (to_plan_peer(plan, (struct to_port_ref){ x, hop.port }, &peer) ||
		    met[peer.server] || !stray(plan, src, peer.server, dst, met, random))
			continue;
		group = to_plan_add_group(table, &hop, 1);
		assert_true(group >= 0);
		table->pairs = realloc(table->pairs, (table->n_pairs + 1) * sizeof(*table->pairs));
		assert_non_null(table->pairs);
		table->pairs[table->n_pairs++] = (struct to_source_route){ src, dst, 0, group };
		to_plan_sort_pairs(table);
		return true;
	}
	return false;
}

/* Packets of one source go their own way, and come back by that of all others. */
static void routes_of_sources(void **state)
{
	unsigned long lost = 0, arrived = 0;
	uint64_t random = 7;

	(void)state;
	for (unsigned int round = 0; round < 40; round++) {
		unsigned int n = 4 + to_random_below(&random, 8);
		unsigned int degree = 2 + to_random_below(&random, 4);
		struct count links = { 0 }, servers = { 0 };
		struct to_error err = { "" };
		struct to_plan *plan = job_plan_any(job_random(n, &random), degree,
						    TO_LINKS_DUPLEX, &err);
		struct to_graph *graph;

		assert_string_equal(err.text, "");
		strip(plan);
		for (uint32_t src = 0; src < 3; src++) {
			bool met[SERVERS_MAX] = { [0] = false };

			assert_true(stray(plan, src, src, n - 1, met, &random));
		}
		graph = to_graph_new(n, plan->cluster->links, plan->cluster->n_links,
				     plan->cluster->link_mode);
		assert_non_null(graph);
		assert_int_equal(to_alternates_fill(plan, graph), 0);
		to_graph_free(graph);
		fail_each(plan, &links, &servers);
		lost += links.lost;
		arrived += links.arrived;
		to_plan_free(plan);
	}
	assert_int_equal(lost, 0);
	assert_true(arrived > 0);
}

/* Cabling of any shape: servers with one cable, cut vertices, parallel links. */
static void any_cabling(void **state)
{
	struct count links = { 0 }, servers = { 0 };
	uint64_t random = 8;

	(void)state;
	for (unsigned int round = 0; round < 60; round++) {
		unsigned int n = 3 + to_random_below(&random, 9), degree = 8, more;
		struct to_planner_knobs options = { .fixed = true, .seed = 1, .effort = TO_EFFORT_MIN };
		struct to_demand *demand = job_random(n, &random);
		unsigned int used[SERVERS_MAX] = { 0 };
		struct to_error err = { "" };
		struct to_cluster *c = to_cluster_synthetic(n, degree, 100 * GBPS,
							    TO_LINKS_DUPLEX, &err);
		struct to_plan *plan;

		assert_non_null(c);
		c->links = calloc(2 * n, sizeof(*c->links));
		assert_non_null(c->links);
		more = to_random_below(&random, n);
		for (uint32_t x = 1; x < n + more; x++) {
			uint32_t a = x < n ? x : to_random_below(&random, n);
			uint32_t b = to_random_below(&random, x < n ? x : n);

			if (a == b || used[a] == degree || used[b] == degree)
				continue;
			c->links[c->n_links++] = (struct to_link){
				.a = { a, used[a]++ }, .b = { b, used[b]++ },
				.use = TO_LINK_FIXED, .ring = -1, .tree = -1,
			};
		}
		plan = to_planner_make(c, demand, &options, &err);
		if (!plan)
			continue;	/* no port was left to join them all */
		fail_each(plan, &links, &servers);
		to_plan_free(plan);
	}
	assert_int_equal(links.lost, 0);
	assert_true(links.arrived > 0);
	assert_true(1000 * servers.lost <= servers.arrived);
}

/* Darken all links of the cable that @link is on, or light them. */
static void darken_cable(struct walk *w, const struct to_link *link, bool dark)
{
	const struct to_cluster *c = w->plan->cluster;

	darken(w, link->a, dark);
	for (unsigned int i = 0; i < c->n_links; i++)
		if (c->links[i].a.server == link->a.server &&
		    to_port_shares_cable(&c->servers[link->a.server], c->links[i].a.port, link->a.port))
			darken(w, c->links[i].a, dark);
}

/* A cut takes all functions of a cable: none of them is the other's backup. */
static void shared_cables(void **state)
{
	struct count cables = { 0 }, links = { 0 }, servers = { 0 };
	const struct to_planner_knobs options = { .fixed = true, .seed = 1, .effort = TO_EFFORT_MIN };
	struct walk *w = calloc(1, sizeof(*w));
	unsigned int shared = 0;
	uint64_t random = 10;

	(void)state;
	assert_non_null(w);
	for (unsigned int round = 0; round < 60; round++) {
		unsigned int n = 3 + to_random_below(&random, 9);
		struct to_cluster *c = job_cabled(n, PORTS_MAX, &random);
		struct to_error err = { "" };

		if (!c)
			continue;
		w->plan = to_planner_make(c, job_random(n, &random), &options, &err);
		assert_string_equal(err.text, "");
		shared += to_cluster_shares_cables(c);
		fail_each(w->plan, &links, &servers);
		for (unsigned int i = 0; i < c->n_links; i++) {
			darken_cable(w, &c->links[i], true);
			walk_all(w, &cables, UINT32_MAX);
			darken_cable(w, &c->links[i], false);
		}
		assert_int_equal(job_verify(w->plan).links.uncovered, 0);
		to_plan_free((struct to_plan *)w->plan);
	}
	free(w);
	assert_true(shared > 30 && cables.arrived > 0);
	assert_int_equal(cables.lost, 0);
	assert_int_equal(links.lost, 0);
	assert_true(1000 * servers.lost <= servers.arrived);
}

/* Clusters that grew: from two ports to seven per server, and what the planner makes of them. */
static void unequal_ports(void **state)
{
	struct count links = { 0 }, servers = { 0 };
	uint64_t random = 9;

	(void)state;
	for (unsigned int round = 0; round < 10; round++) {
		unsigned int n = 8 + to_random_below(&random, 13);
		struct to_planner_knobs options = { .seed = 1, .effort = TO_EFFORT_MIN };
		struct to_error err = { "" };
		struct to_cluster *c = to_cluster_synthetic(n, 7, 100 * GBPS, TO_LINKS_DUPLEX, &err);
		struct to_verify_report report;
		struct to_plan *plan;

		assert_non_null(c);
		for (uint32_t x = 0; x < n; x++)
			c->servers[x].n_ports = 2 + to_random_below(&random, 6);
		plan = to_planner_make(c, job_random(n, &random), &options, &err);
		assert_string_equal(err.text, "");
		report = job_verify(plan);
		assert_int_equal(report.links.uncovered, 0);
		assert_true(report.links.covered > 0);
		fail_each(plan, &links, &servers);
		to_plan_free(plan);
	}
	assert_int_equal(links.lost, 0);
	assert_true(20 * servers.lost <= servers.arrived);
}

/* One direction at a time: nothing leads back up, so not all is covered. */
static void simplex_links(void **state)
{
	struct count links = { 0 }, servers = { 0 };
	uint64_t random = 6;

	(void)state;
	for (unsigned int round = 0; round < 30; round++) {
		unsigned int n = 4 + to_random_below(&random, 9);
		struct to_error err = { "" };
		struct to_plan *plan = job_plan_any(job_random(n, &random), 3, TO_LINKS_SIMPLEX, &err);

		assert_string_equal(err.text, "");
		fail_each(plan, &links, &servers);
		to_plan_free(plan);
	}
	assert_true(100 * links.lost <= links.arrived);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rings),
		cmocka_unit_test(random_jobs),
		cmocka_unit_test(routes_of_sources),
		cmocka_unit_test(any_cabling),
		cmocka_unit_test(shared_cables),
		cmocka_unit_test(unequal_ports),
		cmocka_unit_test(simplex_links),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
