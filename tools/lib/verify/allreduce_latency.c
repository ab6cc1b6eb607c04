// SPDX-License-Identifier: GPL-2.0-or-later
#include "verify/allreduce_latency.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "data/allreduce_steps.h"
#include "graph/recursive_halving.h"

/**
 * struct latency - of the groups of a plan
 * @place: per server, its index among the members of a group
 * @path, @depth: per member, seconds and hops to the root of a tree; depth 0 is unknown
 * @bytes: per server, of its groups
 * @sum, @bound: per server, seconds of its groups
 */
struct latency {
	struct to_forwarding *f;
	struct to_rings rings;
	uint32_t *place;
	unsigned int *depth;
	double *path, *bytes, *sum, *bound;
	struct to_arena arena;
};

double to_allreduce_tree_latency(unsigned int depth, double path, double step, double busy)
{
	double chunks = 1, hops = 2.0 * depth - 1;

	if (!depth)
		return 0;
	if (!(step > 0))
		return 2 * path;	/* chunks as small as can be */
	chunks = fmax(1, round(sqrt(hops * busy / step)));
	return 2 * path + (chunks - 1) * step + hops * busy / chunks;
}

/* Seconds of latency from @x to @y, neighbours on a ring or tree. */
static double latency_hop(struct latency *l, uint32_t x, uint32_t y)
{
	const struct to_latency *each = &l->f->plan->latency;
	const struct to_graph *g = l->f->graph;

	for (uint32_t a = g->out[x]; a < g->out[x + 1]; a++)
		if (g->to[a] == y)
			return each->step;
	if (l->f->dst != y || l->f->slot || !l->f->n_reached)
		to_forwarding_resolve(l->f, y, 0);
	return each->step + (l->f->level[x] ? l->f->level[x] - 1 : 0) * each->relay;
}

static double latency_ring(struct latency *l, const struct to_ring *ring)
{
	double forth = 0, back = 0;
	unsigned int i;

	for (i = 0; i < ring->n; i++) {
		const struct to_allreduce_send send =
			to_allreduce_steps_ring_send(ring->n, false, 0, i);
		const uint32_t x = ring->order[send.from], y = ring->order[send.to];

		forth += latency_hop(l, x, y);
		if (ring->reverse)
			back += latency_hop(l, y, x);
	}
	return to_allreduce_steps_ring_share(ring->n) * fmax(forth, back);
}

/* @busy: of one call */
static double latency_tree(struct latency *l, const struct to_allreduce_tree *tree, double busy)
{
	const uint32_t *members = l->f->plan->demand->groups[tree->group].members;
	unsigned int i, at, hops, deepest = 0;
	double path = 0;

	for (i = 0; i < tree->n; i++) {
		l->place[members[i]] = i;
		l->depth[i] = 0;
	}
	for (i = 0; i < tree->n; i++) {
		double up = 0, below;
		unsigned int end;

		/* up to what is known, then the same way again */
		for (at = i, hops = 0; !l->depth[at] && tree->parents[at] != TO_SERVER_NONE; hops++) {
			l->path[at] = fmax(latency_hop(l, members[at], tree->parents[at]),
					   latency_hop(l, tree->parents[at], members[at]));
			up += l->path[at];
			at = l->place[tree->parents[at]];
		}
		end = at;
		hops += l->depth[end];
		up += l->depth[end] ? l->path[end] : 0;
		for (at = i; at != end; at = l->place[tree->parents[at]]) {
			below = l->path[at];
			l->path[at] = up;
			l->depth[at] = hops--;
			up -= below;
		}
		deepest = l->depth[i] > deepest ? l->depth[i] : deepest;
		path = l->depth[i] ? fmax(path, l->path[i]) : path;
	}
	return to_allreduce_tree_latency(deepest, path, l->f->plan->latency.step, busy);
}

/* 2k steps, each as long as the slowest of all messages. */
static double latency_halving(struct latency *l, unsigned int group, const struct to_bcube *cube)
{
	const struct to_layout *layout = &l->rings.layout;
	const uint32_t *members = l->rings.demand->groups[group].members;
	double most = 0;

	for (unsigned int i = 0; i < layout->n_trees; i++) {
		const struct to_allreduce_tree *tree = &layout->trees[i];

		for (unsigned int m = 0; tree->group == group && m < tree->n; m++)
			if (tree->parents[m] != TO_SERVER_NONE)
				most = fmax(most, fmax(latency_hop(l, members[m], tree->parents[m]),
						       latency_hop(l, tree->parents[m], members[m])));
	}
	return 2 * cube->k * most;
}

/* Every call of @group, which has @busy seconds of the busiest link. */
static double latency_group(struct latency *l, unsigned int group, double busy)
{
	const struct to_layout *layout = &l->rings.layout;
	unsigned int calls = l->rings.demand->groups[group].calls ?: 1, i;
	struct to_bcube cube;
	double most = 0;

	if (to_recursive_halving_is(&l->rings, group, &cube))
		return latency_halving(l, group, &cube) * calls;
	for (i = 0; i < layout->n_rings; i++)
		if (layout->rings[i].group == group)
			most = fmax(most, latency_ring(l, &layout->rings[i]));
	for (i = 0; i < layout->n_trees; i++)
		if (layout->trees[i].group == group)
			most = fmax(most, latency_tree(l, &layout->trees[i], busy / calls));
	return most * calls;
}

/* Steps after which @n servers can know what one of them had. */
static double latency_steps(unsigned int n, unsigned int ports)
{
	double know = 1, steps = 0;

	for (; ports && know < n; know *= ports + 1)
		steps++;
	return steps;
}

/* What @group adds to its members. */
static void latency_add(struct latency *l, unsigned int g, double busy)
{
	const struct to_allreduce *group = &l->rings.demand->groups[g];
	const struct to_server *servers = l->f->plan->cluster->servers;
	double most = 0, seconds, bound;
	unsigned int ports = 0, i;

	for (i = 0; i < group->n_members; i++) {
		most = fmax(most, l->bytes[group->members[i]]);
		if (servers[group->members[i]].n_ports > ports)
			ports = servers[group->members[i]].n_ports;
	}
	seconds = latency_group(l, g, busy * group->bytes / most);
	bound = latency_steps(group->n_members, ports) * l->f->plan->latency.step *
		(group->calls ?: 1);
	for (i = 0; i < group->n_members; i++) {
		l->sum[group->members[i]] += seconds;
		l->bound[group->members[i]] += bound;
	}
}

int to_allreduce_latency(struct to_forwarding *f, double busy, struct to_latency_parts *parts)
{
	const struct to_demand *demand = f->plan->demand;
	struct latency l = { .f = f, .rings = to_allreduce_of(f->plan) };
	size_t n = f->graph->n, x;
	unsigned int g, i;

	*parts = (struct to_latency_parts){ 0 };
	if (!f->plan->latency.step && !f->plan->latency.relay)
		return 0;
	l.place = to_arena_array(&l.arena, n, sizeof(*l.place));
	l.depth = to_arena_array(&l.arena, n, sizeof(*l.depth));
	l.path = to_arena_array(&l.arena, n, sizeof(*l.path));
	l.bytes = to_arena_array(&l.arena, n, sizeof(*l.bytes));
	l.sum = to_arena_array(&l.arena, n, sizeof(*l.sum));
	l.bound = to_arena_array(&l.arena, n, sizeof(*l.bound));
	if (l.arena.failed) {
		to_arena_free(&l.arena);
		return -ENOMEM;
	}
	for (g = 0; g < demand->n_groups; g++)
		for (i = 0; i < demand->groups[g].n_members; i++)
			l.bytes[demand->groups[g].members[i]] += demand->groups[g].bytes;
	for (g = 0; g < demand->n_groups; g++)
		if (demand->groups[g].n_members > 1 && demand->groups[g].bytes)
			latency_add(&l, g, busy);
	for (x = 0; x < n; x++) {
		parts->seconds = fmax(parts->seconds, l.sum[x]);
		parts->bound = fmax(parts->bound, l.bound[x]);
	}
	to_arena_free(&l.arena);
	return 0;
}
