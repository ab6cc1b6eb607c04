// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Vertices are 0..n-1, blossoms n..2n-1. An edge k has the ends 2k and 2k + 1;
 * the other end of e is e ^ 1. The children of a blossom form a ring of odd
 * length through next/prev, so that a new base only moves blossom.child.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "matching.h"

#define NONE UINT32_MAX

enum label { FREE, OUTER, INNER, ON_PATH };	/* S and T in the literature */

struct node {
	uint32_t parent, child, next, prev;
	uint32_t base;		/* vertex, NONE while a blossom is unused */
	uint32_t link;		/* end at this child of the edge to @next */
	uint32_t entry;		/* end, outside, of the edge that gave @label */
	uint32_t best;		/* edge of least slack to another outer node */
	uint32_t n_bests;	/* one such edge for each outer neighbour */
	uint32_t *bests;
	int64_t dual;
	enum label label;
};

struct matching {
	unsigned int n;
	const struct to_matching_edge *edges;
	struct node *nodes;
	uint32_t *top;		/* outermost blossom of a vertex */
	uint32_t *mate;		/* end at the partner of a vertex */
	uint32_t *first, *ends;	/* ends at the neighbours of a vertex */
	uint32_t *queue, n_queue;
	uint32_t *unused, n_unused;
	uint32_t *best_to, *path;
	bool *tight;		/* edge known to have no slack */
};

static uint32_t matching_vertex(const struct matching *m, uint32_t end)
{
	const struct to_matching_edge *edge = &m->edges[end / 2];

	return end & 1 ? edge->b : edge->a;
}

static int64_t matching_slack(const struct matching *m, uint32_t k)
{
	const struct to_matching_edge *edge = &m->edges[k];

	return m->nodes[edge->a].dual + m->nodes[edge->b].dual - 2 * edge->weight;
}

/* First and next vertex inside node b; NONE after the last. */
static uint32_t matching_leaf(const struct matching *m, uint32_t b)
{
	while (b >= m->n)
		b = m->nodes[b].child;
	return b;
}

static uint32_t matching_next_leaf(const struct matching *m, uint32_t b, uint32_t v)
{
	const struct node *nodes = m->nodes;

	while (v != b && nodes[v].next == nodes[nodes[v].parent].child)
		v = nodes[v].parent;
	return v == b ? NONE : matching_leaf(m, nodes[v].next);
}

static void matching_drop_bests(struct node *node)
{
	free(node->bests);
	node->bests = NULL;
	node->n_bests = 0;
	node->best = NONE;
}

static void matching_label(struct matching *m, uint32_t v, enum label label, uint32_t entry)
{
	struct node *nodes = m->nodes;
	uint32_t b = m->top[v], leaf;

	nodes[v].label = nodes[b].label = label;
	nodes[v].entry = nodes[b].entry = entry;
	nodes[v].best = nodes[b].best = NONE;
	if (label == OUTER) {
		for (leaf = matching_leaf(m, b); leaf != NONE;
		     leaf = matching_next_leaf(m, b, leaf))
			m->queue[m->n_queue++] = leaf;
	} else {
		uint32_t mate = m->mate[nodes[b].base];

		matching_label(m, matching_vertex(m, mate), OUTER, mate ^ 1);
	}
}

/* Base of the blossom that an edge v-w closes, NONE for an augmenting path. */
static uint32_t matching_scan(struct matching *m, uint32_t v, uint32_t w)
{
	struct node *nodes = m->nodes;
	unsigned int n_path = 0, i;
	uint32_t base = NONE, b;

	while (v != NONE || w != NONE) {
		b = m->top[v];
		if (nodes[b].label == ON_PATH) {
			base = nodes[b].base;
			break;
		}
		m->path[n_path++] = b;
		nodes[b].label = ON_PATH;
		if (nodes[b].entry == NONE) {
			v = NONE;
		} else {
			b = m->top[matching_vertex(m, nodes[b].entry)];
			v = matching_vertex(m, nodes[b].entry);
		}
		if (w != NONE) {
			uint32_t other = v;

			v = w;
			w = other;
		}
	}
	for (i = 0; i < n_path; i++)
		nodes[m->path[i]].label = OUTER;
	return base;
}

static void matching_link(struct matching *m, uint32_t child, uint32_t next, uint32_t end)
{
	m->nodes[child].next = next;
	m->nodes[child].link = end;
	m->nodes[next].prev = child;
}

static void matching_consider(struct matching *m, uint32_t b, uint32_t k)
{
	uint32_t i = m->top[m->edges[k].a], j = m->top[m->edges[k].b];
	uint32_t other = i == b ? j : i;

	if (i == j || m->nodes[other].label != OUTER)
		return;
	if (m->best_to[other] == NONE ||
	    matching_slack(m, k) < matching_slack(m, m->best_to[other]))
		m->best_to[other] = k;
}

/* Least-slack edges from the new blossom b to every other outer node. */
static void matching_merge_bests(struct matching *m, uint32_t b)
{
	struct node *node = &m->nodes[b];
	uint32_t c = node->child, leaf, i, count = 0;

	memset(m->best_to, 0xff, 2 * m->n * sizeof(*m->best_to));
	do {
		struct node *child = &m->nodes[c];

		if (child->bests) {
			for (i = 0; i < child->n_bests; i++)
				matching_consider(m, b, child->bests[i]);
		} else {
			for (leaf = matching_leaf(m, c); leaf != NONE;
			     leaf = matching_next_leaf(m, c, leaf))
				for (i = m->first[leaf]; i < m->first[leaf + 1]; i++)
					matching_consider(m, b, m->ends[i] / 2);
		}
		matching_drop_bests(child);
		c = child->next;
	} while (c != node->child);
	node->best = NONE;
	for (i = 0; i < 2 * m->n; i++) {
		uint32_t k = m->best_to[i];

		if (k == NONE)
			continue;
		m->best_to[count++] = k;
		if (node->best == NONE || matching_slack(m, k) < matching_slack(m, node->best))
			node->best = k;
	}
	/* without memory the edges are searched again when b is merged */
	node->bests = malloc((count + 1) * sizeof(*node->bests));
	if (node->bests) {
		memcpy(node->bests, m->best_to, count * sizeof(*node->bests));
		node->n_bests = count;
	}
}

static void matching_shrink(struct matching *m, uint32_t base, uint32_t k)
{
	struct node *nodes = m->nodes;
	uint32_t root = m->top[base], b = m->unused[--m->n_unused];
	uint32_t c, last, leaf;

	/* from the end a of the edge up to the root ... */
	last = NONE;
	for (c = m->top[m->edges[k].a]; ; c = m->top[matching_vertex(m, nodes[c].entry)]) {
		if (last == NONE)
			nodes[c].link = 2 * k;
		else
			matching_link(m, c, last, nodes[last].entry);
		nodes[c].parent = b;
		last = c;
		if (c == root)
			break;
	}
	/* ... and from the end b likewise, in the other sense */
	last = m->top[m->edges[k].a];
	for (c = m->top[m->edges[k].b]; c != root;
	     c = m->top[matching_vertex(m, nodes[c].entry)]) {
		nodes[c].parent = b;
		matching_link(m, last, c, last == m->top[m->edges[k].a] ? 2 * k
					: nodes[last].entry ^ 1);
		last = c;
	}
	matching_link(m, last, root, last == m->top[m->edges[k].a] ? 2 * k
				: nodes[last].entry ^ 1);

	nodes[b].parent = NONE;
	nodes[b].child = root;
	nodes[b].base = base;
	nodes[b].label = OUTER;
	nodes[b].entry = nodes[root].entry;
	nodes[b].dual = 0;
	for (leaf = matching_leaf(m, b); leaf != NONE; leaf = matching_next_leaf(m, b, leaf)) {
		if (nodes[m->top[leaf]].label == INNER)
			m->queue[m->n_queue++] = leaf;
		m->top[leaf] = b;
	}
	matching_merge_bests(m, b);
}

/* End at child c of the edge to the child after it, in the chosen sense. */
static uint32_t matching_local(const struct matching *m, uint32_t c, bool forward)
{
	return forward ? m->nodes[c].link : m->nodes[m->nodes[c].prev].link ^ 1;
}

static uint32_t matching_step(const struct matching *m, uint32_t c, bool forward)
{
	return forward ? m->nodes[c].next : m->nodes[c].prev;
}

/* The way round from child c to the base that has an even number of edges. */
static bool matching_forward(const struct matching *m, uint32_t b, uint32_t c)
{
	bool odd = false;

	for (; c != m->nodes[b].child; c = m->nodes[c].prev)
		odd = !odd;
	return odd;
}

/* Give the children of a dissolved inner blossom the labels they now have. */
static void matching_relabel(struct matching *m, uint32_t b)
{
	struct node *nodes = m->nodes;
	uint32_t entry = m->top[matching_vertex(m, nodes[b].entry ^ 1)];
	uint32_t end = nodes[b].entry, c = entry, leaf;
	bool forward = matching_forward(m, b, c);

	while (c != nodes[b].child) {
		uint32_t local = matching_local(m, c, forward);

		nodes[matching_vertex(m, end ^ 1)].label = FREE;
		nodes[matching_vertex(m, local ^ 1)].label = FREE;
		matching_label(m, matching_vertex(m, end ^ 1), INNER, end);
		m->tight[local / 2] = true;
		c = matching_step(m, c, forward);
		end = matching_local(m, c, forward);
		m->tight[end / 2] = true;
		c = matching_step(m, c, forward);
	}
	/* the base stays inner, its mate has its label already */
	nodes[matching_vertex(m, end ^ 1)].label = nodes[c].label = INNER;
	nodes[matching_vertex(m, end ^ 1)].entry = nodes[c].entry = end;
	nodes[c].best = NONE;
	for (c = matching_step(m, c, forward); c != entry; c = matching_step(m, c, forward)) {
		if (nodes[c].label == OUTER)
			continue;
		for (leaf = matching_leaf(m, c); leaf != NONE; leaf = matching_next_leaf(m, c, leaf))
			if (nodes[leaf].label != FREE)
				break;
		if (leaf == NONE)
			continue;
		nodes[leaf].label = FREE;
		nodes[matching_vertex(m, m->mate[nodes[c].base])].label = FREE;
		matching_label(m, leaf, INNER, nodes[leaf].entry);
	}
}

static void matching_expand(struct matching *m, uint32_t b, bool stage_ends)
{
	struct node *nodes = m->nodes;
	uint32_t c = nodes[b].child, next, leaf;
	bool more;

	/* the ring stays linked for matching_relabel() */
	do {
		next = nodes[c].next;
		more = next != nodes[b].child;
		if (stage_ends && c >= m->n && !nodes[c].dual) {
			nodes[c].parent = NONE;
			matching_expand(m, c, true);
		} else {
			for (leaf = matching_leaf(m, c); leaf != NONE;
			     leaf = matching_next_leaf(m, c, leaf))
				m->top[leaf] = c;
			nodes[c].parent = NONE;
		}
		c = next;
	} while (more);
	if (!stage_ends && nodes[b].label == INNER)
		matching_relabel(m, b);
	matching_drop_bests(&nodes[b]);
	nodes[b].label = FREE;
	nodes[b].base = NONE;
	m->unused[m->n_unused++] = b;
}

/* Swap the matched edges inside b so that its vertex v becomes the base. */
static void matching_augment_blossom(struct matching *m, uint32_t b, uint32_t v)
{
	struct node *nodes = m->nodes;
	uint32_t start = v, c, end;
	bool forward;

	while (nodes[start].parent != b)
		start = nodes[start].parent;
	if (start >= m->n)
		matching_augment_blossom(m, start, v);
	forward = matching_forward(m, b, start);
	for (c = start; c != nodes[b].child;) {
		c = matching_step(m, c, forward);
		end = matching_local(m, c, forward);
		if (c >= m->n)
			matching_augment_blossom(m, c, matching_vertex(m, end));
		c = matching_step(m, c, forward);
		if (c >= m->n)
			matching_augment_blossom(m, c, matching_vertex(m, end ^ 1));
		m->mate[matching_vertex(m, end)] = end ^ 1;
		m->mate[matching_vertex(m, end ^ 1)] = end;
	}
	nodes[b].child = start;
	nodes[b].base = nodes[start].base;
}

static void matching_augment(struct matching *m, uint32_t k)
{
	struct node *nodes = m->nodes;
	unsigned int side;

	for (side = 0; side < 2; side++) {
		uint32_t mate = 2 * k + !side;
		uint32_t v = matching_vertex(m, mate ^ 1), b = m->top[v];

		for (;;) {
			uint32_t entry, inner;

			if (b >= m->n)
				matching_augment_blossom(m, b, v);
			m->mate[v] = mate;
			if (nodes[b].entry == NONE)
				break;
			inner = m->top[matching_vertex(m, nodes[b].entry)];
			entry = nodes[inner].entry;
			v = matching_vertex(m, entry ^ 1);
			if (inner >= m->n)
				matching_augment_blossom(m, inner, v);
			m->mate[v] = entry;
			mate = entry ^ 1;
			v = matching_vertex(m, entry);
			b = m->top[v];
		}
	}
}

/* Scan an outer vertex. Return: true when the matching grew. */
static bool matching_grow(struct matching *m, uint32_t v)
{
	struct node *nodes = m->nodes;
	uint32_t i;

	for (i = m->first[v]; i < m->first[v + 1]; i++) {
		uint32_t end = m->ends[i], k = end / 2, w = matching_vertex(m, end);
		uint32_t b = m->top[w], *best;
		int64_t slack = 0;

		if (m->top[v] == b)
			continue;
		if (!m->tight[k]) {
			slack = matching_slack(m, k);
			m->tight[k] = slack <= 0;
		}
		if (m->tight[k]) {
			if (nodes[b].label == FREE) {
				matching_label(m, w, INNER, end ^ 1);
			} else if (nodes[b].label == OUTER) {
				uint32_t base = matching_scan(m, v, w);

				if (base == NONE) {
					matching_augment(m, k);
					return true;
				}
				matching_shrink(m, base, k);
			} else if (nodes[w].label == FREE) {
				/* for when its blossom is dissolved */
				nodes[w].label = INNER;
				nodes[w].entry = end ^ 1;
			}
			continue;
		}
		if (nodes[b].label == OUTER)
			best = &nodes[m->top[v]].best;
		else if (nodes[w].label == FREE)
			best = &nodes[w].best;
		else
			continue;
		if (*best == NONE || slack < matching_slack(m, *best))
			*best = k;
	}
	return false;
}

/*
 * Shift the duals as far as the constraints allow, and act on the one that
 * stopped the shift. Return: false when the matching is of maximum weight.
 */
static bool matching_shift(struct matching *m)
{
	struct node *nodes = m->nodes;
	uint32_t edge = NONE, dissolve = NONE, b, v;
	int64_t delta = INT64_MAX, slack;

	for (v = 0; v < m->n; v++)
		if (nodes[v].dual < delta)
			delta = nodes[v].dual;
	for (v = 0; v < m->n; v++) {
		if (nodes[m->top[v]].label != FREE || nodes[v].best == NONE)
			continue;
		slack = matching_slack(m, nodes[v].best);
		if (slack < delta) {
			delta = slack;
			edge = nodes[v].best;
		}
	}
	for (b = 0; b < 2 * m->n; b++) {
		const struct node *node = &nodes[b];

		if (node->parent != NONE || node->base == NONE)
			continue;
		if (node->label == OUTER && node->best != NONE) {
			slack = matching_slack(m, node->best) / 2;
			if (slack < delta) {
				delta = slack;
				edge = node->best;
			}
		} else if (node->label == INNER && b >= m->n && node->dual < delta) {
			delta = node->dual;
			dissolve = b;
		}
	}
	for (v = 0; v < m->n; v++) {
		if (nodes[m->top[v]].label == OUTER)
			nodes[v].dual -= delta;
		else if (nodes[m->top[v]].label == INNER)
			nodes[v].dual += delta;
	}
	for (b = m->n; b < 2 * m->n; b++) {
		if (nodes[b].parent != NONE || nodes[b].base == NONE)
			continue;
		if (nodes[b].label == OUTER)
			nodes[b].dual += delta;
		else if (nodes[b].label == INNER)
			nodes[b].dual -= delta;
	}
	if (dissolve != NONE) {
		matching_expand(m, dissolve, false);
	} else if (edge != NONE) {
		m->tight[edge] = true;
		v = m->edges[edge].a;
		if (nodes[m->top[v]].label == FREE)
			v = m->edges[edge].b;
		m->queue[m->n_queue++] = v;
	} else {
		return false;
	}
	return true;
}

/* One search for an augmenting path. Return: false when there is none left. */
static bool matching_stage(struct matching *m, unsigned int n_edges)
{
	struct node *nodes = m->nodes;
	bool grown = false;
	uint32_t b, v;

	for (b = 0; b < 2 * m->n; b++) {
		nodes[b].label = FREE;
		matching_drop_bests(&nodes[b]);
	}
	memset(m->tight, 0, n_edges * sizeof(*m->tight));
	m->n_queue = 0;
	for (v = 0; v < m->n; v++)
		if (m->mate[v] == NONE && nodes[m->top[v]].label == FREE)
			matching_label(m, v, OUTER, NONE);
	do {
		while (m->n_queue && !grown)
			grown = matching_grow(m, m->queue[--m->n_queue]);
	} while (!grown && matching_shift(m));
	if (!grown)
		return false;
	for (b = m->n; b < 2 * m->n; b++)
		if (nodes[b].parent == NONE && nodes[b].base != NONE &&
		    nodes[b].label == OUTER && !nodes[b].dual)
			matching_expand(m, b, true);
	return true;
}

static int matching_init(struct matching *m, unsigned int n_edges)
{
	size_t n = m->n, words = 2 * n + 1 + 2 * (size_t)n_edges + 2 * n + n + 2 * n + 2 * n;
	uint32_t *block = calloc(words, sizeof(*block));
	int64_t most = 0;
	uint32_t i;

	m->nodes = calloc(2 * n, sizeof(*m->nodes));
	m->tight = calloc(n_edges + 1, sizeof(*m->tight));
	m->top = block;
	if (!block || !m->nodes || !m->tight)
		return -1;
	m->first = m->top + n;
	m->ends = m->first + n + 1;
	m->queue = m->ends + 2 * (size_t)n_edges;
	m->unused = m->queue + 2 * n;
	m->best_to = m->unused + n;
	m->path = m->best_to + 2 * n;

	for (i = 0; i < n_edges; i++) {
		if (m->edges[i].weight <= 0)
			continue;
		m->first[m->edges[i].a]++;
		m->first[m->edges[i].b]++;
		if (m->edges[i].weight > most)
			most = m->edges[i].weight;
	}
	for (i = 1; i <= n; i++)
		m->first[i] += m->first[i - 1];
	for (i = 0; i < n_edges; i++) {
		if (m->edges[i].weight <= 0)
			continue;
		m->ends[--m->first[m->edges[i].a]] = 2 * i + 1;
		m->ends[--m->first[m->edges[i].b]] = 2 * i;
	}
	for (i = 0; i < 2 * n; i++) {
		m->nodes[i].parent = NONE;
		m->nodes[i].base = i < n ? i : NONE;
		m->nodes[i].dual = i < n ? most : 0;
	}
	for (i = 0; i < n; i++) {
		m->top[i] = i;
		m->unused[m->n_unused++] = 2 * n - 1 - i;
	}
	memset(m->mate, 0xff, n * sizeof(*m->mate));
	return 0;
}

int to_matching_solve(unsigned int n, const struct to_matching_edge *edges,
		      unsigned int n_edges, uint32_t *mate)
{
	struct matching m = { .n = n, .edges = edges, .mate = mate };
	uint32_t i;
	int ret = 0;

	if (!n)
		return 0;
	if (matching_init(&m, n_edges)) {
		ret = -ENOMEM;
		goto out;
	}
	while (matching_stage(&m, n_edges))
		;
	for (i = 0; i < n; i++)
		if (mate[i] != NONE)
			mate[i] = matching_vertex(&m, mate[i]);
	for (i = 0; i < 2 * n; i++)
		free(m.nodes[i].bests);
out:
	free(m.top);
	free(m.nodes);
	free(m.tight);
	return ret;
}
