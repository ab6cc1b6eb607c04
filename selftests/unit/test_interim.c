// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables between two plans: everybody reached, over links that both have. */

#include "job.h"

#include "interim.h"

#define SERVERS 12

/* The plan after @swaps pairs of links were crossed over; ports stay as they are. */
static void cross_over(struct to_cluster *cluster, unsigned int swaps, uint64_t *random)
{
	while (swaps) {
		struct to_link *x = &cluster->links[to_random_below(random, cluster->n_links)];
		struct to_link *y = &cluster->links[to_random_below(random, cluster->n_links)];
		struct to_port_ref b = x->b;

		if (x == y || x->a.server == y->b.server || y->a.server == x->b.server)
			continue;
		x->b = y->b;
		y->b = b;
		swaps--;
	}
}

static bool joins(const struct to_link *link, const struct to_link *other)
{
	return link->a.server == other->a.server && link->a.port == other->a.port &&
	       link->b.server == other->b.server && link->b.port == other->b.port;
}

static bool port_is_kept(const struct to_plan *old, const struct to_plan *next,
			 struct to_port_ref at, bool duplex)
{
	/* crossing over changes links in place */
	for (unsigned int l = 0; l < old->cluster->n_links; l++) {
		const struct to_link *link = &old->cluster->links[l];

		if ((link->a.server == at.server && link->a.port == at.port) ||
		    (duplex && link->b.server == at.server && link->b.port == at.port))
			return joins(link, &next->cluster->links[l]);
	}
	return false;
}

static void check_node_routes(const struct to_plan *interim, const struct to_plan *old,
			      const struct to_plan *next, bool duplex)
{
	for (uint32_t x = 0; x < SERVERS; x++) {
		const struct to_table *table = &interim->tables[x];

		for (uint32_t dst = 0; dst < SERVERS; dst++) {
			uint16_t group = table->route[dst * interim->slots];

			for (unsigned int i = 0; x != dst && i < table->groups[group].n; i++) {
				struct to_port_ref at = { x, table->groups[group].nexthops[i].port };

				assert_true(port_is_kept(old, next, at, duplex));
			}
		}
		for (unsigned int i = 0; i < table->n_pairs; i++)
			assert_int_equal(table->pairs[i].slot, 0);
	}
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

/* Routes to the port @at that is cut are where a way leads to its peer @from. */
static void check_cut_port(const struct to_plan *interim, unsigned int kept,
			   struct to_port_ref at, struct to_port_ref from)
{
	const struct to_cluster *c = interim->cluster;
	struct to_graph *graph = to_graph_new(SERVERS, c->links, kept, c->link_mode);
	uint16_t distance[SERVERS];
	uint32_t order[SERVERS];

	assert_non_null(graph);
	to_graph_distances(graph, from.server, at.server, distance, order);
	for (uint32_t x = 0; x < SERVERS; x++)
		if (x != at.server)
			assert_int_equal(interim->tables[x].route[at.server * interim->slots +
								  1 + at.port] != TO_GROUP_NONE,
					 distance[x] != TO_DISTANCE_NONE);
	to_graph_free(graph);
}

static void check_mode(enum to_link_mode mode)
{
	bool duplex = mode == TO_LINKS_DUPLEX;
	unsigned int made = 0, none = 0;
	uint64_t random = 11;

	for (unsigned int round = 0; round < 30; round++) {
		struct to_demand *demand = job_new(SERVERS);
		struct to_error err = { 0 };
		struct to_interim interim;
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

		assert_int_equal(to_interim_make(old, next, &interim, &err), 0);
		assert_int_equal(interim.kept + interim.cut, old->cluster->n_links);
		if (interim.plan) {
			check_tables(interim.plan);
			check_node_routes(interim.plan, old, next, duplex);
			for (unsigned int l = interim.kept; l < old->cluster->n_links; l++) {
				const struct to_link *link = &interim.plan->cluster->links[l];

				check_cut_port(interim.plan, interim.kept, link->b, link->a);
				if (duplex)
					check_cut_port(interim.plan, interim.kept, link->a, link->b);
			}
			made++;
		} else {
			none++;
		}
		to_interim_free(&interim);
		to_plan_free(old);
		to_plan_free(next);
	}
	assert_true(made > 3);
	assert_true(none > 3);
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

static void nothing_to_cut(void **state)
{
	struct to_demand *demand = job_new(SERVERS);
	struct to_error err = { 0 };
	struct to_interim interim;
	struct to_plan *plan;

	(void)state;
	job_hot(demand, 3, MIB);
	plan = job_plan(demand, 4, TO_LINKS_DUPLEX, &err);
	assert_non_null(plan);
	assert_int_equal(to_interim_make(plan, plan, &interim, &err), 0);
	assert_int_equal(interim.cut, 0);
	assert_non_null(interim.plan);
	to_interim_free(&interim);
	to_plan_free(plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(duplex_links),
		cmocka_unit_test(simplex_links),
		cmocka_unit_test(nothing_to_cut),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
