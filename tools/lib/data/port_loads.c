// SPDX-License-Identifier: GPL-2.0-or-later
#include "data/port_loads.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* While ways are numbered: 1 + number or 0, TO_PORTS_MAX per server. */
struct port_numbers {
	uint32_t *out, *in;		/* per port on a packet switch; NULL without any */
	uint32_t *from_host, *to_host;	/* per PCIe link; NULL without any */
};

/* Number the way at @at, which takes @spb seconds per byte, if it has no number yet. */
static uint32_t port_loads_number(struct to_port_loads *p, uint32_t *at, double spb)
{
	if (!*at) {
		p->seconds_per_byte[p->n] = spb;
		*at = ++p->n;
	}
	return *at - 1;
}

/* Number the way of @port, at @at in one of the arrays of struct port_numbers. */
static uint32_t port_loads_port(struct to_port_loads *p, const struct to_cluster *c, uint32_t *at,
				uint32_t x, uint32_t port)
{
	return port_loads_number(p, &at[(size_t)x * TO_PORTS_MAX + port],
				 8.0 / c->servers[x].ports[port].bandwidth);
}

static bool port_loads_switched(const struct to_graph *g, const struct to_cluster *c, uint32_t arc)
{
	return c->servers[g->from[arc]].ports[g->port[arc]].packet_switch;
}

/* Count the PCIe links behind a port. */
static uint32_t port_loads_depth(const struct to_server *server, uint32_t port)
{
	uint32_t n = 0;

	for (unsigned int link = server->ports[port].pcie; link; link = server->pcie[link - 1].within)
		n++;
	return n;
}

/* Offset the list of every arc. Return: how many ways there can be at most. */
static size_t port_loads_list(struct to_port_loads *p, const struct to_cluster *c)
{
	const struct to_graph *g = p->graph;
	size_t ways = g->n_arcs;

	for (uint32_t a = 0; a < g->n_arcs; a++) {
		const uint32_t ports = port_loads_switched(g, c, a) ? 2 : 1;
		const uint32_t links =
			port_loads_depth(&c->servers[g->from[a]], g->port[a]) +
			port_loads_depth(&c->servers[g->to[a]], g->peer_port[a]);

		p->first[a + 1] = p->first[a] + ports + links;
		ways += ports > 1 || links ? ports + links : 0;
	}
	return ways;
}

/* The ways of @arc through ports, first in its list. */
static void port_loads_add_ports(struct to_port_loads *p, const struct to_cluster *c,
				 const struct port_numbers *numbers, uint32_t arc)
{
	const struct to_graph *g = p->graph;
	uint32_t *way = &p->way[p->first[arc]], cable = 0;

	p->seconds_per_byte[arc] = to_graph_seconds_per_byte(g, c, arc);
	if (port_loads_switched(g, c, arc)) {
		way[0] = port_loads_port(p, c, numbers->out, g->from[arc], g->port[arc]);
		way[1] = port_loads_port(p, c, numbers->in, g->to[arc], g->peer_port[arc]);
	} else if (p->first[arc + 1] - p->first[arc] > 1) {
		way[0] = port_loads_number(p, &cable, p->seconds_per_byte[arc]);
	} else {
		way[0] = arc;
	}
}

/* The ways of the PCIe links behind a port, which are put at @way. Return: behind them. */
static uint32_t *port_loads_add_pcie(struct to_port_loads *p, const struct to_cluster *c,
				     struct to_port_ref at, bool to_host, uint32_t *numbers,
				     uint32_t *way)
{
	const struct to_server *server = &c->servers[at.server];

	for (unsigned int link = server->ports[at.port].pcie; link;
	     link = server->pcie[link - 1].within) {
		const struct to_pcie_way pcie = { at.server, link - 1, to_host };
		uint32_t *number = &numbers[(size_t)at.server * TO_PORTS_MAX + link - 1];

		*way = port_loads_number(p, number, 8.0 / to_pcie_way_rate(c, &pcie));
		p->pcie[*way++ - p->n_ports] = pcie;
	}
	return way;
}

/* Number all ways: those of PCIe links after those of ports. */
static void port_loads_find(struct to_port_loads *p, const struct to_cluster *c,
			    const struct port_numbers *numbers)
{
	const struct to_graph *g = p->graph;

	p->n = g->n_arcs;
	for (uint32_t a = 0; a < g->n_arcs; a++)
		port_loads_add_ports(p, c, numbers, a);
	p->n_ports = p->n;
	for (uint32_t a = 0; a < g->n_arcs; a++) {
		uint32_t *way = &p->way[p->first[a] + (port_loads_switched(g, c, a) ? 2 : 1)];

		way = port_loads_add_pcie(p, c, (struct to_port_ref){ g->from[a], g->port[a] },
					  false, numbers->from_host, way);
		port_loads_add_pcie(p, c, (struct to_port_ref){ g->to[a], g->peer_port[a] }, true,
				    numbers->to_host, way);
		for (way = &p->way[p->first[a]]; way < &p->way[p->first[a + 1]]; way++)
			p->seconds_per_byte[a] = fmax(p->seconds_per_byte[a],
						      p->seconds_per_byte[*way]);
	}
}

int to_port_loads_init(struct to_port_loads *p, const struct to_graph *graph,
		       const struct to_cluster *cluster)
{
	const size_t numbers = (size_t)graph->n * TO_PORTS_MAX;
	struct to_arena scratch = { 0 };
	struct port_numbers n = { 0 };
	bool pcie = false;
	size_t ways;

	*p = (struct to_port_loads){ .graph = graph };
	for (uint32_t x = 0; x < graph->n; x++)
		pcie |= cluster->servers[x].n_pcie > 0;
	if (cluster->n_packet_switches) {
		n.out = to_arena_array(&scratch, numbers, sizeof(*n.out));
		n.in = to_arena_array(&scratch, numbers, sizeof(*n.in));
	}
	if (pcie) {
		n.from_host = to_arena_array(&scratch, numbers, sizeof(*n.from_host));
		n.to_host = to_arena_array(&scratch, numbers, sizeof(*n.to_host));
	}
	p->first = to_arena_array(&p->arena, (size_t)graph->n_arcs + 1, sizeof(*p->first));
	ways = p->first ? port_loads_list(p, cluster) : 0;
	if (p->first)
		p->way = to_arena_array(&p->arena, p->first[graph->n_arcs], sizeof(*p->way));
	p->bytes = to_arena_array(&p->arena, ways, sizeof(*p->bytes));
	p->seconds_per_byte = to_arena_array(&p->arena, ways, sizeof(*p->seconds_per_byte));
	if (pcie)
		p->pcie = to_arena_array(&p->arena, ways, sizeof(*p->pcie));
	if (scratch.failed || p->arena.failed) {
		to_arena_free(&scratch);
		to_port_loads_free(p);
		return -ENOMEM;
	}
	port_loads_find(p, cluster, &n);
	to_arena_free(&scratch);
	return 0;
}

void to_port_loads_free(struct to_port_loads *p)
{
	to_arena_free(&p->arena);
	memset(p, 0, sizeof(*p));
}

void to_port_loads_set(struct to_port_loads *p, const double *bytes)
{
	memset(p->bytes, 0, p->n * sizeof(*p->bytes));
	for (uint32_t a = 0; a < p->graph->n_arcs; a++)
		for (uint32_t i = p->first[a]; i < p->first[a + 1]; i++)
			p->bytes[p->way[i]] += bytes[a];
}

double to_port_loads_most(const struct to_port_loads *p)
{
	double most = 0;

	for (uint32_t w = 0; w < p->n_ports; w++)
		most = fmax(most, p->bytes[w]);
	return most;
}

double to_port_loads_seconds(const struct to_port_loads *p)
{
	double most = 0;

	for (uint32_t w = 0; w < p->n; w++)
		most = fmax(most, to_port_loads_way_seconds(p, w));
	return most;
}

uint32_t to_port_loads_pcie(const struct to_port_loads *p)
{
	double most = 0;
	uint32_t w;

	for (w = p->n_ports; w < p->n; w++)
		most = fmax(most, to_port_loads_way_seconds(p, w));
	for (w = p->n_ports; w < p->n; w++)
		if (to_port_loads_way_seconds(p, w) >= most * TO_PORT_LOADS_EQUAL)
			return w;
	return UINT32_MAX;
}
