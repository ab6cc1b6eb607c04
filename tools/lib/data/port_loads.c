// SPDX-License-Identifier: GPL-2.0-or-later
#include "data/port_loads.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* The way through @port of server @x, numbered when it is met first. */
static uint32_t port_loads_way(struct to_port_loads *p, const struct to_cluster *cluster,
			       uint32_t *way, uint32_t x, uint32_t port)
{
	uint32_t *at = &way[(size_t)x * TO_PORTS_MAX + port];

	if (!*at) {
		p->seconds_per_byte[p->n] = 8.0 / cluster->servers[x].ports[port].bandwidth;
		*at = ++p->n;
	}
	return *at - 1;
}

int to_port_loads_init(struct to_port_loads *p, const struct to_graph *graph,
		       const struct to_cluster *cluster)
{
	size_t arcs = graph->n_arcs, ways = (size_t)graph->n * TO_PORTS_MAX;
	struct to_arena scratch = { 0 };
	uint32_t *out = to_arena_array(&scratch, ways, sizeof(*out));
	uint32_t *in = to_arena_array(&scratch, ways, sizeof(*in)), a;

	memset(p, 0, sizeof(*p));
	p->graph = graph;
	p->out = to_arena_array(&p->arena, arcs, sizeof(*p->out));
	p->in = to_arena_array(&p->arena, arcs, sizeof(*p->in));
	p->bytes = to_arena_array(&p->arena, 2 * arcs, sizeof(*p->bytes));
	p->seconds_per_byte = to_arena_array(&p->arena, 2 * arcs, sizeof(*p->seconds_per_byte));
	if (scratch.failed || p->arena.failed) {
		to_arena_free(&scratch);
		to_port_loads_free(p);
		return -ENOMEM;
	}
	for (a = 0; a < graph->n_arcs; a++) {
		p->out[a] = port_loads_way(p, cluster, out, graph->from[a], graph->port[a]);
		p->in[a] = port_loads_way(p, cluster, in, graph->to[a], graph->peer_port[a]);
	}
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
	uint32_t a;

	memset(p->bytes, 0, p->n * sizeof(*p->bytes));
	for (a = 0; a < p->graph->n_arcs; a++) {
		p->bytes[p->out[a]] += bytes[a];
		p->bytes[p->in[a]] += bytes[a];
	}
}

double to_port_loads_most(const struct to_port_loads *p)
{
	double most = 0;
	uint32_t i;

	for (i = 0; i < p->n; i++)
		most = fmax(most, p->bytes[i]);
	return most;
}

double to_port_loads_seconds(const struct to_port_loads *p)
{
	double most = 0;
	uint32_t i;

	for (i = 0; i < p->n; i++)
		most = fmax(most, p->bytes[i] * p->seconds_per_byte[i]);
	return most;
}
