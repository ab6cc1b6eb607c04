// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "graph/paths.h"

struct paths {
	const struct to_graph *graph;
	uint32_t dst;
	bool *no_server, *no_arc;
	uint32_t *queue, *via;		/* arc that a server was reached by */
	struct to_path *found, *spare;	/* of spare: candidates, any order */
	unsigned int n_found, n_spare;
};

/* Shortest path from @from that keeps out of what is barred, after @head. */
static int paths_extend(struct paths *p, const uint32_t *head, unsigned int n_head,
			uint32_t from, struct to_path *path)
{
	const struct to_graph *g = p->graph;
	unsigned int first = 0, last = 0, hops = 0;
	uint32_t x, a;

	memset(p->via, 0xff, g->n * sizeof(*p->via));
	p->queue[last++] = from;
	while (first < last && p->via[p->dst] == UINT32_MAX) {
		x = p->queue[first++];
		for (a = g->out[x]; a < g->out[x + 1]; a++) {
			uint32_t y = g->to[a];

			if (p->no_arc[a] || p->no_server[y] || y == from ||
			    p->via[y] != UINT32_MAX)
				continue;
			p->via[y] = a;
			p->queue[last++] = y;
		}
	}
	if (p->via[p->dst] == UINT32_MAX)
		return 0;
	for (x = p->dst; x != from; x = g->from[p->via[x]])
		hops++;
	path->n = n_head + hops;
	path->arcs = calloc(path->n, sizeof(*path->arcs));
	if (!path->arcs)
		return -ENOMEM;
	if (n_head)
		memcpy(path->arcs, head, n_head * sizeof(*head));
	for (x = p->dst; x != from; x = g->from[p->via[x]])
		path->arcs[n_head + --hops] = p->via[x];
	return 1;
}

static bool paths_same(const struct to_path *a, const struct to_path *b)
{
	return a->n == b->n && !memcmp(a->arcs, b->arcs, a->n * sizeof(*a->arcs));
}

/* Every path that leaves the last one found at one of its servers. */
static int paths_deviate(struct paths *p)
{
	const struct to_graph *g = p->graph;
	const struct to_path *last = &p->found[p->n_found - 1];
	unsigned int at, i;
	int ret = 0;

	for (at = 0; at < last->n && ret >= 0; at++) {
		struct to_path *path = &p->spare[p->n_spare];

		memset(p->no_arc, 0, g->n_arcs * sizeof(*p->no_arc));
		for (i = 0; i < p->n_found; i++)
			if (p->found[i].n > at && !memcmp(p->found[i].arcs, last->arcs,
							  at * sizeof(*last->arcs)))
				p->no_arc[p->found[i].arcs[at]] = true;
		ret = paths_extend(p, last->arcs, at, g->from[last->arcs[at]], path);
		for (i = 0; ret > 0 && i < p->n_spare; i++)
			if (paths_same(path, &p->spare[i])) {
				free(path->arcs);
				ret = 0;
			}
		p->n_spare += ret > 0;
		p->no_server[g->from[last->arcs[at]]] = true;
	}
	memset(p->no_server, 0, g->n * sizeof(*p->no_server));
	return ret < 0 ? ret : 0;
}

int to_paths_find(const struct to_graph *graph, uint32_t src, uint32_t dst,
		  unsigned int k, struct to_path *paths)
{
	struct paths p = { .graph = graph, .dst = dst, .found = paths };
	unsigned int i, best;
	int ret = -ENOMEM;

	p.no_server = calloc(graph->n, sizeof(*p.no_server));
	p.no_arc = calloc(graph->n_arcs + 1, sizeof(*p.no_arc));
	p.queue = calloc(2 * (size_t)graph->n, sizeof(*p.queue));
	p.spare = calloc((size_t)k * graph->n + 1, sizeof(*p.spare));
	if (!p.no_server || !p.no_arc || !p.queue || !p.spare)
		goto out;
	p.via = p.queue + graph->n;
	ret = paths_extend(&p, NULL, 0, src, &paths[0]);
	while (ret > 0) {
		p.n_found++;
		if (p.n_found == k)
			break;
		ret = paths_deviate(&p);
		if (ret || !p.n_spare)
			break;
		for (best = 0, i = 1; i < p.n_spare; i++)
			if (p.spare[i].n < p.spare[best].n)
				best = i;
		paths[p.n_found] = p.spare[best];
		p.spare[best] = p.spare[--p.n_spare];
		ret = 1;
	}
out:
	for (i = 0; i < p.n_spare; i++)
		free(p.spare[i].arcs);
	free(p.no_server);
	free(p.no_arc);
	free(p.queue);
	free(p.spare);
	if (ret < 0) {
		to_paths_free(paths, p.n_found);
		return ret;
	}
	return p.n_found;
}

void to_paths_free(struct to_path *paths, unsigned int n)
{
	while (n--)
		free(paths[n].arcs);
}
