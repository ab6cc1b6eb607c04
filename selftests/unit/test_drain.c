// SPDX-License-Identifier: GPL-2.0-or-later
/* Steps between two plans: everybody reached, over links that no step cuts. */

#include "job.h"

#include "plan/drain.h"
#include "verify/buffer_cycle.h"

#define SERVERS 12
#define SERVERS_MAX 32

static int switch_of(const struct to_cluster *cluster, struct to_port_ref at)
{
	return cluster->servers[at.server].ports[at.port].optical_switch;
}

/* The plan after @swaps pairs of links were crossed over; ports stay as they are. */
static void cross_over(struct to_cluster *cluster, unsigned int swaps, uint64_t *random)
{
	while (swaps) {
		struct to_link *x = &cluster->links[to_random_below(random, cluster->n_links)];
		struct to_link *y = &cluster->links[to_random_below(random, cluster->n_links)];
		struct to_port_ref b = x->b;

		if (x == y || x->a.server == y->b.server || y->a.server == x->b.server ||
		    switch_of(cluster, x->a) != switch_of(cluster, y->b))
			continue;
		x->b = y->b;
		y->b = b;
		swaps--;
	}
}

/* The port that @at sends to, as a number; -1 for none. */
static int64_t sends_to(const struct to_cluster *cluster, struct to_port_ref at)
{
	for (unsigned int l = 0; l < cluster->n_links; l++) {
		const struct to_link *link = &cluster->links[l];

		if (link->a.server == at.server && link->a.port == at.port)
			return (int64_t)link->b.server << 32 | link->b.port;
		if (cluster->link_mode == TO_LINKS_DUPLEX && link->b.server == at.server &&
		    link->b.port == at.port)
			return (int64_t)link->a.server << 32 | link->a.port;
	}
	return -1;
}

/* Next hops to servers have links that stay. Return: pairs without any. */
static unsigned int check_node_routes(const struct to_plan *interim, const struct to_plan *then)
{
	unsigned int none = 0;

	for (uint32_t x = 0; x < interim->cluster->n_servers; x++) {
		const struct to_table *table = &interim->tables[x];

		for (uint32_t dst = 0; dst < interim->cluster->n_servers; dst++) {
			uint16_t group = table->route[dst * interim->slots];

			if (x == dst)
				continue;
			if (group == TO_GROUP_NONE) {
				none++;
				continue;
			}
			for (unsigned int i = 0; i < table->groups[group].n; i++) {
				struct to_port_ref at = { x, table->groups[group].nexthops[i].port };
				int64_t peer = sends_to(interim->cluster, at);

				assert_true(peer >= 0);
				assert_int_equal(peer, sends_to(then->cluster, at));
			}
		}
		for (unsigned int i = 0; i < table->n_pairs; i++)
			assert_int_equal(table->pairs[i].slot, 0);
	}
	return none;
}

/* A port that is cut may be out of reach for some; nothing else may be wrong. */
static void other_line(void *data, const char *line)
{
	if (!strstr(line, " has no route to ") || !strstr(line, ":eth"))
		job_line(data, line);
}

static void check_tables(const struct to_plan *interim)
{
	struct job_lines lines = { 0 };
	struct to_verify_report report;

	assert_int_equal(to_verify(interim, other_line, &lines, &report), 0);
	assert_string_equal(lines.first, "");
}

static void no_line(void *data, const char *line)
{
	(void)data;
	(void)line;
}

/*
 * Any one of the links that stay may fail, too: packets go round by the others. The
 * addresses of ports that are cut are left out, they have but one link.
 */
static void check_failures(const struct to_plan *interim, unsigned int kept)
{
	unsigned int all = interim->cluster->n_links;
	struct to_verify_report report;

	interim->cluster->n_links = kept;
	assert_int_equal(to_verify(interim, no_line, NULL, &report), 0);
	interim->cluster->n_links = all;
	assert_int_equal(report.links.uncovered, 0);
}

/* Routes to the port @at that is cut are where a way leads to its peer @from. */
static void check_cut_port(const struct to_plan *interim, unsigned int kept,
			   struct to_port_ref at, struct to_port_ref from)
{
	const struct to_cluster *c = interim->cluster;
	struct to_graph *graph = to_graph_new(c->n_servers, c->links, kept, c->link_mode);
	uint16_t distance[SERVERS_MAX];
	uint32_t order[SERVERS_MAX];

	assert_non_null(graph);
	to_graph_distances(graph, from.server, at.server, distance, order);
	for (uint32_t x = 0; x < c->n_servers; x++)
		if (x != at.server)
			assert_int_equal(interim->tables[x].route[at.server * interim->slots +
								  1 + at.port] != TO_GROUP_NONE,
					 distance[x] != TO_DISTANCE_NONE);
	to_graph_free(graph);
}

static bool same_links(const struct to_cluster *x, const struct to_cluster *y)
{
	for (uint32_t server = 0; server < x->n_servers; server++)
		for (uint32_t port = 0; port < x->servers[server].n_ports; port++) {
			struct to_port_ref at = { server, port };

			if (sends_to(x, at) != sends_to(y, at))
				return false;
		}
	return x->n_links == y->n_links;
}

/* Links of both come first. Return: how many. */
static unsigned int check_order(const struct to_cluster *now, const struct to_cluster *then)
{
	unsigned int stay = 0;

	for (unsigned int l = 0; l < now->n_links; l++) {
		const struct to_link *link = &now->links[l];

		if (sends_to(then, link->a) != ((int64_t)link->b.server << 32 | link->b.port))
			continue;
		assert_int_equal(l, stay);
		stay++;
	}
	return stay;
}

/* Every step of the way, of which pairs wait in the last one if in any. Return: steps. */
static unsigned int check_way(const struct to_plan *old, const struct to_plan *next,
			      unsigned int *waiting)
{
	bool duplex = old->cluster->link_mode == TO_LINKS_DUPLEX;
	struct to_error err = { 0 };
	struct to_drain way;
	unsigned int n;

	assert_int_equal(to_drain_make(old, next, &way, &err), 0);
	n = way.n;
	*waiting = way.n_waiting;
	if (n)
		assert_true(same_links(way.plans[0]->cluster, old->cluster));
	assert_int_equal(old->cluster->n_links - way.n_cut, next->cluster->n_links - way.n_made);
	for (unsigned int i = 0; i < n; i++) {
		const struct to_plan *then = i + 1 < n ? way.plans[i + 1] : next;
		const struct to_cluster *now = way.plans[i]->cluster;
		unsigned int stay = check_order(now, then->cluster);

		if (i + 1 < n || !way.n_waiting)
			check_tables(way.plans[i]);
		if (duplex)
			check_failures(way.plans[i], stay);
		assert_int_equal(check_node_routes(way.plans[i], then),
				 i + 1 < n ? 0 : way.n_waiting);
		for (unsigned int l = stay; l < now->n_links; l++) {
			check_cut_port(way.plans[i], stay, now->links[l].b, now->links[l].a);
			if (duplex)
				check_cut_port(way.plans[i], stay, now->links[l].a,
					       now->links[l].b);
		}
	}
	to_drain_free(&way);
	return n;
}

/* Between plans without buffer cycles no step has any. Return: steps. */
static unsigned int check_cycles(struct to_plan *old, struct to_plan *next, unsigned int *waiting)
{
	struct to_error err = { 0 };
	struct to_drain way;
	unsigned int n;

	old->no_buffer_cycles = next->no_buffer_cycles = true;
	assert_int_equal(to_drain_make(old, next, &way, &err), 0);
	n = way.n;
	*waiting = way.n_waiting;
	for (unsigned int i = 0; i < n; i++) {
		const struct to_cluster *c = way.plans[i]->cluster;
		struct to_graph *graph = to_graph_new(c->n_servers, c->links, c->n_links, c->link_mode);
		struct to_buffer_cycle cycle;

		assert_non_null(graph);
		assert_int_equal(to_buffer_cycle_find(way.plans[i], graph, false, &cycle), 0);
		assert_true(cycle.dependencies > 0);
		assert_int_equal(cycle.n, 0);
		free(cycle.servers);
		to_graph_free(graph);
	}
	to_drain_free(&way);
	old->no_buffer_cycles = next->no_buffer_cycles = false;
	return n;
}

/* Links in other places, some or nearly all. */
static void check_mode(enum to_link_mode mode)
{
	bool duplex = mode == TO_LINKS_DUPLEX;
	unsigned int one = 0, more = 0, waiting;
	uint64_t random = 11;

	for (unsigned int round = 0; round < 30; round++) {
		struct to_demand *demand = job_new(SERVERS);
		struct to_error err = { 0 };
		struct to_plan *old, *next;

		job_group(demand, 0, 1, SERVERS, 64 * MIB);
		job_hot(demand, to_random_below(&random, SERVERS), 16 * MIB);
		old = job_plan(demand, 4, mode, &err);
		demand = job_new(SERVERS);
		job_group(demand, 0, 1, SERVERS, 64 * MIB);
		next = job_plan(demand, 4, mode, &err);
		assert_non_null(old);
		assert_non_null(next);
		to_cluster_free(next->cluster);
		next->cluster = to_cluster_copy(old->cluster);
		assert_non_null(next->cluster);
		cross_over(next->cluster, 1 + round % (duplex ? 15 : 40), &random);

		if (check_way(old, next, &waiting) > 1)
			more++;
		else
			one++;
		assert_int_equal(waiting, 0);
		to_plan_free(old);
		to_plan_free(next);
	}
	assert_true(one > 3);
	assert_true(more > 3);
}

static void duplex_links(void **state)
{
	(void)state;
	check_mode(TO_LINKS_DUPLEX);
}

static void simplex_links(void **state)
{
	(void)state;
	check_mode(TO_LINKS_SIMPLEX);
}

/* A ring of cables, eth0 to eth1 of the next but @apart, and eth2 of all on a packet switch. */
static struct to_plan *beside_a_switch(unsigned int apart)
{
	struct to_planner_knobs options = { .fixed = true, .seed = 1 };
	struct to_demand *demand = job_new(SERVERS);
	struct to_error err = { 0 };
	struct to_cluster *c = to_cluster_synthetic(SERVERS, 3, 100 * GBPS, TO_LINKS_DUPLEX, &err);
	struct to_plan *plan;

	assert_non_null(c);
	job_group(demand, 0, 1, SERVERS, 64 * MIB);
	c->packet_switches = calloc(1, sizeof(*c->packet_switches));
	c->links = calloc(SERVERS, sizeof(*c->links));
	c->packet_switches[0] = (struct to_packet_switch){ "tor0", SERVERS };
	c->n_packet_switches = 1;
	c->n_links = SERVERS;
	for (unsigned int s = 0; s < SERVERS; s++) {
		c->servers[s].ports[2].optical_switch = -1;
		c->servers[s].ports[2].packet_switch = 1;
		c->links[s] = (struct to_link){ .a = { s, 0 }, .b = { (s + apart) % SERVERS, 1 },
						.ring = -1, .tree = -1 };
	}
	plan = to_planner_make(c, demand, &options, &err);
	assert_string_equal(err.text, "");
	return plan;
}

/* Its links stay, and are next hops meanwhile, each with its peer. */
static void cables_beside_a_packet_switch(void **state)
{
	struct to_plan *old = beside_a_switch(1), *next = beside_a_switch(5);
	struct to_error err = { 0 };
	struct to_drain way;

	(void)state;
	assert_int_equal(to_drain_make(old, next, &way, &err), 0);
	assert_int_equal(way.n, 1);
	assert_int_equal(way.n_waiting, 0);
	assert_int_equal(way.n_cut, SERVERS);
	assert_int_equal(way.n_made, SERVERS);
	check_tables(way.plans[0]);
	to_drain_free(&way);
	to_plan_free(old);
	to_plan_free(next);
}

/* Links that TopologyFinder has for other hot pairs, and back; as many as ports allow. */
static void plans_of_other_pairs(void **state)
{
	(void)state;
	for (unsigned int degree = 3; degree <= 5; degree++)
		for (unsigned int n = 8; n <= SERVERS_MAX; n *= 2) {
			struct to_error err = { 0 };
			struct to_plan *plan[2];
			unsigned int waiting;

			for (unsigned int i = 0; i < 2; i++) {
				struct to_demand *demand = job_new(n);

				job_group(demand, 0, 1, n, MIB);
				for (unsigned int x = 0; x < n; x++)
					demand->mp[x * n + (x ^ n >> (1 + i))] = 64 * MIB;
				plan[i] = job_plan(demand, degree, TO_LINKS_DUPLEX, &err);
				assert_non_null(plan[i]);
			}
			for (unsigned int i = 0; i < 2; i++) {
				assert_true(check_way(plan[i], plan[!i], &waiting) > 0);
				assert_int_equal(waiting, 0);
				assert_true(check_cycles(plan[i], plan[!i], &waiting) > 0);
				assert_int_equal(waiting, 0);
			}
			to_plan_free(plan[0]);
			to_plan_free(plan[1]);
		}
}

/* No step leads from a ring to another: who is parted waits, the others do not. */
static void rings(void **state)
{
	struct to_error err = { 0 };
	struct to_plan *plan[2];
	unsigned int waiting;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct to_demand *demand = job_new(SERVERS);

		job_group(demand, 0, 1, SERVERS, MIB);
		plan[i] = job_plan(demand, 2, TO_LINKS_DUPLEX, &err);
		assert_non_null(plan[i]);
	}
	/* 0 to 11 in order, but 4 to 8 the other way round */
	for (unsigned int l = 0; l < SERVERS; l++) {
		struct to_port_ref *b = &plan[1]->cluster->links[l].b;
		struct to_port_ref *a = &plan[1]->cluster->links[l].a;

		plan[0]->cluster->links[l].a = (struct to_port_ref){ l, 0 };
		plan[0]->cluster->links[l].b = (struct to_port_ref){ (l + 1) % SERVERS, 1 };
		*a = plan[0]->cluster->links[l].a;
		*b = plan[0]->cluster->links[l].b;
		if (l == 3)
			*b = (struct to_port_ref){ 8, 0 };
		if (l == 8)
			*a = (struct to_port_ref){ 4, 1 };
	}
	assert_int_equal(check_way(plan[0], plan[1], &waiting), 1);
	assert_int_equal(waiting, 2 * 5 * 7);
	assert_int_equal(check_cycles(plan[0], plan[1], &waiting), 1);
	assert_int_equal(waiting, 2 * 5 * 7);
	to_plan_free(plan[0]);
	to_plan_free(plan[1]);
}

static void nothing_to_cut(void **state)
{
	struct to_demand *demand = job_new(SERVERS);
	struct to_error err = { 0 };
	struct to_plan *plan;
	unsigned int waiting;

	(void)state;
	job_hot(demand, 3, MIB);
	plan = job_plan(demand, 4, TO_LINKS_DUPLEX, &err);
	assert_non_null(plan);
	assert_int_equal(check_way(plan, plan, &waiting), 0);
	assert_int_equal(waiting, 0);
	to_plan_free(plan);
}

/* Links between ports that were dark, and links that only go. */
static void more_and_fewer(void **state)
{
	struct to_demand *demand = job_new(SERVERS);
	struct to_error err = { 0 };
	struct to_plan *plan, *fewer;
	unsigned int waiting;

	(void)state;
	job_hot(demand, 3, MIB);
	plan = job_plan(demand, 4, TO_LINKS_DUPLEX, &err);
	demand = job_new(SERVERS);
	job_hot(demand, 3, MIB);
	fewer = job_plan(demand, 4, TO_LINKS_DUPLEX, &err);
	assert_non_null(plan);
	assert_non_null(fewer);
	fewer->cluster->n_links--;
	assert_int_equal(check_way(fewer, plan, &waiting), 1);
	assert_int_equal(waiting, 0);
	assert_int_equal(check_way(plan, fewer, &waiting), 1);
	assert_int_equal(waiting, 0);
	to_plan_free(plan);
	to_plan_free(fewer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(duplex_links),
		cmocka_unit_test(simplex_links),
		cmocka_unit_test(cables_beside_a_packet_switch),
		cmocka_unit_test(plans_of_other_pairs),
		cmocka_unit_test(rings),
		cmocka_unit_test(nothing_to_cut),
		cmocka_unit_test(more_and_fewer),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
