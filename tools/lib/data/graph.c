// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "data/graph.h"

static void graph_fill_in(struct to_graph *g, uint32_t *next)
{
	unsigned int a, x;

	for (a = 0; a < g->n_arcs; a++)
		g->in[g->to[a] + 1]++;
	for (x = 0; x < g->n; x++)
		g->in[x + 1] += g->in[x];
	memcpy(next, g->in, g->n * sizeof(*next));
	for (a = 0; a < g->n_arcs; a++) {
		uint32_t at = next[g->to[a]]++;

		g->in_from[at] = g->from[a];
		g->in_arc[at] = a;
	}
}

struct to_graph *to_graph_new(unsigned int n, const struct to_link *links,
			      unsigned int n_links, enum to_link_mode mode)
{
	unsigned int per_link = mode == TO_LINKS_DUPLEX ? 2 : 1;
	struct to_graph *g = calloc(1, sizeof(*g));
	unsigned int i, side, x;
	struct to_arena *arena;
	uint32_t *next;
	size_t arcs;

	if (!g)
		return NULL;
	g->n = n;
	g->n_arcs = n_links * per_link;
	arcs = g->n_arcs;
	arena = &g->arena;
	g->out = to_arena_array(arena, n + 1, sizeof(*g->out));
	g->in = to_arena_array(arena, n + 1, sizeof(*g->in));
	g->from = to_arena_array(arena, arcs, sizeof(*g->from));
	g->to = to_arena_array(arena, arcs, sizeof(*g->to));
	g->link = to_arena_array(arena, arcs, sizeof(*g->link));
	g->port = to_arena_array(arena, arcs, sizeof(*g->port));
	g->peer_port = to_arena_array(arena, arcs, sizeof(*g->peer_port));
	g->in_from = to_arena_array(arena, arcs, sizeof(*g->in_from));
	g->in_arc = to_arena_array(arena, arcs, sizeof(*g->in_arc));
	next = to_arena_array(arena, n, sizeof(*next));
	if (arena->failed) {
		to_graph_free(g);
		return NULL;
	}

	for (i = 0; i < n_links; i++) {
		g->out[links[i].a.server + 1]++;
		if (per_link == 2)
			g->out[links[i].b.server + 1]++;
	}
	for (x = 0; x < n; x++)
		g->out[x + 1] += g->out[x];
	memcpy(next, g->out, n * sizeof(*next));
	for (i = 0; i < n_links; i++) {
		for (side = 0; side < per_link; side++) {
			const struct to_port_ref *tail = side ? &links[i].b : &links[i].a;
			const struct to_port_ref *head = side ? &links[i].a : &links[i].b;
			uint32_t a = next[tail->server]++;

			g->from[a] = tail->server;
			g->port[a] = tail->port;
			g->to[a] = head->server;
			g->peer_port[a] = head->port;
			g->link[a] = i;
		}
	}
	graph_fill_in(g, next);
	return g;
}

void to_graph_free(struct to_graph *graph)
{
	if (!graph)
		return;
	to_arena_free(&graph->arena);
	free(graph);
}

void to_graph_cables(const struct to_graph *g, const struct to_cluster *cluster, uint64_t *cables)
{
	for (uint32_t a = 0; a < g->n_arcs; a++) {
		const uint32_t x = g->from[a];
		const struct to_server *server = &cluster->servers[x];

		cables[a] = 1ull << (a - g->out[x]);
		if (!server->ports[g->port[a]].cable[0])
			continue;
		for (uint32_t b = g->out[x]; b < g->out[x + 1]; b++)
			if (to_port_shares_cable(server, g->port[a], g->port[b]))
				cables[a] |= 1ull << (b - g->out[x]);
	}
}

double to_graph_seconds_per_byte(const struct to_graph *graph,
				 const struct to_cluster *cluster, uint32_t arc)
{
	const struct to_server *from = &cluster->servers[graph->from[arc]];
	const struct to_server *to = &cluster->servers[graph->to[arc]];
	uint64_t out = from->ports[graph->port[arc]].bandwidth;
	uint64_t in = to->ports[graph->peer_port[arc]].bandwidth;

	return 8.0 / (out < in ? out : in);
}

/* Append to @order what has an arc into @x, by @port of it, or any when that is negative. */
static unsigned int graph_step(const struct to_graph *graph, uint32_t x, int port,
			       uint16_t *distance, uint32_t *order, unsigned int tail)
{
	uint16_t further = distance[x] + 1;
	uint32_t i;

	/* whether a server was found is not foreseen: no branch; when all were, it is over */
	for (i = graph->in[x]; i < graph->in[x + 1] && tail < graph->n; i++) {
		uint32_t y = graph->in_from[i];
		bool found = distance[y] == TO_DISTANCE_NONE;

		if (port >= 0 && graph->peer_port[graph->in_arc[i]] != (unsigned int)port)
			continue;
		distance[y] = found ? further : distance[y];
		order[tail] = y;
		tail += found;
	}
	return tail;
}

unsigned int to_graph_distances(const struct to_graph *graph, uint32_t dst,
				uint32_t without, uint16_t *distance,
				uint32_t *order)
{
	unsigned int head, tail = 0;

	memset(distance, 0xff, graph->n * sizeof(*distance));
	distance[dst] = 0;
	if (without != TO_SERVER_NONE)
		distance[without] = 0;	/* looks visited */
	order[tail++] = dst;
	for (head = 0; head < tail && tail < graph->n; head++)
		tail = graph_step(graph, order[head], -1, distance, order, tail);
	if (without != TO_SERVER_NONE)
		distance[without] = TO_DISTANCE_NONE;
	return tail;
}

unsigned int to_graph_port_distances(const struct to_graph *graph, uint32_t dst,
				     unsigned int port, uint16_t *distance, uint32_t *order)
{
	unsigned int head, tail = 0;

	memset(distance, 0xff, graph->n * sizeof(*distance));
	distance[dst] = 0;
	order[tail++] = dst;
	for (head = 0; head < tail && tail < graph->n; head++)
		tail = graph_step(graph, order[head], head ? -1 : (int)port, distance, order, tail);
	return tail;
}
