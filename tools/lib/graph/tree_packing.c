// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/tree_packing.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/random.h"
#include "graph/tree_shares.h"
#include "graph/tree_span.h"

#define PACKING_WASTE 0.008	/* of the busiest link, that a number of trees may waste */
#define PACKING_NEAR 1.001	/* times the bound, that is as good */
#define PACKING_STEEP_MIN 8.	/* price: e^(steepness x load over the busiest), at first */
#define PACKING_STEEP_MAX 400.	/* and in the last pass */
#define PACKING_NOISE 1e-3	/* of a price, that breaks ties */
#define PACKING_BISECTIONS 10	/* of what the busiest edge could be */
#define NONE UINT32_MAX

/*
 * @load: per edge, seconds that it is busy
 * @trees: of all groups, one group after the other; @first: of each group
 */
struct packing {
	struct to_packing *in;
	struct to_tree *trees;
	struct to_span span;
	unsigned int *first;
	double *load;
	uint32_t *member_at;
	uint64_t random;
	struct to_arena arena;
};

unsigned int to_tree_packing_count(unsigned int n_members, unsigned int n_links, unsigned int most)
{
	double least = INFINITY, even = (n_members - 1.0) / n_links;
	unsigned int best = 1, k;

	for (k = 1; k <= most && least > even * (1 + PACKING_WASTE); k++) {
		double busiest = ceil(k * even * (1 - 1e-9)) / k;

		if (busiest < least) {
			least = busiest;
			best = k;
		}
	}
	return best;
}

static double packing_quantum(const struct packing *p, const struct to_packing_group *group,
			      uint32_t edge)
{
	return group->bytes / group->n_trees * p->in->edges[edge].seconds_per_byte;
}

static void packing_load(struct packing *p, const struct to_packing_group *group,
			 const struct to_tree *tree, double sign)
{
	for (unsigned int i = 0; i < tree->n_uses; i++)
		p->load[tree->uses[i]] += sign * packing_quantum(p, group, tree->uses[i]);
}

static double packing_busiest(const struct packing *p)
{
	double most = 0;

	for (uint32_t e = 0; e < p->in->n_edges; e++)
		most = fmax(most, p->load[e]);
	return most;
}

/* ---- bound ---- */

/*
 * At any prices of a busy second, all trees cost their minimum at least, and what is busy
 * already its price: in sum, no more than if every edge were as busy as the busiest one.
 */
static int packing_bound(struct packing *p, double steepness)
{
	double busiest = packing_busiest(p), value = 0, all = 0, tree;
	unsigned int g;
	int ret = 0;
	uint32_t e;

	for (e = 0; e < p->in->n_edges; e++) {
		double price = busiest > 0 ? exp(steepness * (p->load[e] / busiest - 1)) : 1;

		all += price;
		value += price * p->in->edges[e].busy;
		p->span.price[e] = price * p->in->edges[e].seconds_per_byte;
	}
	for (g = 0; !ret && g < p->in->n_groups; g++) {
		ret = to_span_tree(&p->span, &p->in->groups[g], NULL, &tree);
		value += p->in->groups[g].bytes * tree;
	}
	if (!ret)
		p->in->bound = fmax(p->in->bound, value / all);
	return ret;
}

/* ---- trees at steepening prices ---- */

static int packing_again(struct packing *p, const struct to_packing_group *group,
			 struct to_tree *tree, double steepness)
{
	double busiest, ignored;
	uint32_t e;
	int ret;

	packing_load(p, group, tree, -1);
	busiest = packing_busiest(p);
	for (e = 0; e < p->in->n_edges; e++) {
		double quantum = packing_quantum(p, group, e);
		double load = busiest > 0 ? (p->load[e] + quantum) / (busiest + quantum) : 1;
		double noise = 1 + PACKING_NOISE * (to_random_next(&p->random) >> 40) / (1 << 24);

		p->span.price[e] = p->in->edges[e].seconds_per_byte * noise *
			      exp(steepness * (load - 1));
	}
	ret = to_span_tree(&p->span, group, tree, &ignored);
	packing_load(p, group, tree, 1);
	return ret;
}

/* All trees once more. Return: 0 or a negative errno. */
static int packing_pass(struct packing *p, double steepness)
{
	unsigned int most = 0, g, k;
	int ret = 0;

	for (g = 0; g < p->in->n_groups; g++)
		most = p->in->groups[g].n_trees > most ? p->in->groups[g].n_trees : most;
	for (k = 0; !ret && k < most; k++)
		for (g = 0; !ret && g < p->in->n_groups; g++)
			if (k < p->in->groups[g].n_trees)
				ret = packing_again(p, &p->in->groups[g],
						    &p->trees[p->first[g] + k], steepness);
	return ret;
}

/* ---- exchanges ---- */

/*
 * Of one group that is all vertices.
 * @up, @enter, @leave: n_trees x n: parent of each vertex, and when a walk over the
 *	tree comes to it and leaves it
 * @in: n_trees x n_edges: the tree has the edge
 * @from, @tree: per edge, how a search came to it: in place of @from, in @tree
 * @open: edges that it has not come to
 */
struct exchange {
	struct packing *p;
	const struct to_packing_group *group;
	struct to_tree *trees;
	uint32_t *enter, *leave, *next, *head, *link, *stack;
	bool *in;
	uint32_t *from, *tree, *open, *queue;
};

/* Number the vertices of tree @t as a walk from vertex 0 enters and leaves them. */
static void exchange_number(struct exchange *x, unsigned int t)
{
	const struct to_packing_edge *edges = x->p->in->edges;
	unsigned int n = x->p->in->n, depth = 0, i;
	uint32_t *enter = x->enter + (size_t)t * n, *leave = x->leave + (size_t)t * n, clock = 0;
	const struct to_tree *tree = &x->trees[t];

	/* per vertex a list of half edges: 2 i at a, 2 i + 1 at b of the i-th edge */
	memset(x->head, 0xff, n * sizeof(*x->head));
	memset(enter, 0xff, n * sizeof(*enter));
	for (i = 0; i < tree->n_uses; i++) {
		uint32_t a = edges[tree->uses[i]].a, b = edges[tree->uses[i]].b;

		x->link[2 * i] = x->head[a];
		x->head[a] = 2 * i;
		x->link[2 * i + 1] = x->head[b];
		x->head[b] = 2 * i + 1;
	}
	enter[0] = clock++;
	x->stack[depth++] = 0;
	while (depth) {
		uint32_t u = x->stack[depth - 1], half = x->head[u], v;

		if (half == NONE) {
			leave[u] = clock;
			depth--;
			continue;
		}
		x->head[u] = x->link[half];
		v = edges[tree->uses[half / 2]].a ^ edges[tree->uses[half / 2]].b ^ u;
		if (enter[v] != NONE)
			continue;
		enter[v] = clock++;
		x->stack[depth++] = v;
	}
}

/* Is @f an edge between the halves that tree @t falls into without its edge @e? */
static bool exchange_crosses(const struct exchange *x, unsigned int t, uint32_t e, uint32_t f)
{
	const struct to_packing_edge *edges = x->p->in->edges;
	const uint32_t *enter = x->enter + (size_t)t * x->p->in->n;
	const uint32_t *leave = x->leave + (size_t)t * x->p->in->n;
	uint32_t a = edges[e].a, b = edges[e].b;
	uint32_t low = enter[a] > enter[b] ? a : b;	/* the lower end has the half below it */
	uint32_t u = enter[edges[f].a], v = enter[edges[f].b];

	return (u >= enter[low] && u < leave[low]) != (v >= enter[low] && v < leave[low]);
}

static void exchange_swap(struct exchange *x, unsigned int t, uint32_t e, uint32_t f)
{
	struct packing *p = x->p;
	struct to_tree *tree = &x->trees[t];
	unsigned int i;

	for (i = 0; tree->uses[i] != e; i++)
		;
	tree->uses[i] = f;
	tree->hops[2 * i] = p->member_at[p->in->edges[f].a];
	tree->hops[2 * i + 1] = p->member_at[p->in->edges[f].b];
	x->in[(size_t)t * p->in->n_edges + e] = false;
	x->in[(size_t)t * p->in->n_edges + f] = true;
	p->load[e] -= packing_quantum(p, x->group, e);
	p->load[f] += packing_quantum(p, x->group, f);
	exchange_number(x, t);
}

/*
 * Take one tree off @over, the shortest way that leaves no other edge busier than
 * @limit. Return: whether there is one.
 */
static bool exchange_relieve(struct exchange *x, uint32_t over, double limit)
{
	struct packing *p = x->p;
	uint32_t n_open = 0, n = 0, at, e, f = NONE, i, t;

	for (e = 0; e < p->in->n_edges; e++)
		if (e != over)
			x->open[n_open++] = e;
	x->queue[n++] = over;
	for (at = 0; at < n; at++) {
		e = x->queue[at];
		for (t = 0; t < x->group->n_trees; t++) {
			if (!x->in[(size_t)t * p->in->n_edges + e])
				continue;
			for (i = 0; i < n_open;) {
				f = x->open[i];
				if (!exchange_crosses(x, t, e, f)) {
					i++;
					continue;
				}
				x->open[i] = x->open[--n_open];
				x->from[f] = e;
				x->tree[f] = t;
				if (p->load[f] + packing_quantum(p, x->group, f) <= limit)
					goto found;
				x->queue[n++] = f;
			}
		}
	}
	return false;
found:
	for (; f != over; f = e) {
		e = x->from[f];
		exchange_swap(x, x->tree[f], e, f);
	}
	return true;
}

/* No edge busier than @limit, by exchanges. Return: whether that can be. */
static bool exchange_all(struct exchange *x, double limit)
{
	struct packing *p = x->p;
	uint32_t e;

	for (e = 0; e < p->in->n_edges; e++)
		while (p->load[e] > limit)
			if (!exchange_relieve(x, e, limit))
				return false;
	return true;
}

static int exchange_init(struct exchange *x, struct to_arena *arena)
{
	size_t n = x->p->in->n, n_edges = x->p->in->n_edges, k = x->group->n_trees, t, i;

	x->enter = to_arena_array(arena, k * n, sizeof(*x->enter));
	x->leave = to_arena_array(arena, k * n, sizeof(*x->leave));
	x->in = to_arena_array(arena, k * n_edges, sizeof(*x->in));
	x->head = to_arena_array(arena, n, sizeof(*x->head));
	x->link = to_arena_array(arena, 2 * n, sizeof(*x->link));
	x->stack = to_arena_array(arena, n, sizeof(*x->stack));
	x->from = to_arena_array(arena, n_edges, sizeof(*x->from));
	x->tree = to_arena_array(arena, n_edges, sizeof(*x->tree));
	x->open = to_arena_array(arena, n_edges, sizeof(*x->open));
	x->queue = to_arena_array(arena, n_edges + 1, sizeof(*x->queue));
	if (arena->failed)
		return -ENOMEM;
	for (t = 0; t < k; t++) {
		for (i = 0; i < x->trees[t].n_uses; i++)
			x->in[t * n_edges + x->trees[t].uses[i]] = true;
		exchange_number(x, t);
	}
	return 0;
}

/* What the busiest edge is at least where it has whole trees of the one group of all vertices. */
static double packing_whole(const struct packing *p)
{
	const struct to_packing_group *group = &p->in->groups[0];
	double least = INFINITY;
	uint32_t e;

	if (p->in->n_groups > 1 || group->n_members < p->in->n)
		return p->in->bound;
	for (e = 0; e < p->in->n_edges; e++) {
		double busy = p->in->edges[e].busy, quantum = packing_quantum(p, group, e);
		double trees = fmax(ceil((p->in->bound - busy) / quantum - 1e-9), 0);

		least = fmin(least, busy + trees * quantum);
	}
	return fmax(least, p->in->bound);
}

/* The least that the busiest edge can be, by exchanges in the trees of @g. */
static int packing_exchange(struct packing *p, unsigned int g)
{
	struct exchange x = { .p = p, .group = &p->in->groups[g], .trees = &p->trees[p->first[g]] };
	struct to_arena arena = { 0 };
	double low = packing_whole(p), high = packing_busiest(p);
	unsigned int i;
	int ret = exchange_init(&x, &arena);

	for (i = 0; !ret && i < x.group->n_members; i++)
		p->member_at[x.group->members[i]] = i;
	/* a part of all edges is over the bound; the first try may reach it */
	for (i = 0; !ret && i < PACKING_BISECTIONS && high > low * PACKING_NEAR; i++) {
		double limit = i ? (low + high) / 2 : low * PACKING_NEAR;

		if (exchange_all(&x, limit))
			high = packing_busiest(p);
		else
			low = limit;
	}
	to_arena_free(&arena);
	return ret;
}

/* ---- all together ---- */

static int packing_init(struct packing *p)
{
	const struct to_packing *in = p->in;
	struct to_arena *arena = &p->arena;
	unsigned int n_trees = 0, g, k;
	uint32_t e;

	p->first = to_arena_array(arena, in->n_groups + 1, sizeof(*p->first));
	if (!p->first)
		return -ENOMEM;
	for (g = 0; g < in->n_groups; g++) {
		p->first[g] = n_trees;
		n_trees += in->groups[g].n_trees;
	}
	p->first[g] = n_trees;
	p->trees = to_arena_array(arena, n_trees, sizeof(*p->trees));
	p->load = to_arena_array(arena, in->n_edges, sizeof(*p->load));
	p->member_at = to_arena_array(arena, in->n, sizeof(*p->member_at));
	if (arena->failed)
		return -ENOMEM;
	for (g = 0; g < in->n_groups; g++)
		for (k = p->first[g]; k < p->first[g + 1]; k++) {
			p->trees[k].hops = to_arena_array(arena, 2 * (size_t)in->groups[g].n_members,
							  sizeof(*p->trees[k].hops));
			if (!p->trees[k].hops)
				return -ENOMEM;
		}
	for (e = 0; e < in->n_edges; e++)
		p->load[e] = in->edges[e].busy;
	return to_span_init(&p->span, in, arena);
}

/* Trees of equal shares, as many as asked for. */
static int packing_equal(struct packing *p)
{
	struct to_packing *in = p->in;
	unsigned int pass, g, k;
	int ret = 0;

	for (pass = 0; !ret && pass < in->passes; pass++) {
		double part = in->passes > 1 ? (double)pass / (in->passes - 1) : 0;
		double steepness = PACKING_STEEP_MIN *
				   pow(PACKING_STEEP_MAX / PACKING_STEEP_MIN, part);

		ret = packing_pass(p, steepness);
		if (!ret && !pass)
			ret = packing_bound(p, 0);
		if (!ret)
			ret = packing_bound(p, steepness);
		if (packing_busiest(p) <= packing_whole(p) * PACKING_NEAR)
			break;
	}
	for (g = 0; !ret && g < in->n_groups; g++)
		if (in->groups[g].n_members == in->n)
			ret = packing_exchange(p, g);
	in->busiest = packing_busiest(p);
	for (k = 0; !ret && k < in->n_edges; k++)
		in->edges[k].trees = p->load[k] - in->edges[k].busy;
	for (g = 0; !ret && g < in->n_groups; g++) {
		for (k = 0; !ret && k < in->groups[g].n_trees; k++) {
			in->groups[g].shares[k] = 1.0 / in->groups[g].n_trees;
			ret = to_span_root(&in->groups[g], &p->trees[p->first[g] + k],
					   in->groups[g].parents +
					   (size_t)k * in->groups[g].n_members);
		}
	}
	return ret;
}

int to_tree_packing(struct to_packing *in)
{
	struct packing p = { .in = in, .random = in->seed };
	bool small = in->n_groups;
	unsigned int g;
	int ret;

	in->busiest = in->bound = 0;
	for (g = 0; g < in->n_groups; g++)
		small &= in->groups[g].n_trees > in->n_edges;
	if (small)
		return to_tree_shares(in);
	ret = packing_init(&p);
	if (!ret)
		ret = packing_equal(&p);
	for (g = 0; p.trees && g < p.first[in->n_groups]; g++)
		free(p.trees[g].uses);
	to_arena_free(&p.arena);
	return ret;
}
