// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Vertices are 0..n-1, blossoms n..2n-1. An edge k has the ends 2k and 2k + 1;
 * the other end of e is e ^ 1. The children of a blossom form a ring of odd
 * length through next/prev, so that a new base only moves blossom.child.
 *
 * The dual problem has y >= 0 for every vertex and z >= 0 for every blossom;
 * the slack of an edge is y + y + (z of the blossoms around both) - 2 weight.
 * y is twice the usual dual variable, so all stays whole: the nodes of one tree
 * hang together by edges without slack, their y are all odd or all even, and
 * the slack between two of them is even.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "graph/matching.h"

#define NONE UINT32_MAX
#define NEVER INT64_MAX

/* Edges per vertex that the first round may use. */
#define MATCHING_FEW 8

enum label { FREE, OUTER, INNER };	/* S and T in the literature */

struct node {
	uint32_t parent;	/* the blossom around it, NONE when outermost */
	uint32_t child, next, prev;
	uint32_t link;		/* end at this child of the edge to @next */
	uint32_t base;		/* vertex, NONE while a blossom is unused */
	uint32_t entry;		/* inner: end, at its outer parent, of the tree edge */
	uint32_t mark;		/* search for the base of a new blossom that came by */
	enum label label;
	bool touched;
	int64_t dual;		/* y or z, as of time @since of the search */
	int64_t since;
	int64_t reach;		/* free: time at which an edge first loses its slack */
};

/* An edge (its number) loses its slack, or an inner blossom (n_edges + node) its z. */
struct event {
	int64_t key;
	uint32_t id;
};

struct events {
	unsigned int n, room;
	struct event *heap;
};

struct arc {
	uint32_t to, end;	/* vertex, and the end of the edge there */
	int64_t weight;
};

struct matching {
	unsigned int n, n_edges, n_used;
	const struct to_matching_edge *edges;
	bool *used;		/* edges that take part */
	struct node *nodes;
	uint32_t *top;		/* outermost blossom of a vertex */
	uint32_t *mate;		/* end at the partner of a vertex */
	uint32_t *first;	/* arcs of a vertex */
	struct arc *arcs;
	uint32_t *unused, n_unused;
	uint32_t *touched, n_touched;
	uint32_t n_marks, marked;	/* vertex whose blossoms have the last mark */
	/* one search: duals of outer vertices have dropped by @now so far */
	struct events events;
	int64_t now, limit;
	uint32_t last_edge, last_vertex;	/* what happens at @limit */
	int error;
};

static uint32_t matching_vertex(const struct matching *m, uint32_t end)
{
	const struct to_matching_edge *edge = &m->edges[end / 2];

	return end & 1 ? edge->b : edge->a;
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

/*
 * Heap of events, the least key first. Among equal keys the order is a shuffle:
 * where all weights are equal, edges of one vertex must not be preferred.
 */
static bool matching_before(const struct event *a, const struct event *b)
{
	uint32_t x = a->id * 0x9e3779b1u, y = b->id * 0x9e3779b1u;

	return a->key < b->key || (a->key == b->key && x < y);
}

static void matching_sink(struct event *heap, unsigned int n, struct event event)
{
	unsigned int i = 0, c;

	for (; (c = 2 * i + 1) < n; i = c) {
		if (c + 1 < n && matching_before(&heap[c + 1], &heap[c]))
			c++;
		if (!matching_before(&heap[c], &event))
			break;
		heap[i] = heap[c];
	}
	heap[i] = event;
}

static void matching_rise(struct event *heap, unsigned int i, struct event event)
{
	for (; i && matching_before(&event, &heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = event;
}

static void matching_push(struct matching *m, int64_t key, uint32_t id)
{
	struct events *events = &m->events;

	if (key >= m->limit || m->error)
		return;
	if (events->n == events->room) {
		unsigned int room = events->room ? 2 * events->room : 1024;
		struct event *heap = reallocarray(events->heap, room, sizeof(*heap));

		if (!heap) {
			m->error = -ENOMEM;
			return;
		}
		events->heap = heap;
		events->room = room;
	}
	matching_rise(events->heap, events->n++, (struct event){ key, id });
}

static struct event matching_pop(struct matching *m)
{
	struct events *events = &m->events;
	struct event first = events->heap[0];

	events->n--;
	matching_sink(events->heap, events->n, events->heap[events->n]);
	return first;
}

/* What y of a vertex in outermost node b has lost since it was written down. */
static int64_t matching_drop(const struct matching *m, uint32_t b)
{
	const struct node *node = &m->nodes[b];

	return node->label == OUTER ? m->now - node->since :
	       node->label == INNER ? node->since - m->now : 0;
}

static int64_t matching_dual(const struct matching *m, uint32_t v)
{
	return m->nodes[v].dual - matching_drop(m, m->top[v]);
}

static void matching_settle(struct matching *m, uint32_t b)
{
	int64_t drop = matching_drop(m, b);
	uint32_t leaf;

	for (leaf = matching_leaf(m, b); leaf != NONE; leaf = matching_next_leaf(m, b, leaf))
		m->nodes[leaf].dual -= drop;
	if (b >= m->n)
		m->nodes[b].dual += 2 * drop;
	m->nodes[b].since = m->now;
}

static void matching_touch(struct matching *m, uint32_t b)
{
	if (!m->nodes[b].touched)
		m->touched[m->n_touched++] = b;
	m->nodes[b].touched = true;
}

/* When the event is due as things are now. */
static int64_t matching_due(const struct matching *m, uint32_t id)
{
	uint32_t a, b;
	int64_t slack;

	if (id >= m->n_edges) {
		const struct node *node = &m->nodes[id - m->n_edges];

		return node->label == INNER ? node->since + node->dual / 2 : NEVER;
	}
	a = m->edges[id].a;
	b = m->edges[id].b;
	if (m->top[a] == m->top[b])
		return NEVER;
	slack = matching_dual(m, a) + matching_dual(m, b) - 2 * m->edges[id].weight;
	switch (m->nodes[m->top[a]].label + m->nodes[m->top[b]].label) {
	case OUTER + FREE:
		return m->now + slack;
	case OUTER + OUTER:
		/* an inner node beside a free one adds up to the same */
		return m->nodes[m->top[a]].label == OUTER ? m->now + slack / 2 : NEVER;
	}
	return NEVER;
}

/* An arc from an outer vertex with dual y to a node that is free or outer. */
static void matching_consider(struct matching *m, int64_t y, uint32_t to, uint32_t end,
			      int64_t weight)
{
	struct node *node = &m->nodes[m->top[to]];
	int64_t slack = y + matching_dual(m, to) - 2 * weight, key;

	if (node->label == OUTER) {
		matching_push(m, m->now + slack / 2, end / 2);
		return;
	}
	key = m->now + slack;
	if (key >= node->reach || key >= m->limit)
		return;
	matching_touch(m, m->top[to]);
	node->reach = key;
	if (m->mate[node->base] == NONE) {
		m->limit = key;
		m->last_edge = end;
	} else {
		matching_push(m, key, end / 2);
	}
}

/* Look at the edges of the vertices of node b, which has become outer. */
static void matching_scan(struct matching *m, uint32_t b)
{
	const struct arc *arc;
	uint32_t v;

	for (v = matching_leaf(m, b); v != NONE; v = matching_next_leaf(m, b, v)) {
		int64_t y = matching_dual(m, v);

		if (m->now + y < m->limit) {
			m->limit = m->now + y;
			m->last_edge = NONE;
			m->last_vertex = v;
		}
		for (arc = &m->arcs[m->first[v]]; arc < &m->arcs[m->first[v + 1]]; arc++)
			if (m->top[arc->to] != m->top[v] &&
			    m->nodes[m->top[arc->to]].label != INNER)
				matching_consider(m, y, arc->to, arc->end, arc->weight);
	}
}

/* Look for edges that reach node b, which was inner and now is free. */
static void matching_await(struct matching *m, uint32_t b)
{
	const struct arc *arc;
	uint32_t v;

	for (v = matching_leaf(m, b); v != NONE; v = matching_next_leaf(m, b, v))
		for (arc = &m->arcs[m->first[v]]; arc < &m->arcs[m->first[v + 1]]; arc++)
			if (m->nodes[m->top[arc->to]].label == OUTER)
				matching_consider(m, matching_dual(m, arc->to), v, arc->end ^ 1,
						  arc->weight);
}

static void matching_label(struct matching *m, uint32_t b, enum label label, uint32_t entry)
{
	m->nodes[b].label = label;
	m->nodes[b].entry = entry;
	m->nodes[b].since = m->now;
	matching_touch(m, b);
}

/* The inner node below @entry, and the outer one that it is matched with. */
static void matching_grow(struct matching *m, uint32_t entry)
{
	uint32_t inner = m->top[matching_vertex(m, entry ^ 1)];
	uint32_t outer = m->top[matching_vertex(m, m->mate[m->nodes[inner].base])];

	matching_label(m, inner, INNER, entry);
	if (inner >= m->n)
		matching_push(m, m->now + m->nodes[inner].dual / 2, m->n_edges + inner);
	matching_label(m, outer, OUTER, NONE);
	matching_scan(m, outer);
}

/* From an outer node two steps up its tree, NONE from the root. */
static uint32_t matching_up(const struct matching *m, uint32_t b)
{
	uint32_t mate = m->mate[m->nodes[b].base];

	if (mate == NONE)
		return NONE;
	return m->top[matching_vertex(m, m->nodes[m->top[matching_vertex(m, mate)]].entry)];
}

/* Where the paths from outer nodes a and b to the root meet. */
static uint32_t matching_meet(struct matching *m, uint32_t a, uint32_t b)
{
	uint32_t mark = ++m->n_marks, other;

	for (;;) {
		if (a != NONE) {
			if (m->nodes[a].mark == mark)
				return a;
			m->nodes[a].mark = mark;
			a = matching_up(m, a);
		}
		other = b;
		b = a;
		a = other;
	}
}

static void matching_link(struct matching *m, uint32_t child, uint32_t next, uint32_t end)
{
	m->nodes[child].next = next;
	m->nodes[child].link = end;
	m->nodes[next].prev = child;
}

/* A blossom of the ring that edge k closes. */
static void matching_shrink(struct matching *m, uint32_t k)
{
	struct node *nodes = m->nodes;
	uint32_t b = m->unused[--m->n_unused], left, right, root, c, up, leaf;

	left = m->top[m->edges[k].a];
	right = m->top[m->edges[k].b];
	root = matching_meet(m, left, right);
	matching_link(m, left, right, 2 * k);
	for (c = left; c != root; c = up) {
		uint32_t mate = m->mate[nodes[c].base], inner = m->top[matching_vertex(m, mate)];

		up = matching_up(m, c);
		matching_link(m, inner, c, mate);
		matching_link(m, up, inner, nodes[inner].entry);
	}
	for (c = right; c != root; c = up) {
		uint32_t mate = m->mate[nodes[c].base], inner = m->top[matching_vertex(m, mate)];

		up = matching_up(m, c);
		matching_link(m, c, inner, mate ^ 1);
		matching_link(m, inner, up, nodes[inner].entry ^ 1);
	}
	nodes[b].parent = NONE;
	nodes[b].child = root;
	nodes[b].base = nodes[root].base;
	nodes[b].dual = 0;
	nodes[b].reach = NEVER;
	matching_label(m, b, OUTER, NONE);
	c = root;
	do {
		matching_settle(m, c);
		nodes[c].parent = b;
		for (leaf = matching_leaf(m, c); leaf != NONE; leaf = matching_next_leaf(m, c, leaf))
			m->top[leaf] = b;
		c = nodes[c].next;
	} while (c != root);
	do {
		enum label was = nodes[c].label;

		nodes[c].label = FREE;
		if (was == INNER)
			matching_scan(m, c);
		c = nodes[c].next;
	} while (c != root);
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

/* The direction round the blossom from child c to its base along an even number of edges. */
static bool matching_forward(const struct matching *m, uint32_t b, uint32_t c)
{
	bool odd = false;

	for (; c != m->nodes[b].child; c = m->nodes[c].prev)
		odd = !odd;
	return odd;
}

/* Child of b around vertex v. */
static uint32_t matching_child(const struct matching *m, uint32_t b, uint32_t v)
{
	while (m->nodes[v].parent != b)
		v = m->nodes[v].parent;
	return v;
}

/* Dissolve an inner blossom: its children on the even path stay in the tree. */
static void matching_expand(struct matching *m, uint32_t b)
{
	struct node *nodes = m->nodes;
	uint32_t end = nodes[b].entry, base = nodes[b].child, c, leaf;
	uint32_t entry = matching_child(m, b, matching_vertex(m, end ^ 1));
	bool forward = matching_forward(m, b, entry);

	matching_settle(m, b);
	c = base;
	do {
		nodes[c].parent = NONE;
		nodes[c].reach = NEVER;
		matching_label(m, c, FREE, NONE);
		for (leaf = matching_leaf(m, c); leaf != NONE; leaf = matching_next_leaf(m, c, leaf))
			m->top[leaf] = c;
		c = nodes[c].next;
	} while (c != base);
	for (c = entry; ; c = matching_step(m, c, forward)) {
		matching_label(m, c, INNER, end);
		if (c == base)
			break;
		c = matching_step(m, c, forward);
		matching_label(m, c, OUTER, NONE);
		end = matching_local(m, c, forward);
	}
	do {
		if (nodes[c].label == OUTER)
			matching_scan(m, c);
		else if (nodes[c].label == FREE)
			matching_await(m, c);
		else if (c >= m->n)
			matching_push(m, m->now + nodes[c].dual / 2, m->n_edges + c);
		c = nodes[c].next;
	} while (c != base);
	nodes[b].label = FREE;
	nodes[b].base = NONE;
	m->unused[m->n_unused++] = b;
}

/* Swap the matched edges inside b so that its vertex v becomes the base. */
static void matching_rebase(struct matching *m, uint32_t b, uint32_t v)
{
	struct node *nodes = m->nodes;
	uint32_t start, c, end;
	bool forward;

	if (nodes[b].base == v)
		return;
	start = matching_child(m, b, v);
	matching_rebase(m, start, v);
	forward = matching_forward(m, b, start);
	for (c = start; c != nodes[b].child; c = matching_step(m, c, forward)) {
		c = matching_step(m, c, forward);
		end = matching_local(m, c, forward);
		matching_rebase(m, c, matching_vertex(m, end));
		matching_rebase(m, matching_step(m, c, forward), matching_vertex(m, end ^ 1));
		m->mate[matching_vertex(m, end)] = end ^ 1;
		m->mate[matching_vertex(m, end ^ 1)] = end;
	}
	nodes[b].child = start;
	nodes[b].base = v;
}

/* Match outer vertex v by @mate, or leave it alone; swap all up to the root. */
static void matching_flip(struct matching *m, uint32_t v, uint32_t mate)
{
	for (;;) {
		uint32_t b = m->top[v], old = m->mate[m->nodes[b].base], inner, entry;

		matching_rebase(m, b, v);
		m->mate[v] = mate;
		if (old == NONE)
			return;
		inner = m->top[matching_vertex(m, old)];
		entry = m->nodes[inner].entry;
		matching_rebase(m, inner, matching_vertex(m, entry ^ 1));
		m->mate[matching_vertex(m, entry ^ 1)] = entry;
		v = matching_vertex(m, entry);
		mate = entry ^ 1;
	}
}

/* Grow a tree from @root until it leads to another such vertex or one with y = 0. */
static void matching_search(struct matching *m, uint32_t root)
{
	struct node *nodes = m->nodes;
	uint32_t i, a;

	m->now = 0;
	m->limit = NEVER;
	m->events.n = 0;
	matching_label(m, m->top[root], OUTER, NONE);
	matching_scan(m, m->top[root]);
	while (!m->error && m->events.n && m->events.heap[0].key < m->limit) {
		struct event event = matching_pop(m);

		if (matching_due(m, event.id) != event.key)
			continue;
		m->now = event.key;
		if (event.id >= m->n_edges) {
			matching_expand(m, event.id - m->n_edges);
			continue;
		}
		a = m->top[m->edges[event.id].a];
		if (nodes[a].label == FREE)
			matching_grow(m, 2 * event.id + 1);
		else if (nodes[m->top[m->edges[event.id].b]].label == FREE)
			matching_grow(m, 2 * event.id);
		else
			matching_shrink(m, event.id);
	}
	m->now = m->limit;
	if (m->last_edge == NONE) {
		matching_flip(m, m->last_vertex, NONE);
	} else {
		uint32_t v = matching_vertex(m, m->last_edge);

		matching_flip(m, matching_vertex(m, m->last_edge ^ 1), m->last_edge);
		matching_rebase(m, m->top[v], v);
		m->mate[v] = m->last_edge ^ 1;
	}
	for (i = 0; i < m->n_touched; i++) {
		struct node *node = &nodes[m->touched[i]];

		if (node->parent == NONE && node->base != NONE)
			matching_settle(m, m->touched[i]);
		node->label = FREE;
		node->reach = NEVER;
		node->touched = false;
	}
	m->n_touched = 0;
}

/* The z of all blossoms go to the y of their vertices: no slack gets less. */
static void matching_dissolve(struct matching *m)
{
	struct node *nodes = m->nodes;
	uint32_t b, leaf;

	for (b = m->n; b < 2 * m->n; b++) {
		if (nodes[b].base == NONE)
			continue;
		for (leaf = matching_leaf(m, b); leaf != NONE; leaf = matching_next_leaf(m, b, leaf))
			nodes[leaf].dual += nodes[b].dual / 2;
	}
	for (b = 0; b < 2 * m->n; b++) {
		nodes[b].parent = NONE;
		if (b < m->n)
			m->top[b] = b;
		else if (nodes[b].base != NONE)
			m->unused[m->n_unused++] = b;
		nodes[b].base = b < m->n ? b : NONE;
	}
}

/*
 * Make y as low as the used edges allow, one vertex after the other, and match
 * what has no slack then; of an earlier round, keep what still has none.
 */
static void matching_prime(struct matching *m)
{
	struct node *nodes = m->nodes;
	const struct arc *arc, *end;
	uint32_t v, mate;

	for (v = 0; v < m->n; v++) {
		int64_t least = 0;

		mate = NONE;
		end = &m->arcs[m->first[v + 1]];
		for (arc = &m->arcs[m->first[v]]; arc < end; arc++) {
			int64_t need = 2 * arc->weight - nodes[arc->to].dual;

			if (need < least || need <= 0)
				continue;
			if (need > least || mate == NONE || m->mate[arc->to] == NONE)
				mate = arc->end;
			least = need;
		}
		if (m->mate[v] != NONE) {
			const struct to_matching_edge *edge = &m->edges[m->mate[v] / 2];

			if (nodes[edge->a].dual + nodes[edge->b].dual == 2 * edge->weight &&
			    least == nodes[v].dual)
				continue;
			m->mate[matching_vertex(m, m->mate[v])] = NONE;
			m->mate[v] = NONE;
		}
		nodes[v].dual = least;
		if (mate != NONE && m->mate[matching_vertex(m, mate)] == NONE) {
			m->mate[v] = mate;
			m->mate[matching_vertex(m, mate)] = mate ^ 1;
		}
	}
}

/* Slack of edge k; where it is not negative, that or something in between. */
static int64_t matching_slack(struct matching *m, uint32_t k)
{
	const struct to_matching_edge *edge = &m->edges[k];
	struct node *nodes = m->nodes;
	int64_t slack = nodes[edge->a].dual + nodes[edge->b].dual - 2 * edge->weight;
	uint32_t top = m->top[edge->a], b;

	if (slack >= 0 || top != m->top[edge->b])
		return slack;
	if (slack + nodes[top].dual >= 0)
		return slack + nodes[top].dual;
	/* the blossoms around a, of which the innermost around b and up count */
	if (m->marked != edge->a) {
		m->marked = edge->a;
		m->n_marks++;
		for (b = edge->a; b != NONE; b = nodes[b].parent)
			nodes[b].mark = m->n_marks;
	}
	for (b = edge->b; nodes[b].mark != m->n_marks; b = nodes[b].parent)
		;
	for (; b != NONE; b = nodes[b].parent)
		slack += nodes[b].dual;
	return slack;
}

/*
 * Use the edges that the duals like best, of those that have less slack than
 * @below at most @few for each vertex. Return: how many, or -ENOMEM.
 */
static int64_t matching_price(struct matching *m, unsigned int few, int64_t below)
{
	struct event *heaps = calloc((size_t)m->n * few, sizeof(*heaps));
	unsigned int *count = calloc(m->n, sizeof(*count)), i;
	int64_t added = 0;
	uint32_t k, v;

	if (!heaps || !count) {
		free(heaps);
		free(count);
		return -ENOMEM;
	}
	m->marked = NONE;
	for (k = 0; k < m->n_edges; k++) {
		struct event event = { .id = k };
		const uint32_t ends[] = { m->edges[k].a, m->edges[k].b };

		if (m->used[k] || m->edges[k].weight <= 0)
			continue;
		event.key = -matching_slack(m, k);
		if (event.key <= -below)
			continue;
		for (i = 0; i < 2; i++) {
			struct event *heap = &heaps[(size_t)ends[i] * few];

			if (count[ends[i]] < few)
				matching_rise(heap, count[ends[i]]++, event);
			else if (matching_before(&heap[0], &event))
				matching_sink(heap, few, event);
		}
	}
	for (v = 0; v < m->n; v++) {
		for (i = 0; i < count[v]; i++) {
			k = heaps[(size_t)v * few + i].id;
			added += !m->used[k];
			m->used[k] = true;
		}
	}
	free(heaps);
	free(count);
	m->n_used += added;
	return added;
}

static int matching_index(struct matching *m)
{
	struct arc *arcs = reallocarray(m->arcs, 2 * (size_t)m->n_used + 1, sizeof(*arcs));
	uint32_t k, v;

	if (!arcs)
		return -ENOMEM;
	m->arcs = arcs;
	memset(m->first, 0, (m->n + 1) * sizeof(*m->first));
	for (k = 0; k < m->n_edges; k++) {
		if (!m->used[k])
			continue;
		m->first[m->edges[k].a]++;
		m->first[m->edges[k].b]++;
	}
	for (v = 1; v <= m->n; v++)
		m->first[v] += m->first[v - 1];
	for (k = 0; k < m->n_edges; k++) {
		const struct to_matching_edge *edge = &m->edges[k];

		if (!m->used[k])
			continue;
		arcs[--m->first[edge->a]] = (struct arc){ edge->b, 2 * k + 1, edge->weight };
		arcs[--m->first[edge->b]] = (struct arc){ edge->a, 2 * k, edge->weight };
	}
	return 0;
}

static int matching_init(struct matching *m)
{
	size_t n = m->n;
	uint32_t k, v;

	m->nodes = calloc(2 * n, sizeof(*m->nodes));
	m->used = calloc(m->n_edges + 1, sizeof(*m->used));
	m->top = calloc(5 * n + 1, sizeof(*m->top));
	if (!m->nodes || !m->used || !m->top)
		return -ENOMEM;
	m->unused = m->top + n;
	m->touched = m->unused + n;
	m->first = m->touched + 2 * n;
	for (v = 0; v < 2 * n; v++) {
		struct node *node = &m->nodes[v];

		node->reach = NEVER;
		node->base = v < n ? v : NONE;
		node->parent = NONE;
		if (v < n)
			m->top[v] = v;
		else
			m->unused[m->n_unused++] = v;
	}
	memset(m->mate, 0xff, n * sizeof(*m->mate));
	for (k = 0; k < m->n_edges; k++) {
		const struct to_matching_edge *edge = &m->edges[k];
		int64_t *a = &m->nodes[edge->a].dual, *b = &m->nodes[edge->b].dual;

		if (edge->weight > TO_MATCHING_WEIGHT_MAX)
			return -ERANGE;
		if (edge->weight > *a)
			*a = edge->weight;
		if (edge->weight > *b)
			*b = edge->weight;
	}
	return 0;
}

/*
 * Few edges of a dense graph matter: solve with these, add edges that the duals
 * show to be missed, and start again from these duals until none is (Cook and
 * Rohe, "Computing Minimum-Weight Perfect Matchings", INFORMS J. Comput. 11(2),
 * 1999).
 */
int to_matching_solve(unsigned int n, const struct to_matching_edge *edges,
		      unsigned int n_edges, uint32_t *mate)
{
	struct matching m = { .n = n, .n_edges = n_edges, .edges = edges, .mate = mate };
	unsigned int few = MATCHING_FEW;
	int64_t below = NEVER, added;
	int ret;
	uint32_t v;

	if (!n)
		return 0;
	ret = matching_init(&m);
	while (!ret) {
		added = matching_price(&m, few, below);
		if (added <= 0) {
			ret = added;
			break;
		}
		ret = matching_index(&m);
		if (ret)
			break;
		matching_dissolve(&m);
		matching_prime(&m);
		for (v = 0; v < n && !m.error; v++)
			if (mate[v] == NONE && m.nodes[v].dual)
				matching_search(&m, v);
		ret = m.error;
		few *= 2;
		below = 0;
	}
	for (v = 0; !ret && v < n; v++)
		if (mate[v] != NONE)
			mate[v] = matching_vertex(&m, mate[v]);
	free(m.events.heap);
	free(m.arcs);
	free(m.nodes);
	free(m.used);
	free(m.top);
	return ret;
}
