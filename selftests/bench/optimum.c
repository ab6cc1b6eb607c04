// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How busy the busiest link of a plan must be, whatever the routes.
 *
 *	optimum PLAN
 *
 * prints a JSON object: optimum_s of the linear program of its links, by GLPK; cut_s,
 * the most that the links out of any set of servers have to carry (null over
 * CUT_SERVERS servers: there are too many sets). Both include AllReduce on links
 * of its own.
 */
#include <stdio.h>

#include "../unit/optimum.h"
#include "format/plan_json.h"

#define CUT_SERVERS 20

/* Seconds for what leaves the servers of @set, and what their AllReduce sends. */
static double cut_time(const struct to_graph *g, const uint64_t *routed, const double *owned,
		       const double *rate, uint32_t set)
{
	double bytes = 0, room = 0;

	for (uint32_t x = 0; x < g->n; x++)
		for (uint32_t y = 0; set >> x & 1 && y < g->n; y++)
			bytes += set >> y & 1 ? 0 : routed[x * g->n + y];
	for (uint32_t a = 0; a < g->n_arcs; a++) {
		if (!(set >> g->from[a] & 1) || set >> g->to[a] & 1)
			continue;
		bytes += owned[a];
		room += rate[a];
	}
	return bytes / room;
}

static json_t *cut(const struct to_plan *plan)
{
	const struct to_cluster *c = plan->cluster;
	struct to_rings rings = to_allreduce_of(plan);
	struct to_graph *g;
	double *owned, *rate, most = 0;
	uint64_t *routed;

	if (c->n_servers > CUT_SERVERS)
		return json_null();
	g = to_graph_new(c->n_servers, c->links, c->n_links, c->link_mode);
	routed = g ? to_allreduce_routed(&rings, g, true) : NULL;
	if (!routed)
		abort();
	owned = calloc(g->n_arcs + 1, sizeof(*owned));
	rate = calloc(g->n_arcs + 1, sizeof(*rate));
	if (!owned || !rate)
		abort();
	to_allreduce_link_bytes(&rings, g, owned);
	for (uint32_t a = 0; a < g->n_arcs; a++)
		rate[a] = 1 / to_graph_seconds_per_byte(g, c, a);
	for (uint32_t set = 1; set < (1u << g->n) - 1; set++)
		most = fmax(most, cut_time(g, routed, owned, rate, set));
	free(owned);
	free(rate);
	free(routed);
	to_graph_free(g);
	return json_real(most);
}

int main(int argc, char **argv)
{
	struct to_error err = { "" };
	struct to_plan *plan;
	json_t *out;

	if (argc != 2) {
		fprintf(stderr, "usage: optimum PLAN\n");
		return 2;
	}
	plan = to_plan_load(argv[1], &err);
	if (!plan) {
		fprintf(stderr, "optimum: %s\n", err.text);
		return 1;
	}
	glp_term_out(GLP_OFF);
	out = json_pack("{s:f s:o}", "optimum_s", optimum(plan) / 1e3, "cut_s", cut(plan));
	json_dumpf(out, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(out);
	to_plan_free(plan);
	return 0;
}
