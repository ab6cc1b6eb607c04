// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/tree_packing.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/random.h"

#define PACKING_WASTE 0.008	/* of the busiest link, that a number of trees may waste */
#define PACKING_NEAR 1.001	/* times the bound, that is as good */
#define PACKING_STEEP_MIN 8.	/* price: e^(steepness x load over the busiest), at first */
#define PACKING_STEEP_MAX 400.	/* and in the last pass */
#define PACKING_NOISE 1e-3	/* of a price, that breaks ties */
#define PACKING_BISECTIONS 10	/* of what the busiest edge could be */
#define NONE UINT32_MAX

/*
 * A tree over @n_hops + 1 members.
 * @hops: pairs of members, as indices
 * @uses: edges that its hops take, once for each hop that takes them
 */
struct tree {
	unsigned int n_hops, n_uses, room;
	uint32_t *hops, *uses;
};

/*
 * @load: per edge, seconds that it is busy
 * @trees: of all groups, one group after the other; @first: of each group
 * @near, @via, @far: per vertex the nearest member, the edge towards it, and the
 *	price of the way there
 * @out, @out_edge: edges at each vertex: out[x] .. out[x + 1] - 1
 */
struct packing {
	struct to_packing *in;
	struct tree *trees;
	unsigned int *first;
	double *load, *price, *far;
	uint32_t *near, *via, *out, *out_edge, *part, *member_at, *heap, *heap_place;
	struct packing_key { double price; uint32_t edge; } *keys;
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

static uint32_t packing_part(uint32_t *part, uint32_t x)
{
	while (part[x] != x)
		x = part[x] = part[part[x]];
	return x;
}

/* ---- minimum spanning trees at the present prices ---- */

static void packing_sift(struct packing *p, uint32_t i, uint32_t x)
{
	for (; i && p->far[p->heap[(i - 1) / 2]] > p->far[x]; i = (i - 1) / 2) {
		p->heap[i] = p->heap[(i - 1) / 2];
		p->heap_place[p->heap[i]] = i;
	}
	p->heap[i] = x;
	p->heap_place[x] = i;
}

static uint32_t packing_pop(struct packing *p, uint32_t *n)
{
	uint32_t top = p->heap[0], x = p->heap[--*n], i = 0, k;

	for (; (k = 2 * i + 1) < *n; i = k) {
		if (k + 1 < *n && p->far[p->heap[k + 1]] < p->far[p->heap[k]])
			k++;
		if (p->far[p->heap[k]] >= p->far[x])
			break;
		p->heap[i] = p->heap[k];
		p->heap_place[p->heap[i]] = i;
	}
	p->heap[i] = x;
	p->heap_place[x] = i;
	return top;
}

/* The member nearest to each vertex, itself for a member (Dijkstra). */
static void packing_nearest(struct packing *p, const struct to_packing_group *group)
{
	const struct to_packing_edge *edges = p->in->edges;
	uint32_t n = 0, x, i;

	for (x = 0; x < p->in->n; x++) {
		p->near[x] = p->via[x] = p->heap_place[x] = NONE;
		p->far[x] = INFINITY;
	}
	for (i = 0; i < group->n_members; i++) {
		x = group->members[i];
		p->near[x] = i;
		p->far[x] = 0;
		packing_sift(p, n++, x);
	}
	if (group->n_members == p->in->n)
		return;
	while (n) {
		x = packing_pop(p, &n);
		for (i = p->out[x]; i < p->out[x + 1]; i++) {
			uint32_t e = p->out_edge[i], y = edges[e].a ^ edges[e].b ^ x;
			double far = p->far[x] + p->price[e];

			if (far >= p->far[y])
				continue;
			p->far[y] = far;
			p->near[y] = p->near[x];
			p->via[y] = e;
			packing_sift(p, p->heap_place[y] == NONE ? n++ : p->heap_place[y], y);
		}
	}
}

static int packing_compare(const void *a, const void *b)
{
	const struct packing_key *x = a, *y = b;

	if (x->price != y->price)
		return x->price > y->price ? 1 : -1;
	return (x->edge > y->edge) - (x->edge < y->edge);
}

static int packing_use(struct tree *tree, uint32_t edge)
{
	if (tree->n_uses == tree->room) {
		unsigned int room = 2 * tree->room + 16;
		uint32_t *more = reallocarray(tree->uses, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		tree->uses = more;
		tree->room = room;
	}
	tree->uses[tree->n_uses++] = edge;
	return 0;
}

/* Take the edges from @x to its nearest member. */
static int packing_walk(struct packing *p, struct tree *tree, uint32_t x)
{
	int ret = 0;

	while (!ret && p->via[x] != NONE) {
		uint32_t e = p->via[x];

		ret = packing_use(tree, e);
		x ^= p->in->edges[e].a ^ p->in->edges[e].b;
	}
	return ret;
}

/* Is @e a detour between the nearest members of its ends, which another edge joins? */
static bool packing_detour(const struct packing *p, const struct to_packing_group *group,
			   uint32_t e)
{
	const struct to_packing_edge *edges = p->in->edges;
	uint32_t x = group->members[p->near[edges[e].a]];
	uint32_t y = group->members[p->near[edges[e].b]], i;

	if ((edges[e].a == x && edges[e].b == y) || group->n_members == p->in->n)
		return false;
	for (i = p->out[x]; i < p->out[x + 1]; i++)
		if ((edges[p->out_edge[i]].a ^ edges[p->out_edge[i]].b ^ x) == y)
			return true;
	return false;
}

/*
 * The minimum spanning tree of @group, over the distances of its members.
 * @tree: gets it; NULL for its price alone, in @price
 */
static int packing_span(struct packing *p, const struct to_packing_group *group, struct tree *tree,
			double *price)
{
	const struct to_packing_edge *edges = p->in->edges;
	unsigned int n = 0, joined = 1, i;
	int ret = 0;

	packing_nearest(p, group);
	for (i = 0; i < p->in->n_edges; i++) {
		uint32_t a = edges[i].a, b = edges[i].b;

		if (p->near[a] != p->near[b] && p->near[a] != NONE && p->near[b] != NONE &&
		    !(tree && packing_detour(p, group, i)))
			p->keys[n++] = (struct packing_key){
				p->far[a] + p->price[i] + p->far[b], i };
	}
	qsort(p->keys, n, sizeof(*p->keys), packing_compare);
	for (i = 0; i < group->n_members; i++)
		p->part[i] = i;
	*price = 0;
	if (tree)
		tree->n_uses = tree->n_hops = 0;
	for (i = 0; !ret && i < n && joined < group->n_members; i++) {
		uint32_t e = p->keys[i].edge, a = edges[e].a, b = edges[e].b;
		uint32_t u = packing_part(p->part, p->near[a]);
		uint32_t v = packing_part(p->part, p->near[b]);

		if (u == v)
			continue;
		p->part[u] = v;
		joined++;
		*price += p->keys[i].price;
		if (!tree)
			continue;
		tree->hops[2 * tree->n_hops] = p->near[a];
		tree->hops[2 * tree->n_hops++ + 1] = p->near[b];
		ret = packing_use(tree, e);
		if (!ret)
			ret = packing_walk(p, tree, a);
		if (!ret)
			ret = packing_walk(p, tree, b);
	}
	return ret || joined == group->n_members ? ret : -ENOTCONN;
}

static double packing_quantum(const struct packing *p, const struct to_packing_group *group,
			      uint32_t edge)
{
	return group->bytes / group->n_trees * p->in->edges[edge].seconds_per_byte;
}

static void packing_load(struct packing *p, const struct to_packing_group *group,
			 const struct tree *tree, double sign)
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
		p->price[e] = price * p->in->edges[e].seconds_per_byte;
	}
	for (g = 0; !ret && g < p->in->n_groups; g++) {
		ret = packing_span(p, &p->in->groups[g], NULL, &tree);
		value += p->in->groups[g].bytes * tree;
	}
	if (!ret)
		p->in->bound = fmax(p->in->bound, value / all);
	return ret;
}

/* ---- trees at steepening prices ---- */

static int packing_again(struct packing *p, const struct to_packing_group *group,
			 struct tree *tree, double steepness)
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

		p->price[e] = p->in->edges[e].seconds_per_byte * noise *
			      exp(steepness * (load - 1));
	}
	ret = packing_span(p, group, tree, &ignored);
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
	struct tree *trees;
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
	const struct tree *tree = &x->trees[t];

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
	struct tree *tree = &x->trees[t];
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

/* The least that the busiest edge can be, by exchanges in the trees of @g. */
static int packing_exchange(struct packing *p, unsigned int g)
{
	struct exchange x = { .p = p, .group = &p->in->groups[g], .trees = &p->trees[p->first[g]] };
	struct to_arena arena = { 0 };
	double low = p->in->bound, high = packing_busiest(p);
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
	uint32_t e, x;

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
	p->price = to_arena_array(arena, in->n_edges, sizeof(*p->price));
	p->keys = to_arena_array(arena, in->n_edges, sizeof(*p->keys));
	p->out_edge = to_arena_array(arena, 2 * (size_t)in->n_edges, sizeof(*p->out_edge));
	p->out = to_arena_array(arena, in->n + 2, sizeof(*p->out));
	p->far = to_arena_array(arena, in->n, sizeof(*p->far));
	p->near = to_arena_array(arena, in->n, sizeof(*p->near));
	p->via = to_arena_array(arena, in->n, sizeof(*p->via));
	p->part = to_arena_array(arena, in->n, sizeof(*p->part));
	p->member_at = to_arena_array(arena, in->n, sizeof(*p->member_at));
	p->heap = to_arena_array(arena, in->n, sizeof(*p->heap));
	p->heap_place = to_arena_array(arena, in->n, sizeof(*p->heap_place));
	if (arena->failed)
		return -ENOMEM;
	for (g = 0; g < in->n_groups; g++)
		for (k = p->first[g]; k < p->first[g + 1]; k++) {
			p->trees[k].hops = to_arena_array(arena, 2 * (size_t)in->groups[g].n_members,
							  sizeof(*p->trees[k].hops));
			if (!p->trees[k].hops)
				return -ENOMEM;
		}
	for (e = 0; e < in->n_edges; e++) {
		p->load[e] = in->edges[e].busy;
		p->out[in->edges[e].a + 2]++;
		p->out[in->edges[e].b + 2]++;
	}
	for (x = 2; x < in->n + 2; x++)
		p->out[x] += p->out[x - 1];
	for (e = 0; e < in->n_edges; e++) {
		p->out_edge[p->out[in->edges[e].a + 1]++] = e;
		p->out_edge[p->out[in->edges[e].b + 1]++] = e;
	}
	return 0;
}

/* The end of the longest path from @from. @order: gets the members as they come, @up: whence. */
static uint32_t packing_farthest(const struct tree *tree, uint32_t from, uint32_t *order,
				 uint32_t *up, const uint32_t *head, const uint32_t *link)
{
	unsigned int n = 0, i;

	order[n++] = from;
	up[from] = from;
	for (i = 0; i < n; i++) {
		uint32_t x = order[i], half;

		for (half = head[x]; half != NONE; half = link[half]) {
			uint32_t y = tree->hops[half ^ 1];

			if (y == up[x])
				continue;
			up[y] = x;
			order[n++] = y;
		}
	}
	return order[n - 1];
}

/* Root every tree at its centre: half way along a longest path. */
static int packing_root(const struct to_packing_group *group, const struct tree *tree, uint32_t *parents)
{
	unsigned int n = group->n_members, length = 0, i;
	uint32_t *head = malloc(4 * (size_t)n * sizeof(*head));
	uint32_t *order = head ? head + n : NULL, *link = head ? head + 2 * (size_t)n : NULL;
	uint32_t end, x;

	if (!head)
		return -ENOMEM;
	memset(head, 0xff, n * sizeof(*head));
	for (i = 0; i < 2 * tree->n_hops; i++) {
		link[i] = head[tree->hops[i]];
		head[tree->hops[i]] = i;
	}
	end = packing_farthest(tree, 0, order, parents, head, link);
	end = packing_farthest(tree, end, order, parents, head, link);
	for (x = end; parents[x] != x; x = parents[x])
		length++;
	for (x = end, i = 0; i < length / 2; i++)
		x = parents[x];
	packing_farthest(tree, x, order, parents, head, link);
	free(head);
	return 0;
}

int to_tree_packing(struct to_packing *in)
{
	struct packing p = { .in = in, .random = in->seed };
	unsigned int g, k, pass;
	int ret = packing_init(&p);

	in->busiest = in->bound = 0;
	for (pass = 0; !ret && pass < in->passes; pass++) {
		double part = in->passes > 1 ? (double)pass / (in->passes - 1) : 0;
		double steepness = PACKING_STEEP_MIN *
				   pow(PACKING_STEEP_MAX / PACKING_STEEP_MIN, part);

		ret = packing_pass(&p, steepness);
		if (!ret && !pass)
			ret = packing_bound(&p, 0);
		if (!ret)
			ret = packing_bound(&p, steepness);
		if (packing_busiest(&p) <= in->bound * PACKING_NEAR)
			break;
	}
	for (g = 0; !ret && g < in->n_groups; g++)
		if (in->groups[g].n_members == in->n)
			ret = packing_exchange(&p, g);
	in->busiest = packing_busiest(&p);
	for (k = 0; !ret && k < in->n_edges; k++)
		in->edges[k].trees = p.load[k] - in->edges[k].busy;
	for (g = 0; !ret && g < in->n_groups; g++)
		for (k = 0; !ret && k < in->groups[g].n_trees; k++)
			ret = packing_root(&in->groups[g], &p.trees[p.first[g] + k],
					   in->groups[g].parents +
					   (size_t)k * in->groups[g].n_members);
	for (g = 0; p.trees && g < p.first[in->n_groups]; g++)
		free(p.trees[g].uses);
	to_arena_free(&p.arena);
	return ret;
}
