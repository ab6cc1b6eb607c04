// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/maxmin.h"

/* Rates that differ by this fraction do not differ. */
#define MAXMIN_SAME 1e-12

int to_maxmin_init(struct to_maxmin *m, const double *capacity, uint32_t n_arcs)
{
	memset(m, 0, sizeof(*m));
	m->n_arcs = n_arcs;
	m->capacity = capacity;
	m->arcs = calloc(n_arcs + 1, sizeof(*m->arcs));
	m->touched = calloc(2 * (size_t)n_arcs + 1, sizeof(*m->touched));
	if (!m->arcs || !m->touched) {
		to_maxmin_free(m);
		return -ENOMEM;
	}
	m->heap = m->touched + n_arcs;
	to_maxmin_clear(m);
	return 0;
}

void to_maxmin_free(struct to_maxmin *m)
{
	free(m->arcs);
	free(m->touched);
	free(m->flows);
	free(m->changed);
	free(m->order);
	free(m->added);
	free(m->removed);
	free(m->unused);
	free(m->open);
	free(m->crossing);
	memset(m, 0, sizeof(*m));
}

void to_maxmin_clear(struct to_maxmin *m)
{
	memset(m->arcs, 0, m->n_arcs * sizeof(*m->arcs));
	m->n_flows = m->n_changed = m->n_order = m->n_added = m->n_removed = m->n_unused = 0;
	m->level = INFINITY;
}

/* Room for one flow more, in all arrays that have an entry for each. */
static int maxmin_grow(struct to_maxmin *m)
{
	uint32_t **const arrays[] = { &m->changed, &m->order, &m->added, &m->removed, &m->unused,
				      &m->open };
	const size_t max = 2 * (size_t)m->max_flows + 64;
	struct to_flow *flows;
	uint32_t *grown;

	if (m->n_flows < m->max_flows)
		return 0;
	flows = realloc(m->flows, max * sizeof(*flows));
	if (!flows)
		return -ENOMEM;
	m->flows = flows;
	for (unsigned int i = 0; i < sizeof(arrays) / sizeof(*arrays); i++) {
		grown = realloc(*arrays[i], max * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		*arrays[i] = grown;
	}
	m->max_flows = max;
	return 0;
}

uint32_t to_maxmin_add(struct to_maxmin *m, size_t first, uint32_t n)
{
	uint32_t index = m->n_flows, i;

	if (m->n_unused)
		index = m->unused[--m->n_unused];
	else if (maxmin_grow(m))
		return UINT32_MAX;
	else
		m->n_flows++;
	m->flows[index] = (struct to_flow){ .first = first, .n = n, .rate = n ? 0 : INFINITY };
	for (i = 0; i < n; i++) {
		const uint32_t a = m->shares[first + i].arc;

		if (!m->arcs[a].n++)
			m->arcs[a].left = m->capacity[a];
	}
	to_maxmin_join(m, index);
	return index;
}

void to_maxmin_join(struct to_maxmin *m, uint32_t index)
{
	struct to_flow *flow = &m->flows[index];

	flow->weight++;
	for (uint32_t i = 0; i < flow->n; i++) {
		const struct to_share *share = &m->shares[flow->first + i];
		struct to_maxmin_arc *arc = &m->arcs[share->arc];

		arc->left -= flow->rate * share->bytes;
		arc->bytes += share->bytes;
	}
	if (flow->n && !flow->came)
		m->added[m->n_added++] = index;
	flow->came = true;
}

void to_maxmin_remove(struct to_maxmin *m, uint32_t index)
{
	struct to_flow *flow = &m->flows[index];

	flow->weight--;
	for (uint32_t i = 0; i < flow->n; i++) {
		const struct to_share *share = &m->shares[flow->first + i];
		struct to_maxmin_arc *arc = &m->arcs[share->arc];

		arc->left += flow->rate * share->bytes;
		arc->bytes -= share->bytes;
		/* whatever rounding left of it */
		if (!flow->weight && !--arc->n)
			arc->bytes = 0;
	}
	if (flow->rate < m->level)
		m->level = flow->rate;
	if (!flow->weight)
		m->removed[m->n_removed++] = index;
}

/* The rate that an arc of a new flow might be full at, if all on it were as fast. */
static double maxmin_least(const struct to_maxmin *m)
{
	double level = m->level;

	for (uint32_t i = 0; i < m->n_added; i++) {
		const struct to_flow *flow = &m->flows[m->added[i]];

		for (uint32_t k = 0; flow->weight && k < flow->n; k++) {
			const uint32_t a = m->shares[flow->first + k].arc;

			if (m->capacity[a] < level * m->arcs[a].bytes)
				level = m->capacity[a] / m->arcs[a].bytes;
		}
	}
	return level * (1 - MAXMIN_SAME);
}

/* Flows of the order that are slower than @level. */
static uint32_t maxmin_slower(const struct to_maxmin *m, double level)
{
	uint32_t low = 0, high = m->n_order;

	while (low < high) {
		const uint32_t mid = low + (high - low) / 2;

		if (m->flows[m->order[mid]].rate < level)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The rate of @index will grow from 0. Returns how many shares it has. */
static uint32_t maxmin_open(struct to_maxmin *m, uint32_t index, bool afresh, uint32_t *n_touched)
{
	struct to_flow *flow = &m->flows[index];

	for (uint32_t i = 0; i < flow->n; i++) {
		const struct to_share *share = &m->shares[flow->first + i];
		struct to_maxmin_arc *arc = &m->arcs[share->arc];

		if (!arc->touched) {
			m->touched[(*n_touched)++] = share->arc;
			arc->touched = true;
			arc->growth = 0;
			arc->growing = 0;
			/* what rounding has done to it */
			if (afresh)
				arc->left = m->capacity[share->arc];
		}
		if (!afresh)
			arc->left += flow->weight * flow->rate * share->bytes;
		arc->growth += flow->weight * share->bytes;
		arc->growing++;
	}
	flow->before = flow->rate;
	flow->rate = -1;
	return flow->n;
}

/* The open flows of each touched arc. */
static int maxmin_index(struct to_maxmin *m, uint32_t n_open, uint32_t n_touched, size_t n_shares)
{
	uint32_t at = 0, i, k;

	if (n_shares > m->max_crossing) {
		free(m->crossing);
		m->max_crossing = n_shares + n_shares / 2;
		m->crossing = calloc(m->max_crossing, sizeof(*m->crossing));
		if (!m->crossing) {
			m->max_crossing = 0;
			return -ENOMEM;
		}
	}
	for (i = 0; i < n_touched; i++) {
		struct to_maxmin_arc *arc = &m->arcs[m->touched[i]];

		arc->touched = false;
		arc->first = at;
		at += arc->growing;
		arc->growing = 0;
	}
	for (i = 0; i < n_open; i++) {
		const struct to_flow *flow = &m->flows[m->open[i]];

		for (k = 0; k < flow->n; k++) {
			struct to_maxmin_arc *arc = &m->arcs[m->shares[flow->first + k].arc];

			m->crossing[arc->first + arc->growing++] = m->open[i];
		}
	}
	return 0;
}

/* At which rate of its growing flows the arc is full. */
static double maxmin_level(const struct to_maxmin_arc *arc)
{
	return arc->left > 0 ? arc->left / arc->growth : 0;
}

/* Move the arc at @at of the heap down to where it belongs, by its level. */
static void maxmin_sift(struct to_maxmin *m, uint32_t at)
{
	uint32_t *heap = m->heap, arc = heap[at], child;

	for (; (child = 2 * at + 1) < m->n_heap; at = child) {
		if (child + 1 < m->n_heap &&
		    m->arcs[heap[child + 1]].level < m->arcs[heap[child]].level)
			child++;
		if (m->arcs[heap[child]].level >= m->arcs[arc].level)
			break;
		heap[at] = heap[child];
	}
	heap[at] = arc;
}

static void maxmin_settle(struct to_maxmin *m, uint32_t index, double rate)
{
	struct to_flow *flow = &m->flows[index];

	flow->rate = rate;
	for (uint32_t i = 0; i < flow->n; i++) {
		const struct to_share *share = &m->shares[flow->first + i];
		struct to_maxmin_arc *arc = &m->arcs[share->arc];

		arc->left -= flow->weight * rate * share->bytes;
		arc->growth -= flow->weight * share->bytes;
		arc->growing--;
	}
	m->order[m->n_order++] = index;
	if (rate != flow->before)
		m->changed[m->n_changed++] = index;
}

/*
 * Fill the touched arcs, the next one to be full first. Levels in the heap are those of
 * before flows settled, which only raises them.
 */
static void maxmin_fill(struct to_maxmin *m, uint32_t n_touched)
{
	double level;
	uint32_t i;

	m->n_heap = n_touched;
	for (i = 0; i < n_touched; i++) {
		m->heap[i] = m->touched[i];
		m->arcs[m->heap[i]].level = maxmin_level(&m->arcs[m->heap[i]]);
	}
	for (i = n_touched / 2; i-- > 0;)
		maxmin_sift(m, i);
	while (m->n_heap) {
		struct to_maxmin_arc *arc = &m->arcs[m->heap[0]];

		level = arc->growing ? maxmin_level(arc) : INFINITY;
		if (arc->growing && level > arc->level) {
			arc->level = level;
			maxmin_sift(m, 0);
			continue;
		}
		/* growing shrinks under way: all flows are at or behind the first */
		for (i = arc->first, level = arc->level; arc->growing; i++)
			if (m->flows[m->crossing[i]].rate < 0)
				maxmin_settle(m, m->crossing[i], level);
		m->heap[0] = m->heap[--m->n_heap];
		maxmin_sift(m, 0);
	}
}

int to_maxmin_solve(struct to_maxmin *m)
{
	const uint32_t slower = maxmin_slower(m, maxmin_least(m));
	uint32_t n_open = 0, n_touched = 0, i;
	size_t n_shares = 0;

	for (i = slower; i < m->n_order; i++)
		if (m->flows[m->order[i]].weight)
			m->open[n_open++] = m->order[i];
	for (i = 0; i < m->n_added; i++) {
		struct to_flow *flow = &m->flows[m->added[i]];

		flow->came = false;
		/* others are in the order */
		if (flow->weight && !flow->rate)
			m->open[n_open++] = m->added[i];
	}
	for (i = 0; i < n_open; i++)
		n_shares += maxmin_open(m, m->open[i], !slower, &n_touched);
	m->n_order = slower;
	m->n_changed = m->n_added = 0;
	m->level = INFINITY;
	while (m->n_removed)
		m->unused[m->n_unused++] = m->removed[--m->n_removed];
	if (maxmin_index(m, n_open, n_touched, n_shares))
		return -ENOMEM;
	maxmin_fill(m, n_touched);
	return 0;
}
