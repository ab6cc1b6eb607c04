// SPDX-License-Identifier: GPL-2.0-or-later
#include "routing/busy_time.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/allreduce.h"

/* Destinations at a time: as many as a cache line has of a row of the matrix. */
#define BUSY_TIME_COLUMNS 8
#define BUSY_TIME_RECEIVERS 64	/* sums at a time of what servers receive */

/* The paths to all servers, one after the other. Return: 0 or -ENOMEM. */
static int busy_time_compile(struct to_busy_time *busy)
{
	const uint32_t n = busy->graph->n;
	struct to_forwarding f;
	size_t room = 0, used = 0;
	int ret = to_forwarding_init(&f, busy->plan, busy->graph);

	for (uint32_t dst = 0; !ret && !f.n_qualified && !busy->bypass.mp.any && dst < n; dst++) {
		busy->first[dst] = used;
		if (used + busy->graph->n_arcs > room) {
			struct to_part *more;

			room = 2 * room + busy->graph->n_arcs;
			more = realloc(busy->parts, room * sizeof(*more));
			if (!more) {
				ret = -ENOMEM;
				break;
			}
			busy->parts = more;
		}
		to_forwarding_resolve(&f, dst, 0);
		used += to_forwarding_parts(&f, busy->parts + used);
		busy->first[dst + 1] = used;
	}
	to_forwarding_free(&f);
	return ret;
}

int to_busy_time_init(struct to_busy_time *busy, const struct to_plan *plan)
{
	const struct to_cluster *c = plan->cluster;

	*busy = (struct to_busy_time){ .plan = to_plan_hold(plan) };
	busy->graph = to_graph_new(c->n_servers, c->links, c->n_links, c->link_mode);
	busy->first = calloc((size_t)c->n_servers + 1, sizeof(*busy->first));
	busy->flow = calloc((size_t)c->n_servers * BUSY_TIME_COLUMNS, sizeof(*busy->flow));
	if (busy->graph)
		busy->load = calloc(2 * (size_t)busy->graph->n_arcs + 1, sizeof(*busy->load));
	if (busy->first && busy->flow && busy->load &&
	    !to_port_loads_init(&busy->ports, busy->graph, c) &&
	    !to_bypass_init(&busy->bypass.rings, busy->graph, c) &&
	    !to_bypass_init(&busy->bypass.mp, busy->graph, c) && !busy_time_compile(busy))
		return 0;
	to_busy_time_free(busy);
	return -ENOMEM;
}

void to_busy_time_free(struct to_busy_time *busy)
{
	to_graph_free(busy->graph);
	to_port_loads_free(&busy->ports);
	to_bypass_free(&busy->bypass.rings);
	to_bypass_free(&busy->bypass.mp);
	free(busy->parts);
	free(busy->first);
	free(busy->load);
	free(busy->flow);
	to_plan_free(busy->plan);
	*busy = (struct to_busy_time){ 0 };
}

/* Add what @bytes has for all servers to @busy->load. */
static void busy_time_spread(struct to_busy_time *busy, const uint64_t *bytes)
{
	const size_t n = busy->graph->n;
	const uint32_t *to = busy->graph->to;
	double *load = busy->load;

	for (size_t dst = 0; dst < n; dst += BUSY_TIME_COLUMNS) {
		const size_t columns = n - dst < BUSY_TIME_COLUMNS ? n - dst : BUSY_TIME_COLUMNS;

		for (size_t x = 0; x < n; x++)
			for (size_t k = 0; k < columns; k++)
				busy->flow[k * n + x] = bytes[x * n + dst + k];
		for (size_t k = 0; k < columns; k++) {
			const struct to_part *part = busy->parts + busy->first[dst + k];
			const struct to_part *end = busy->parts + busy->first[dst + k + 1];
			double *flow = busy->flow + k * n;

			for (; part < end; part++) {
				const double sent = flow[part->from] * part->share;

				flow[to[part->arc]] += sent;
				load[part->arc] += sent;
			}
		}
	}
}

/* Bytes per arc, into @busy->load. Return: 0 or -ENOMEM. */
static int busy_time_load(struct to_busy_time *busy, const struct to_demand *demand)
{
	struct to_plan view = *busy->plan;
	const struct to_rings rings = { to_plan_layout(busy->plan), demand };
	double *load = busy->load, *mp = load + busy->graph->n_arcs;
	struct to_forwarding f;
	uint64_t *routed;
	int ret;

	if (busy->parts) {
		to_allreduce_link_bytes(&rings, busy->graph, load);
		if (!to_allreduce_is_routed(&rings, busy->graph)) {
			busy_time_spread(busy, demand->mp);
			return 0;
		}
		routed = to_allreduce_and_mp_routed(&rings, busy->graph);
		if (!routed)
			return -ENOMEM;
		busy_time_spread(busy, routed);
		free(routed);
		return 0;
	}
	view.demand = (struct to_demand *)demand;
	ret = to_forwarding_init(&f, &view, busy->graph);
	if (ret)
		return ret;
	to_bypass_clear(&busy->bypass.rings);
	to_bypass_clear(&busy->bypass.mp);
	ret = to_link_loads_bypass(&f, load, mp, &busy->bypass);
	for (uint32_t a = 0; !ret && a < busy->graph->n_arcs; a++)
		load[a] += mp[a];
	to_forwarding_free(&f);
	return ret;
}

int to_busy_time_of(struct to_busy_time *busy, const struct to_demand *demand, double *load,
		    double *seconds)
{
	const struct to_graph *graph = busy->graph;

	*seconds = 0;
	if (busy_time_load(busy, demand))
		return -ENOMEM;
	to_port_loads_set(&busy->ports, busy->load);
	to_bypass_relieve(&busy->bypass.rings, &busy->ports);
	to_bypass_relieve(&busy->bypass.mp, &busy->ports);
	*seconds = to_port_loads_seconds(&busy->ports);
	if (load)
		memcpy(load, busy->load, graph->n_arcs * sizeof(*load));
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

/* What each of up to BUSY_TIME_RECEIVERS servers from @first on receives. */
static void busy_time_received(const uint64_t *bytes, unsigned int n, unsigned int first,
			       double *in)
{
	const unsigned int end = n - first < BUSY_TIME_RECEIVERS ? n - first : BUSY_TIME_RECEIVERS;

	memset(in, 0, BUSY_TIME_RECEIVERS * sizeof(*in));
	for (size_t y = 0; y < n; y++)
		for (unsigned int k = 0; k < end; k++)
			in[k] += bytes[y * n + first + k];
}

double to_busy_time_bound(const struct to_cluster *cluster, const uint64_t *bytes)
{
	const unsigned int n = cluster->n_servers;
	double bound = 0, hops = 0, hops_out = 0, hops_in = 0, received[BUSY_TIME_RECEIVERS];

	for (unsigned int x = 0; x < n; x++) {
		const struct to_server *server = &cluster->servers[x];
		double out = 0, in, ports = 0, sends, receives;

		if (x % BUSY_TIME_RECEIVERS == 0)
			busy_time_received(bytes, n, x, received);
		in = received[x % BUSY_TIME_RECEIVERS];
		for (unsigned int p = 0; p < server->n_ports; p++)
			ports += server->ports[p].bandwidth / 8.0;
		sends = to_pcie_sends(server, server->n_ports) / 8.0;
		receives = to_pcie_receives(server, server->n_ports) / 8.0;
		for (unsigned int y = 0; y < n; y++)
			out += bytes[(size_t)x * n + y];
		hops += out + busy_time_beyond(bytes + (size_t)x * n, n, server->n_ports);
		/* bytes that a card passes on cross no PCIe link */
		hops_out += to_pcie_is_bypassed(server) ? ports : sends;
		hops_in += to_pcie_is_bypassed(server) ? ports : receives;
		if (ports > 0)
			bound = fmax(bound, fmax(out / sends, in / receives));
	}
	return hops_out > 0 ? fmax(bound, hops / fmin(hops_out, hops_in)) : bound;
}
