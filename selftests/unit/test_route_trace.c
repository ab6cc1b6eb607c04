// SPDX-License-Identifier: GPL-2.0-or-later
/* The path that `toctl route` prints, against what packets do hop by hop. */

#include "job.h"
#include "routing/queue_pairs.h"
#include "topology/switched.h"
#include "verify/route_trace.h"

#define LAB_SERVERS 16

struct lab {
	struct to_plan *plan;
	struct to_graph *graph;
	struct to_forwarding f;
	bool *met, *printed;	/* per arc */
	uint8_t *state;		/* per arc: not seen, on the path to here, done */
	bool loops, looped;
	unsigned int turned, round_again;
};

static struct lab lab_new(struct to_plan *plan)
{
	const struct to_cluster *c = plan->cluster;
	struct lab lab = { .plan = plan };

	lab.graph = to_graph_new(c->n_servers, c->links, c->n_links, c->link_mode);
	assert_non_null(lab.graph);
	assert_int_equal(to_forwarding_init(&lab.f, plan, lab.graph), 0);
	lab.met = calloc(lab.graph->n_arcs, sizeof(bool));
	lab.printed = calloc(lab.graph->n_arcs, sizeof(bool));
	lab.state = calloc(lab.graph->n_arcs, 1);
	assert_true(lab.met && lab.printed && lab.state);
	return lab;
}

static void lab_free(struct lab *lab)
{
	free(lab->met);
	free(lab->printed);
	free(lab->state);
	to_forwarding_free(&lab->f);
	to_graph_free(lab->graph);
}

/* All arcs that a packet on @arc meets. */
static void meet(struct lab *lab, uint32_t arc)
{
	const struct to_graph *g = lab->graph;
	uint32_t x = g->to[arc];
	uint64_t next = to_forwarding_onward(&lab->f, x, arc, NULL);

	lab->loops |= lab->state[arc] == 1;
	if (lab->state[arc])
		return;
	lab->met[arc] = true;
	lab->turned += x != lab->f.dst && next != to_forwarding_onward(&lab->f, x, UINT32_MAX, NULL);
	lab->round_again += x == lab->f.dst && next;
	lab->state[arc] = 1;
	for (; next; next &= next - 1)
		meet(lab, g->out[x] + __builtin_ctzll(next));
	lab->state[arc] = 2;
}

/* The arc of port @port of @server that leads to @peer, "s1:eth0". */
static uint32_t arc_to(const struct lab *lab, uint32_t server, unsigned int port, const char *peer)
{
	const struct to_graph *g = lab->graph;
	char name[TO_NAME_MAX + IFNAMSIZ];
	uint32_t a;

	for (a = g->out[server]; a < g->out[server + 1]; a++) {
		const struct to_server *to = &lab->plan->cluster->servers[g->to[a]];

		snprintf(name, sizeof(name), "%s:%s", to->name, to->ports[g->peer_port[a]].name);
		if (g->port[a] == port && !strcmp(name, peer))
			return a;
	}
	fail_msg("no link leads to %s", peer);
	return UINT32_MAX;
}

/* All links of the tree but those behind it that are for failures only. */
static void print(struct lab *lab, const json_t *node)
{
	const struct to_cluster *c = lab->plan->cluster;
	int server = to_cluster_find_server(c, json_string_value(json_object_get(node, "server")));
	const json_t *hop;
	size_t i;

	lab->looped |= !!json_object_get(node, "loop");
	json_array_foreach(json_object_get(node, "next"), i, hop) {
		int port = to_cluster_find_port(&c->servers[server],
						json_string_value(json_object_get(hop, "port")));

		if (json_is_true(json_object_get(hop, "backup")))
			continue;
		lab->printed[arc_to(lab, server, port, json_string_value(json_object_get(hop, "peer")))] = true;
		print(lab, json_object_get(hop, "then"));
	}
}

/* From port @p of @src to port @slot - 1 of @dst. */
static void compare(struct lab *lab, uint32_t src, unsigned int p, uint32_t dst, unsigned int slot)
{
	const struct to_port_ref from = { src, p };
	uint16_t distance[LAB_SERVERS];
	uint32_t order[LAB_SERVERS], arc;
	json_t *tree;

	assert_in_range(lab->graph->n, 1, LAB_SERVERS);
	to_graph_port_distances(lab->graph, dst, slot - 1, distance, order);
	arc = to_queue_pair_arc(lab->graph, from, dst, slot - 1, distance);
	if (arc == UINT32_MAX || src == dst)
		return;
	memset(lab->met, 0, lab->graph->n_arcs);
	memset(lab->printed, 0, lab->graph->n_arcs);
	memset(lab->state, 0, lab->graph->n_arcs);
	lab->loops = lab->looped = false;
	meet(lab, arc);
	tree = to_route_trace(lab->plan, src, (struct to_route_end){ src, 1 + p },
			      (struct to_route_end){ dst, slot });
	assert_non_null(tree);
	print(lab, tree);
	assert_memory_equal(lab->met, lab->printed, lab->graph->n_arcs);
	assert_int_equal(lab->loops, lab->looped);
	json_decref(tree);
}

/* An alternate that the planner did not think of. */
static void turn(struct to_plan *plan, uint64_t *random)
{
	uint32_t x = to_random_below(random, plan->cluster->n_servers);
	struct to_table *table = &plan->tables[x];
	struct to_group *group = &table->groups[to_random_below(random, table->n_groups)];
	struct to_nexthop hop = { .port = to_random_below(random, plan->slots - 1), .weight = 1,
				  .ingress = 1 + to_random_below(random, plan->slots - 1) };
	struct to_port_ref peer;

	for (unsigned int i = 0; i < group->n; i++)
		if (group->nexthops[i].ingress == hop.ingress)
			return;
	if (to_plan_peer(plan, (struct to_port_ref){ x, hop.port }, &peer))
		return;
	group->nexthops = realloc(group->nexthops, (group->n + 1) * sizeof(hop));
	assert_non_null(group->nexthops);
	group->nexthops[group->n++] = hop;
}

static void a_path_is_what_packets_do(void **state)
{
	unsigned int turned = 0, round_again = 0, loops = 0;
	uint64_t random = 31;

	(void)state;
	for (unsigned int round = 0; round < 60; round++) {
		unsigned int n = 3 + to_random_below(&random, 6), degree = 2 + to_random_below(&random, 3);
		struct to_error err = { "" };
		struct to_plan *plan = job_plan(job_random(n, &random), degree,
						to_random_below(&random, 2), &err);
		struct lab lab;

		assert_string_equal(err.text, "");
		for (unsigned int i = round % 3 * 20; i; i--)
			turn(plan, &random);
		lab = lab_new(plan);
		for (uint32_t dst = 0; dst < n; dst++) {
			for (unsigned int slot = 1; slot < plan->slots; slot++) {
				to_forwarding_resolve(&lab.f, dst, slot);
				for (uint32_t src = 0; src < n; src++)
					for (unsigned int p = 0; p < degree; p++) {
						compare(&lab, src, p, dst, slot);
						loops += lab.looped;
					}
			}
		}
		turned += lab.turned;
		round_again += lab.round_again;
		lab_free(&lab);
		to_plan_free(plan);
	}
	assert_true(turned && round_again && loops);
}

/* From all ports to all ports of @plan. Return: arrivals by another port than the one meant. */
static unsigned int compare_all(struct to_plan *plan)
{
	struct lab lab = lab_new(plan);
	unsigned int round_again;

	for (uint32_t dst = 0; dst < lab.graph->n; dst++)
		for (unsigned int slot = 1; slot < plan->slots; slot++) {
			to_forwarding_resolve(&lab.f, dst, slot);
			for (uint32_t src = 0; src < lab.graph->n; src++)
				for (unsigned int p = 0; p + 1 < plan->slots; p++)
					compare(&lab, src, p, dst, slot);
		}
	assert_false(lab.looped);
	round_again = lab.round_again;
	lab_free(&lab);
	to_plan_free(plan);
	return round_again;
}

/* On a packet switch a hop is a port and a peer. */
static void through_packet_switches(void **state)
{
	const struct to_planner_knobs options = { .fixed = true, .seed = 1 };
	struct to_error err = { "" };
	static const unsigned int servers[] = { 9, 9, 2 };
	struct to_bcube bcube;
	struct to_cluster *c;
	struct to_plan *plan;

	(void)state;
	assert_int_equal(to_bcube_init(&bcube, 3, 2, &err), 0);
	for (unsigned int i = 0; i < 3; i++) {
		c = to_cluster_synthetic(servers[i], 2, 0, TO_LINKS_DUPLEX, &err);
		assert_non_null(c);
		assert_int_equal(i ? to_switched_rails(c, &err) : to_switched_bcube(c, &bcube, &err), 0);
		plan = to_planner_make(c, job_new(servers[i]), &options, &err);
		assert_string_equal(err.text, "");
		/* where nobody else is on a rail, the server itself hands it to the other port */
		assert_int_equal(compare_all(plan) > 0, servers[i] == 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(through_packet_switches),
		cmocka_unit_test(a_path_is_what_packets_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
