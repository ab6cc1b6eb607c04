// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/kautz.h"

uint32_t to_kautz_head(unsigned int n, unsigned int k, uint32_t i, unsigned int j)
{
	return (n - ((uint64_t)k * i + j) % n) % n;
}

static bool kautz_arc(const struct to_graph *g, uint32_t from, uint32_t to)
{
	uint32_t a;

	for (a = g->out[from]; a < g->out[from + 1] && g->to[a] != to; a++)
		;
	return from == to || a < g->out[from + 1];
}

bool to_kautz_within(const struct to_graph *g)
{
	unsigned int most = 0, k, j, d;
	uint32_t i;

	if (g->n_arcs >= (uint64_t)g->n * (g->n - 1) / 2)
		return false;
	for (i = 0; i < g->n; i++) {
		d = g->out[i + 1] - g->out[i];
		most = d > most ? d : most;
	}
	for (k = most; k >= 2; k--) {
		unsigned int missing = 0, allowed = g->n * k / 6;

		for (i = 0; missing <= allowed && i < g->n; i++)
			for (j = 1; j <= k; j++)
				missing += !kautz_arc(g, i, to_kautz_head(g->n, k, i, j));
		if (missing <= allowed)
			return true;
	}
	return false;
}
