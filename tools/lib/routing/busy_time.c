// SPDX-License-Identifier: GPL-2.0-or-later
#include "routing/busy_time.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "routing/link_loads.h"

int to_busy_time_init(struct to_busy_time *busy, const struct to_plan *plan)
{
	const struct to_cluster *c = plan->cluster;

	*busy = (struct to_busy_time){ .plan = to_plan_hold(plan), .view = *plan };
	busy->graph = to_graph_new(c->n_servers, c->links, c->n_links, c->link_mode);
	if (busy->graph)
		busy->arcs = calloc(2 * (size_t)busy->graph->n_arcs + 1, sizeof(*busy->arcs));
	if (busy->arcs && !to_forwarding_init(&busy->forwarding, &busy->view, busy->graph))
		return 0;
	to_busy_time_free(busy);
	return -ENOMEM;
}

void to_busy_time_free(struct to_busy_time *busy)
{
	to_forwarding_free(&busy->forwarding);
	to_graph_free(busy->graph);
	free(busy->arcs);
	to_plan_free(busy->plan);
	*busy = (struct to_busy_time){ 0 };
}

int to_busy_time_of(struct to_busy_time *busy, const struct to_demand *demand, double *load,
		    double *seconds)
{
	const struct to_graph *graph = busy->graph;
	double *rings = busy->arcs, *mp = rings + graph->n_arcs;

	busy->view.demand = (struct to_demand *)demand;
	busy->forwarding.plan = &busy->view;	/* wherever it was moved */
	*seconds = 0;
	if (to_link_loads(&busy->forwarding, rings, mp))
		return -ENOMEM;
	for (uint32_t a = 0; a < graph->n_arcs; a++) {
		const double bytes = rings[a] + mp[a];

		*seconds = fmax(*seconds, bytes * to_graph_seconds_per_byte(graph, busy->plan->cluster, a));
		if (load)
			load[a] = bytes;
	}
	return 0;
}

/* Bytes that a server has for others than its @ports best partners. */
static double busy_time_beyond(const uint64_t *row, unsigned int n, unsigned int ports)
{
	uint64_t most[64];
	unsigned int n_most = 0, i;
	double beyond = 0;

	if (ports > 64)
		ports = 64;
	for (unsigned int y = 0; y < n; y++) {
		uint64_t bytes = row[y];

		if (!bytes)
			continue;
		if (n_most == ports && (!ports || bytes <= most[n_most - 1])) {
			beyond += bytes;
			continue;
		}
		if (n_most == ports)
			beyond += most[--n_most];
		for (i = n_most++; i && most[i - 1] < bytes; i--)
			most[i] = most[i - 1];
		most[i] = bytes;
	}
	return beyond;
}

double to_busy_time_bound(const struct to_cluster *cluster, const uint64_t *bytes)
{
	const unsigned int n = cluster->n_servers;
	double bound = 0, hops = 0, rates = 0;

	for (unsigned int x = 0; x < n; x++) {
		const struct to_server *server = &cluster->servers[x];
		double rate = 0, out = 0, in = 0;

		for (unsigned int p = 0; p < server->n_ports; p++)
			rate += server->ports[p].bandwidth / 8.0;
		for (unsigned int y = 0; y < n; y++) {
			out += bytes[(size_t)x * n + y];
			in += bytes[(size_t)y * n + x];
		}
		hops += out + busy_time_beyond(bytes + (size_t)x * n, n, server->n_ports);
		rates += rate;
		if (rate > 0)
			bound = fmax(bound, fmax(out, in) / rate);
	}
	return rates > 0 ? fmax(bound, hops / rates) : bound;
}
