// SPDX-License-Identifier: GPL-2.0-or-later
#include "data/bypass.h"

#include <errno.h>
#include <string.h>

int to_bypass_init(struct to_bypass *b, const struct to_graph *graph,
		   const struct to_cluster *cluster)
{
	*b = (struct to_bypass){ .graph = graph, .cluster = cluster };
	for (uint32_t x = 0; x < graph->n; x++)
		b->any |= cluster->servers[x].n_pcie && to_pcie_is_bypassed(&cluster->servers[x]);
	if (!b->any)
		return 0;
	b->here = to_arena_array(&b->arena, graph->n_arcs, sizeof(*b->here));
	b->arrived = to_arena_array(&b->arena, graph->n_arcs, sizeof(*b->arrived));
	b->passed = to_arena_array(&b->arena, graph->n_arcs, sizeof(*b->passed));
	if (!b->arena.failed)
		return 0;
	to_bypass_free(b);
	return -ENOMEM;
}

void to_bypass_free(struct to_bypass *b)
{
	to_arena_free(&b->arena);
	memset(b, 0, sizeof(*b));
}

void to_bypass_clear(struct to_bypass *b)
{
	if (!b->any)
		return;
	memset(b->arrived, 0, b->graph->n_arcs * sizeof(*b->arrived));
	memset(b->passed, 0, b->graph->n_arcs * sizeof(*b->passed));
}

void to_bypass_begin(struct to_bypass *b)
{
	if (b->any)
		memset(b->here, 0, b->graph->n_arcs * sizeof(*b->here));
}

void to_bypass_send(struct to_bypass *b, uint32_t arc, double share, double bytes)
{
	const struct to_graph *g = b->graph;
	const uint32_t x = g->from[arc];

	if (!b->any)
		return;
	for (uint32_t i = g->in[x]; i < g->in[x + 1]; i++) {
		const uint32_t in = g->in_arc[i];

		if (!(b->here[in] > 0) ||
		    !to_pcie_bypasses(&b->cluster->servers[x], g->peer_port[in], g->port[arc]))
			continue;
		b->arrived[in] += b->here[in] * share;
		b->passed[arc] += b->here[in] * share;
	}
	b->here[arc] += bytes;
}

void to_bypass_relieve(const struct to_bypass *b, struct to_port_loads *p)
{
	for (uint32_t a = 0; b->any && a < b->graph->n_arcs; a++)
		for (uint32_t i = p->first[a]; i < p->first[a + 1]; i++) {
			const uint32_t way = p->way[i];

			if (way >= p->n_ports)
				p->bytes[way] -= p->pcie[way - p->n_ports].to_host ? b->arrived[a] :
										     b->passed[a];
		}
}
