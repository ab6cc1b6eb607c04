// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "graph/spf.h"

int to_spf_init(struct to_spf *spf, const struct to_graph *graph)
{
	struct to_arena *arena = &spf->arena;
	size_t n = graph->n;

	memset(spf, 0, sizeof(*spf));
	spf->distance = to_arena_array(arena, n, sizeof(*spf->distance));
	spf->order = to_arena_array(arena, n, sizeof(*spf->order));
	spf->choices = to_arena_array(arena, n, sizeof(*spf->choices));
	if (arena->failed) {
		to_spf_free(spf);
		return -ENOMEM;
	}
	return 0;
}

void to_spf_free(struct to_spf *spf)
{
	to_arena_free(&spf->arena);
	memset(spf, 0, sizeof(*spf));
}

static void spf_choose(struct to_spf *spf, const struct to_graph *graph)
{
	unsigned int i;

	spf->choices[spf->order[0]] = 0;
	for (i = 1; i < spf->n_reached; i++) {
		uint32_t x = spf->order[i], first = graph->out[x], a;
		uint16_t nearer = spf->distance[x] - 1;
		uint64_t choices = 0;

		for (a = first; a < graph->out[x + 1]; a++)
			choices |= (uint64_t)(spf->distance[graph->to[a]] == nearer) << (a - first);
		spf->choices[x] = choices;
	}
}

void to_spf_grow(struct to_spf *spf, const struct to_graph *graph,
		 uint32_t root, uint32_t without)
{
	spf->n_reached = to_graph_distances(graph, root, without, spf->distance, spf->order);
	spf_choose(spf, graph);
}

void to_spf_grow_port(struct to_spf *spf, const struct to_graph *graph,
		      uint32_t root, unsigned int port)
{
	uint32_t i, arc, x;

	spf->n_reached = to_graph_port_distances(graph, root, port, spf->distance, spf->order);
	spf_choose(spf, graph);
	for (i = graph->in[root]; i < graph->in[root + 1]; i++) {
		arc = graph->in_arc[i];
		x = graph->in_from[i];
		if (graph->peer_port[arc] != port && spf->distance[x] == 1)
			spf->choices[x] &= ~(1ull << (arc - graph->out[x]));
	}
}
