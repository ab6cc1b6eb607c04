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
	m->arcs = calloc((size_t)n_arcs + 1, sizeof(*m->arcs));
	m->kept = calloc((TO_MAXMIN_KEPT + 1) * (size_t)n_arcs + 1, sizeof(*m->kept));
	m->order = calloc(2 * (size_t)n_arcs + 1, sizeof(*m->order));
	m->heap = calloc((size_t)n_arcs + 1, sizeof(*m->heap));
	if (!m->arcs || !m->kept || !m->order || !m->heap) {
		to_maxmin_free(m);
		return -ENOMEM;
	}
	m->now = m->kept + TO_MAXMIN_KEPT * (size_t)n_arcs;
	m->changed = m->order + n_arcs;
	to_maxmin_clear(m);
	return 0;
}

void to_maxmin_free(struct to_maxmin *m)
{
	for (uint32_t a = 0; m->arcs && a < m->n_arcs; a++) {
		free(m->arcs[a].loads);
		free(m->arcs[a].crossing);
	}
	free(m->arcs);
	free(m->kept);
	free(m->order);
	free(m->heap);
	free(m->flows);
	free(m->added);
	free(m->unused);
	free(m->moved);
	memset(m, 0, sizeof(*m));
}

void to_maxmin_clear(struct to_maxmin *m)
{
	for (uint32_t a = 0; a < m->n_arcs; a++) {
		struct to_maxmin_arc *arc = &m->arcs[a];

		arc->settled = false;
		arc->rate = 0;
		arc->n = arc->n_loads = arc->n_crossing = 0;
		m->kept[a] = (struct to_maxmin_left){ 0 };
	}
	m->arcs[m->n_arcs].rate = INFINITY;
	m->n_flows = m->n_changed = m->n_moved = m->n_order = m->n_added = m->n_unused = 0;
	m->kept_at[0] = 0;
	m->n_kept = 1;
	m->level = INFINITY;
}

/* Room for one flow more, in all arrays that have an entry for each. */
static int maxmin_grow(struct to_maxmin *m)
{
	const size_t max = 2 * (size_t)m->max_flows + 64;
	struct to_maxmin_move *moved;
	struct to_flow *flows;
	uint32_t *grown;

	if (m->n_flows < m->max_flows)
		return 0;
	flows = realloc(m->flows, max * sizeof(*flows));
	if (!flows)
		return -ENOMEM;
	m->flows = flows;
	moved = realloc(m->moved, max * sizeof(*moved));
	if (!moved)
		return -ENOMEM;
	m->moved = moved;
	grown = realloc(m->added, max * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	m->added = grown;
	grown = realloc(m->unused, max * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	m->unused = grown;
	m->max_flows = max;
	return 0;
}

/* Let the flow cross the arc of @share, or be the last to know that it does no more. */
static int maxmin_cross(struct to_maxmin *m, uint32_t flow, uint32_t share)
{
	struct to_share *s = &m->shares[m->flows[flow].first + share];
	struct to_maxmin_arc *arc = &m->arcs[s->arc];
	struct to_maxmin_crossing *grown;

	if (arc->n_crossing == arc->max_crossing) {
		grown = realloc(arc->crossing, (2 * (size_t)arc->max_crossing + 8) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		arc->crossing = grown;
		arc->max_crossing = 2 * arc->max_crossing + 8;
	}
	s->place = arc->n_crossing;
	arc->crossing[arc->n_crossing++] = (struct to_maxmin_crossing){ flow, share };
	return 0;
}

static void maxmin_uncross(struct to_maxmin *m, const struct to_share *s)
{
	struct to_maxmin_arc *arc = &m->arcs[s->arc];
	const struct to_maxmin_crossing last = arc->crossing[--arc->n_crossing];

	arc->crossing[s->place] = last;
	m->shares[m->flows[last.flow].first + last.share].place = s->place;
}

uint32_t to_maxmin_add(struct to_maxmin *m, size_t first, uint32_t n)
{
	uint32_t index = m->n_flows;

	if (m->n_unused)
		index = m->unused[--m->n_unused];
	else if (maxmin_grow(m))
		return UINT32_MAX;
	else
		m->n_flows++;
	m->flows[index] = (struct to_flow){ .first = first, .n = n,
					    .arc = n ? TO_MAXMIN_NONE : m->n_arcs };
	for (uint32_t i = 0; i < n; i++)
		if (maxmin_cross(m, index, i))
			return UINT32_MAX;
	return to_maxmin_join(m, index) ? UINT32_MAX : index;
}

/* Flows of @flow that come or go, where it is not settled. */
static void maxmin_count(struct to_maxmin *m, const struct to_flow *flow, int flows, int weight)
{
	for (unsigned int k = 0; k < m->n_kept; k++) {
		struct to_maxmin_left *kept = m->kept + k * (size_t)m->n_arcs;

		for (uint32_t i = 0; i < flow->n; i++) {
			const struct to_share *share = &m->shares[flow->first + i];
			struct to_maxmin_left *left = &kept[share->arc];

			left->growing += flows;
			/* whatever rounding left of it */
			left->growth = left->growing ? left->growth + weight * share->bytes : 0;
		}
	}
}

/* Where the load of @a is among those of @arc, or would be. */
static uint32_t maxmin_find(const struct to_maxmin_arc *arc, uint32_t a)
{
	uint32_t low = 0, high = arc->n_loads;

	while (low < high) {
		const uint32_t mid = low + (high - low) / 2;

		if (arc->loads[mid].arc < a)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The load of @a for which @arc has none, at @at. */
static int maxmin_insert(struct to_maxmin_arc *arc, uint32_t at, uint32_t a)
{
	struct to_maxmin_load *grown;

	if (arc->n_loads == arc->max_loads) {
		grown = realloc(arc->loads, (2 * (size_t)arc->max_loads + 8) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		arc->loads = grown;
		arc->max_loads = 2 * arc->max_loads + 8;
	}
	memmove(&arc->loads[at + 1], &arc->loads[at], (arc->n_loads - at) * sizeof(*arc->loads));
	arc->loads[at] = (struct to_maxmin_load){ .arc = a };
	arc->n_loads++;
	return 0;
}

/* Flows of @flow come to its bottleneck, or go from it. */
static int maxmin_load(struct to_maxmin *m, const struct to_flow *flow, int flows, int weight)
{
	struct to_maxmin_arc *arc = &m->arcs[flow->arc];

	arc->n += flows;
	for (uint32_t i = 0; i < flow->n; i++) {
		const struct to_share *share = &m->shares[flow->first + i];
		const uint32_t at = maxmin_find(arc, share->arc);
		struct to_maxmin_load *load;

		if ((at == arc->n_loads || arc->loads[at].arc != share->arc) &&
		    maxmin_insert(arc, at, share->arc))
			return -ENOMEM;
		load = &arc->loads[at];
		load->n += flows;
		load->bytes += weight * share->bytes;
		if (load->n)
			continue;
		arc->n_loads--;
		memmove(load, load + 1, (arc->n_loads - at) * sizeof(*load));
	}
	return 0;
}

int to_maxmin_join(struct to_maxmin *m, uint32_t index)
{
	struct to_flow *flow = &m->flows[index];

	maxmin_count(m, flow, !flow->weight, 1);
	flow->weight++;
	if (!flow->n)
		return 0;
	if (!flow->came)
		m->added[m->n_added++] = index;
	flow->came = true;
	return flow->arc == TO_MAXMIN_NONE ? 0 : maxmin_load(m, flow, 0, 1);
}

void to_maxmin_remove(struct to_maxmin *m, uint32_t index)
{
	struct to_flow *flow = &m->flows[index];
	const int last = flow->weight == 1;

	maxmin_count(m, flow, -last, -1);
	if (flow->arc < m->n_arcs) {
		m->level = fmin(m->level, m->arcs[flow->arc].rate);
		/* less never needs memory */
		(void)maxmin_load(m, flow, -last, -1);
	}
	flow->weight--;
	if (!last)
		return;
	for (uint32_t i = 0; i < flow->n; i++)
		maxmin_uncross(m, &m->shares[flow->first + i]);
	/* those that have come are unused once they are no more among them */
	if (!flow->came)
		m->unused[m->n_unused++] = index;
}

/*
 * The rate that an arc of a new flow might be full at, if all on it were as fast; forget
 * which are new.
 */
static double maxmin_least(struct to_maxmin *m)
{
	double level = m->level;

	for (uint32_t i = 0; i < m->n_added; i++) {
		struct to_flow *flow = &m->flows[m->added[i]];

		flow->came = false;
		if (!flow->weight)
			m->unused[m->n_unused++] = m->added[i];
		for (uint32_t k = 0; flow->weight && k < flow->n; k++) {
			const uint32_t a = m->shares[flow->first + k].arc;

			if (m->capacity[a] < level * m->kept[a].growth)
				level = m->capacity[a] / m->kept[a].growth;
		}
	}
	m->n_added = 0;
	m->level = INFINITY;
	return level * (1 - MAXMIN_SAME);
}

/* Move the arc at @at of the heap down to where it belongs, by its level. */
static void maxmin_sift(struct to_maxmin *m, uint32_t at)
{
	struct to_maxmin_full *heap = m->heap;
	const struct to_maxmin_full arc = heap[at];
	uint32_t child;

	for (; (child = 2 * at + 1) < m->n_heap; at = child) {
		child += child + 1 < m->n_heap && heap[child + 1].level < heap[child].level;
		if (heap[child].level >= arc.level)
			break;
		heap[at] = heap[child];
	}
	heap[at] = arc;
}

/* At which rate of its growing flows the arc is full. */
static double maxmin_level(const struct to_maxmin_left *now)
{
	return now->left > 0 ? now->left / now->growth : 0;
}

/*
 * Back to where filling was when no flow slower than @level was without a rate: to what is
 * kept of it. Those that are kept lie some @stride arcs apart.
 */
static void maxmin_rewind(struct to_maxmin *m, double level, uint32_t stride)
{
	uint32_t at;

	for (; m->n_kept > 1; m->n_kept--) {
		at = m->kept_at[m->n_kept - 1];
		if (m->arcs[m->order[at - 1]].rate < level && 2 * at >= (m->n_kept - 1) * stride)
			break;
	}
	at = m->kept_at[m->n_kept - 1];
	while (m->n_order > at)
		m->arcs[m->order[--m->n_order]].settled = false;
	memcpy(m->now, m->kept + (m->n_kept - 1) * (size_t)m->n_arcs, m->n_arcs * sizeof(*m->now));
	m->n_heap = 0;
	for (uint32_t a = 0; a < m->n_arcs; a++) {
		if (!at)
			m->now[a].left = m->capacity[a];
		if (m->arcs[a].settled || !m->now[a].growing)
			continue;
		m->heap[m->n_heap++] = (struct to_maxmin_full){ maxmin_level(&m->now[a]), a };
	}
	for (uint32_t i = m->n_heap / 2; i-- > 0;)
		maxmin_sift(m, i);
}

/* Flows that another arc would stop later have their bottleneck at @a. */
static int maxmin_take(struct to_maxmin *m, uint32_t a)
{
	struct to_maxmin_arc *arc = &m->arcs[a];

	for (uint32_t i = 0; arc->n < m->now[a].growing; i++) {
		struct to_flow *flow = &m->flows[arc->crossing[i].flow];
		const uint32_t from = flow->arc;

		if (from == a || (from != TO_MAXMIN_NONE && m->arcs[from].settled))
			continue;
		m->moved[m->n_moved++] = (struct to_maxmin_move){ arc->crossing[i].flow, from };
		if (from != TO_MAXMIN_NONE)
			(void)maxmin_load(m, flow, -1, -(int)flow->weight);
		flow->arc = a;
		if (maxmin_load(m, flow, 1, flow->weight))
			return -ENOMEM;
	}
	return 0;
}

/* All flows whose bottleneck is @a go at @rate. */
static void maxmin_settle(struct to_maxmin *m, uint32_t a, double rate)
{
	struct to_maxmin_arc *arc = &m->arcs[a];

	for (uint32_t i = 0; i < arc->n_loads; i++) {
		const struct to_maxmin_load *load = &arc->loads[i];
		struct to_maxmin_left *now = &m->now[load->arc];

		now->left -= rate * load->bytes;
		now->growth -= load->bytes;
		now->growing -= load->n;
	}
	arc->settled = true;
	m->order[m->n_order++] = a;
	if (rate != arc->rate)
		m->changed[m->n_changed++] = a;
	arc->rate = rate;
}

/* Keep how it is now, so that filling can go on from here. */
static void maxmin_keep(struct to_maxmin *m)
{
	m->kept_at[m->n_kept] = m->n_order;
	memcpy(m->kept + m->n_kept * (size_t)m->n_arcs, m->now, m->n_arcs * sizeof(*m->now));
	m->n_kept++;
}

int to_maxmin_solve(struct to_maxmin *m)
{
	const uint32_t stride = m->n_order / (TO_MAXMIN_KEPT - 1) + 1;
	double rate;

	m->n_changed = m->n_moved = 0;
	maxmin_rewind(m, maxmin_least(m), stride);
	rate = m->n_order ? m->arcs[m->order[m->n_order - 1]].rate : 0;
	while (m->n_heap) {
		const uint32_t a = m->heap[0].arc;
		const double level = m->now[a].growing ? maxmin_level(&m->now[a]) : INFINITY;

		/* levels in the heap are those of before flows settled, which only raises them */
		if (m->now[a].growing && level > m->heap[0].level) {
			m->heap[0].level = level;
			maxmin_sift(m, 0);
			continue;
		}
		if (m->now[a].growing) {
			if (maxmin_take(m, a))
				return -ENOMEM;
			/* nor are they slower by rounding */
			rate = fmax(rate, m->heap[0].level);
			maxmin_settle(m, a, rate);
			if (m->n_kept < TO_MAXMIN_KEPT &&
			    m->n_order >= m->kept_at[m->n_kept - 1] + stride)
				maxmin_keep(m);
		}
		m->heap[0] = m->heap[--m->n_heap];
		maxmin_sift(m, 0);
	}
	return 0;
}
