// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/maxmin.h"

/* Arcs that fill up within this fraction of each other's time fill up together. */
#define MAXMIN_TOGETHER 1e-12

int to_maxmin_init(struct to_maxmin *m, const double *capacity, uint32_t n_arcs)
{
	memset(m, 0, sizeof(*m));
	m->n_arcs = n_arcs;
	m->capacity = capacity;
	m->left = calloc(2 * (size_t)n_arcs + 1, sizeof(*m->left));
	m->used = calloc(4 * (size_t)n_arcs + 1, sizeof(*m->used));
	if (!m->left || !m->used) {
		to_maxmin_free(m);
		return -ENOMEM;
	}
	m->growth = m->left + n_arcs;
	m->open = m->used + n_arcs;
	m->crossing = m->open + n_arcs;
	m->first = m->crossing + n_arcs;
	return 0;
}

void to_maxmin_free(struct to_maxmin *m)
{
	free(m->left);
	free(m->used);
	free(m->flows);
	memset(m, 0, sizeof(*m));
}

/* The flows that cross arc a: flows[first[a]] up to flows[first[a] + crossing[a] - 1]. */
static int maxmin_index(struct to_maxmin *m, const struct to_flow *flows, uint32_t n_flows)
{
	uint32_t total = 0, f, i, *grown;

	for (i = 0; i < m->n_used; i++)
		m->crossing[m->used[i]] = 0;
	m->n_used = 0;
	memset(m->first, 0, m->n_arcs * sizeof(*m->first));
	for (f = 0; f < n_flows; f++) {
		total += flows[f].n_shares;
		for (i = 0; i < flows[f].n_shares; i++)
			if (!m->first[flows[f].shares[i].arc]++)
				m->used[m->n_used++] = flows[f].shares[i].arc;
	}
	if (total > m->max_flows) {
		grown = realloc(m->flows, total * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		m->flows = grown;
		m->max_flows = total;
	}
	for (i = 0, total = 0; i < m->n_used; i++) {
		uint32_t a = m->used[i], n = m->first[a];

		m->first[a] = total;
		m->crossing[a] = 0;
		m->left[a] = m->capacity[a];
		m->growth[a] = 0;
		total += n;
	}
	for (f = 0; f < n_flows; f++) {
		for (i = 0; i < flows[f].n_shares; i++) {
			const struct to_share *share = &flows[f].shares[i];
			uint32_t a = share->arc;

			m->flows[m->first[a] + m->crossing[a]++] = f;
			m->growth[a] += flows[f].weight * share->bytes;
		}
	}
	return 0;
}

/* @flow grows no more; crossing counts only flows that do. */
static void maxmin_settle(struct to_maxmin *m, struct to_flow *flow, double rate)
{
	uint32_t i;

	flow->rate = rate;
	for (i = 0; i < flow->n_shares; i++) {
		uint32_t a = flow->shares[i].arc;

		m->growth[a] -= flow->weight * flow->shares[i].bytes;
		/* whatever rounding left of it */
		if (!--m->crossing[a])
			m->growth[a] = 0;
	}
}

int to_maxmin_fill(struct to_maxmin *m, struct to_flow *flows, uint32_t n_flows)
{
	uint32_t n_open, i, k, f, a;
	double rate = 0;

	if (maxmin_index(m, flows, n_flows))
		return -ENOMEM;
	for (f = 0; f < n_flows; f++)
		flows[f].rate = flows[f].n_shares ? -1 : INFINITY;
	n_open = m->n_used;
	memcpy(m->open, m->used, n_open * sizeof(*m->open));
	while (n_open) {
		double step = INFINITY;

		for (i = 0, k = 0; i < n_open; i++) {
			a = m->open[i];
			if (!m->crossing[a])
				continue;
			m->open[k++] = a;
			if (m->left[a] < step * m->growth[a])
				step = m->left[a] / m->growth[a];
		}
		n_open = k;
		if (!n_open)
			break;
		rate += step;
		for (i = 0; i < n_open; i++)
			m->left[m->open[i]] -= step * m->growth[m->open[i]];
		for (i = 0; i < n_open; i++) {
			a = m->open[i];
			if (m->left[a] > MAXMIN_TOGETHER * m->capacity[a])
				continue;
			m->left[a] = 0;
			/* crossing[] shrinks under way: all flows are at or behind its first */
			for (k = m->first[a]; m->crossing[a]; k++)
				if (flows[m->flows[k]].rate < 0)
					maxmin_settle(m, &flows[m->flows[k]], rate);
		}
	}
	return 0;
}
