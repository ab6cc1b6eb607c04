// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "data/port_loads.h"
#include "graph/paths.h"
#include "routing/link_loads.h"
#include "routing/source_routes.h"

#define PAIR_PATHS 16		/* shortest paths tried for a pair */
#define PAIR_STEPS 30000000.0	/* arcs looked at */
#define PAIR_LINKS 64		/* skip plans where that is not enough for so many links */
#define PAIR_TRIES 8		/* transfers tried on one link */
#define PAIR_GAIN 0.99		/* of the time before: what is less is a gain */

struct crossing {
	uint32_t src, dst;
	double bytes;		/* of the transfer on the link */
};

struct moved {
	uint32_t src, dst;
	struct to_path path;
};

struct pair {
	struct to_plan *plan;
	const struct to_graph *graph;
	struct to_forwarding f;
	struct to_port_loads ports;	/* with load or trial */
	double *load, *trial, *flow;
	bool *apart;		/* n x n: has a path of its own */
	unsigned int n_moved, room;
	struct moved *moved;
	struct to_arena arena;	/* has all arrays but @moved */
};

/* Seconds that the busiest way of @a is busy with its load and @more bytes. */
static double source_routes_busy(const struct pair *p, uint32_t a, double more)
{
	const struct to_port_loads *ports = &p->ports;
	double most = 0;

	for (uint32_t i = ports->first[a]; i < ports->first[a + 1]; i++) {
		const uint32_t w = ports->way[i];

		most = fmax(most, (ports->bytes[w] + more) * ports->seconds_per_byte[w]);
	}
	return most;
}

/* Tell whether @a and @b load a way in common. */
static bool source_routes_meet(const struct to_port_loads *ports, uint32_t a, uint32_t b)
{
	for (uint32_t i = ports->first[a]; i < ports->first[a + 1]; i++)
		for (uint32_t k = ports->first[b]; k < ports->first[b + 1]; k++)
			if (ports->way[i] == ports->way[k])
				return true;
	return false;
}

/* The link of the busiest way that puts most on it. Loads the ways. */
static uint32_t source_routes_busiest(struct pair *p)
{
	uint32_t a, most = 0;

	to_port_loads_set(&p->ports, p->load);
	for (a = 1; a < p->graph->n_arcs; a++) {
		double busy = source_routes_busy(p, a, 0), least = source_routes_busy(p, most, 0);

		if (busy > least || (busy == least && p->load[a] > p->load[most] &&
				     source_routes_meet(&p->ports, a, most)))
			most = a;
	}
	return most;
}

/* Share of what every server sends to f->dst that crosses @arc, into flow. */
static void source_routes_shares(struct pair *p, uint32_t arc)
{
	const struct to_forwarding *f = &p->f;
	unsigned int i, k;

	memset(p->flow, 0, p->graph->n * sizeof(*p->flow));
	for (i = 1; i < f->n_reached; i++) {
		uint32_t x = f->order[i];
		const struct to_group *group =
			&p->plan->tables[x].groups[f->group[x] - f->first_group[x]];
		double share = 0;
		unsigned int weights = 0;

		for (k = 0; k < group->n; k++) {
			const struct to_nexthop *hop = &group->nexthops[k];
			uint32_t a = to_forwarding_arc(f, x, hop);

			if (!to_nexthop_primary(hop))
				continue;
			weights += hop->weight;
			share += hop->weight * (a == arc ? 1 : p->flow[p->graph->to[a]]);
		}
		p->flow[x] = share / weights;
	}
}

/* The largest transfers on @arc. Return: how many. */
static unsigned int source_routes_crossings(struct pair *p, uint32_t arc, struct crossing *best)
{
	const uint64_t *mp = p->plan->demand->mp;
	size_t n = p->graph->n, x, dst;
	unsigned int count = 0, at;

	for (dst = 0; dst < n; dst++) {
		to_forwarding_resolve(&p->f, dst, 0);
		source_routes_shares(p, arc);
		for (x = 0; x < n; x++) {
			double bytes = p->flow[x] * mp[x * n + dst];

			if (bytes <= 0 || p->apart[x * n + dst] ||
			    (count == PAIR_TRIES && bytes <= best[count - 1].bytes))
				continue;
			for (at = count < PAIR_TRIES ? count++ : count - 1;
			     at && best[at - 1].bytes < bytes; at--)
				best[at] = best[at - 1];
			best[at] = (struct crossing){ x, dst, bytes };
		}
	}
	return count;
}

static int source_routes_keep(struct pair *p, const struct crossing *c, const struct to_path *path)
{
	struct moved *more;
	uint32_t *arcs = calloc(path->n, sizeof(*arcs));

	if (p->n_moved == p->room) {
		p->room = p->room ? 2 * p->room : 64;
		more = reallocarray(p->moved, p->room, sizeof(*more));
		if (!more) {
			free(arcs);
			return -ENOMEM;
		}
		p->moved = more;
	}
	if (!arcs)
		return -ENOMEM;
	memcpy(arcs, path->arcs, path->n * sizeof(*arcs));
	p->moved[p->n_moved++] = (struct moved){ c->src, c->dst, { path->n, arcs } };
	p->apart[(size_t)c->src * p->graph->n + c->dst] = true;
	return 0;
}

/* Move one transfer to another path. Return: 1, 0 when nothing is gained, -ENOMEM. */
static int source_routes_move(struct pair *p, const struct crossing *c, double busiest)
{
	size_t n = p->graph->n, arcs = p->graph->n_arcs;
	double bytes = p->plan->demand->mp[c->src * n + c->dst], least = busiest * PAIR_GAIN;
	struct to_path paths[PAIR_PATHS];
	int n_paths = to_paths_find(p->graph, c->src, c->dst, PAIR_PATHS, paths);
	int i, best = -1, ret = 0;
	unsigned int most_hops = 0, k;

	if (n_paths < 0)
		return n_paths;
	to_forwarding_resolve(&p->f, c->dst, 0);
	memset(p->flow, 0, n * sizeof(*p->flow));
	memset(p->trial, 0, arcs * sizeof(*p->trial));
	p->flow[c->src] = bytes;
	to_forwarding_spread(&p->f, p->flow, p->trial);
	for (k = 0; k < arcs; k++)
		p->trial[k] = p->load[k] - p->trial[k];
	to_port_loads_set(&p->ports, p->trial);
	/* the first is a shortest one */
	if (n_paths)
		most_hops = to_plan_most_hops(paths[0].n, p->plan->max_stretch ?: TO_STRETCH_DEFAULT);
	for (i = 0; i < n_paths && paths[i].n <= most_hops; i++) {
		double most = 0;

		for (k = 0; k < paths[i].n; k++) {
			most = fmax(most, source_routes_busy(p, paths[i].arcs[k], bytes));
		}
		if (most < least) {
			least = most;
			best = i;
		}
	}
	if (best >= 0) {
		ret = source_routes_keep(p, c, &paths[best]);
		memcpy(p->load, p->trial, arcs * sizeof(*p->load));
		for (k = 0; k < paths[best].n; k++)
			p->load[paths[best].arcs[k]] += bytes;
		ret = ret ? ret : 1;
	}
	to_paths_free(paths, n_paths);
	return ret;
}

static int source_routes_install(struct pair *p, const struct moved *m)
{
	const struct to_graph *g = p->graph;
	unsigned int i;

	for (i = 0; i < m->path.n; i++) {
		uint32_t arc = m->path.arcs[i];
		struct to_table *table = &p->plan->tables[g->from[arc]];
		struct to_nexthop hop = to_nexthop_on(p->plan, g, arc);
		struct to_source_route *pairs;
		int group = to_plan_add_group(table, &hop, 1);

		if (group < 0)
			return group;
		pairs = reallocarray(table->pairs, table->n_pairs + 1, sizeof(*pairs));
		if (!pairs)
			return -ENOMEM;
		table->pairs = pairs;
		pairs[table->n_pairs++] = (struct to_source_route){ m->src, m->dst, 0, group };
	}
	return 0;
}

static int source_routes_init(struct pair *p)
{
	const struct to_graph *g = p->graph;
	size_t n = g->n, arcs = g->n_arcs;
	struct to_arena *arena = &p->arena;
	uint32_t a;

	p->load = to_arena_array(arena, arcs, sizeof(*p->load));
	p->trial = to_arena_array(arena, arcs, sizeof(*p->trial));
	p->flow = to_arena_array(arena, n, sizeof(*p->flow));
	p->apart = to_arena_array(arena, n * n, sizeof(*p->apart));
	if (arena->failed || to_forwarding_init(&p->f, p->plan, g) ||
	    to_port_loads_init(&p->ports, g, p->plan->cluster))
		return -ENOMEM;
	if (to_link_loads(&p->f, p->load, p->trial))
		return -ENOMEM;
	for (a = 0; a < arcs; a++)
		p->load[a] += p->trial[a];
	return 0;
}

static void source_routes_free(struct pair *p)
{
	while (p->n_moved)
		free(p->moved[--p->n_moved].path.arcs);
	free(p->moved);
	to_arena_free(&p->arena);
	to_port_loads_free(&p->ports);
	to_forwarding_free(&p->f);
}

int to_source_routes_relieve(struct to_plan *plan, const struct to_graph *graph)
{
	struct pair p = { .plan = plan, .graph = graph };
	double steps = PAIR_STEPS, per_link = (double)graph->n * graph->n_arcs, before, busiest;
	struct crossing crossings[PAIR_TRIES];
	unsigned int n, i;
	int ret;

	if (!graph->n_arcs || per_link * PAIR_LINKS > steps)
		return 0;
	ret = source_routes_init(&p);
	if (ret)
		goto out;
	before = source_routes_busy(&p, source_routes_busiest(&p), 0);
	do {
		uint32_t arc = source_routes_busiest(&p);

		busiest = source_routes_busy(&p, arc, 0);
		n = source_routes_crossings(&p, arc, crossings);
		for (i = 0, ret = 0; i < n && !ret; i++)
			ret = source_routes_move(&p, &crossings[i], busiest);
		steps -= per_link;
	} while (ret > 0 && steps > 0);
	if (ret < 0)
		goto out;
	ret = 0;
	busiest = source_routes_busy(&p, source_routes_busiest(&p), 0);
	if (busiest < before * PAIR_GAIN)
		for (i = 0; !ret && i < p.n_moved; i++)
			ret = source_routes_install(&p, &p.moved[i]);
	for (i = 0; i < graph->n; i++)
		to_plan_sort_pairs(&plan->tables[i]);
out:
	source_routes_free(&p);
	return ret;
}
