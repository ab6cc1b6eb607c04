// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "routing/ingress.h"

unsigned int to_ingress_ports(const struct to_graph *g, uint32_t x, unsigned int *port)
{
	unsigned int n = 0, k;
	uint32_t i;

	for (i = g->in[x]; i < g->in[x + 1]; i++) {
		for (k = 0; k < n && port[k] != g->peer_port[g->in_arc[i]]; k++)
			;
		if (k == n)
			port[n++] = g->peer_port[g->in_arc[i]];
	}
	return n;
}

int to_ingress_init(struct to_ingress *e, const struct to_wcmp *wcmp)
{
	const struct to_graph *g = wcmp->graph;
	unsigned int most = 0;
	uint32_t x;

	memset(e, 0, sizeof(*e));
	e->wcmp = wcmp;
	for (x = 0; x < g->n; x++)
		if (g->in[x + 1] - g->in[x] > most)
			most = g->in[x + 1] - g->in[x];
	e->share = calloc((size_t)g->n * most + 1, sizeof(*e->share));
	e->bytes = calloc(g->n, sizeof(*e->bytes));
	e->weight = calloc(g->n_arcs + 1, sizeof(*e->weight));
	if (e->share && e->bytes && e->weight)
		return 0;
	to_ingress_free(e);
	return -ENOMEM;
}

void to_ingress_free(struct to_ingress *e)
{
	free(e->share);
	free(e->bytes);
	free(e->weight);
	memset(e, 0, sizeof(*e));
}

void to_ingress_resolve(struct to_ingress *e, unsigned int row)
{
	const struct to_wcmp *s = e->wcmp;
	const struct to_graph *g = s->graph;
	uint32_t root = s->root[row], x, a;
	const uint32_t *order = s->order + (size_t)row * g->n;
	const uint8_t *weight = s->weight + (size_t)row * g->n_arcs;
	const float *flow = s->flow + (size_t)row * g->n_arcs;
	unsigned int i, k;

	e->row = row;
	e->n_in = to_ingress_ports(g, root, e->port);
	memset(e->share, 0, (size_t)g->n * e->n_in * sizeof(*e->share));
	memset(e->bytes, 0, g->n * sizeof(*e->bytes));
	for (i = 1; i < s->n_reached[row]; i++) {
		double *share, weights = 0;

		x = order[i];
		share = e->share + (size_t)x * e->n_in;
		for (a = g->out[x]; a < g->out[x + 1]; a++) {
			const double *onward = e->share + (size_t)g->to[a] * e->n_in;

			weights += weight[a];
			e->bytes[x] += flow[a];
			for (k = 0; weight[a] && k < e->n_in; k++)
				share[k] += weight[a] * (g->to[a] != root ? onward[k] :
							 g->peer_port[a] == e->port[k]);
		}
		for (k = 0; weights > 0 && k < e->n_in; k++)
			share[k] /= weights;
	}
}

/* Next hops of @x for arc number @k, and the bytes that go there. */
static void ingress_weigh(struct to_ingress *e, uint32_t x, unsigned int k)
{
	const struct to_wcmp *s = e->wcmp;
	const struct to_graph *g = s->graph;
	const uint8_t *weight = s->weight + (size_t)e->row * g->n_arcs;
	double bytes = e->bytes[x] * e->share[(size_t)x * e->n_in + k], all = 0, slowest = 0;
	double share[TO_WCMP_NEXT_HOPS];
	uint32_t arc[TO_WCMP_NEXT_HOPS], a;
	unsigned int n = 0, i, part[TO_WCMP_NEXT_HOPS];

	for (a = g->out[x]; a < g->out[x + 1]; a++) {
		if (!weight[a] || g->to[a] == s->root[e->row])
			continue;
		share[n] = weight[a] * e->share[(size_t)g->to[a] * e->n_in + k];
		all += share[n];
		arc[n] = a;
		n += share[n] > 0;
		slowest = fmax(slowest, s->seconds_per_byte[a]);
	}
	for (i = 0; i < n; i++)
		share[i] /= all;
	if (!n)
		return;
	to_wcmp_apportion(s, share, n, bytes * slowest, part);
	for (i = 0; i < n; i++)
		e->weight[arc[i]] = part[i];
}

void to_ingress_take(struct to_ingress *e, unsigned int k)
{
	const struct to_wcmp *s = e->wcmp;
	const struct to_graph *g = s->graph;
	const uint32_t *order = s->order + (size_t)e->row * g->n;
	unsigned int i;
	uint32_t a, in;

	memset(e->weight, 0, g->n_arcs * sizeof(*e->weight));
	for (i = 1; i < s->n_reached[e->row]; i++)
		if (e->share[(size_t)order[i] * e->n_in + k] > 0)
			ingress_weigh(e, order[i], k);
	for (in = g->in[order[0]]; in < g->in[order[0] + 1]; in++) {
		uint32_t x = g->in_from[in];

		if (g->peer_port[g->in_arc[in]] != e->port[k])
			continue;
		for (a = g->out[x]; a < g->out[x + 1]; a++)
			e->weight[a] = 0;
	}
}

void to_ingress_divide(const struct to_ingress *e, uint32_t x, unsigned int whole,
		       unsigned int *parts)
{
	const double *share = e->share + (size_t)x * e->n_in;
	unsigned int left = whole, k, most;

	for (k = 0; k < e->n_in; k++) {
		parts[k] = share[k] * whole;
		left -= parts[k];
	}
	for (; left; left--) {
		for (most = 0, k = 1; k < e->n_in; k++)
			if (share[k] * whole - parts[k] > share[most] * whole - parts[most])
				most = k;
		parts[most]++;
	}
}
