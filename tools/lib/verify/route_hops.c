// SPDX-License-Identifier: GPL-2.0-or-later
#include "verify/route_hops.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "data/allreduce.h"

/**
 * struct route_hops - hops that are being added up
 * @routed: bytes of AllReduce that the tables route, n x n
 * @parts: of the address that is resolved
 * @mean: per server, to that address
 * @apart: per server, it has routes of its own to that address
 * @bytes: that the means of MP and AllReduce are of
 */
struct route_hops {
	struct to_forwarding *f;
	struct to_route_hops *to;
	const uint64_t *mp;
	double *routed;
	struct to_part *parts;
	double *mean;
	bool *apart;
	double pairs, ports, mp_bytes, allreduce_bytes;
	struct to_arena arena;
};

/* Mean hops from every server to the address that is resolved. */
static void route_hops_resolve(struct route_hops *r)
{
	const struct to_forwarding *f = r->f;
	unsigned int n = to_forwarding_parts(f, r->parts);

	memset(r->mean, 0, f->graph->n * sizeof(*r->mean));
	/* those next to the destination are last */
	while (n--) {
		const struct to_part *p = &r->parts[n];

		r->mean[p->from] += p->share * (1 + r->mean[f->graph->to[p->arc]]);
	}
}

static void route_hops_add(const struct route_hops *r, struct to_hops *hops, double *sum,
			   uint32_t src, double weight)
{
	const struct to_forwarding *f = r->f;

	if (!(weight > 0))
		return;
	hops->mean += weight * r->mean[src];
	*sum += weight;
	if (f->level[src] > hops->most) {
		hops->most = f->level[src];
		hops->src = src;
		hops->dst = f->dst;
		hops->slot = f->slot;
	}
}

/* What @src sends to the address that is resolved. */
static void route_hops_source(struct route_hops *r, uint32_t src)
{
	size_t pair = (size_t)src * r->f->graph->n + r->f->dst;

	if (r->f->slot)
		return route_hops_add(r, &r->to->ports, &r->ports, src, 1);
	route_hops_add(r, &r->to->all, &r->pairs, src, 1);
	route_hops_add(r, &r->to->mp, &r->mp_bytes, src, r->mp[pair]);
	route_hops_add(r, &r->to->allreduce, &r->allreduce_bytes, src, r->routed[pair]);
}

/* Sources with routes of their own, the first at @at. Return: where the next address begins. */
static unsigned int route_hops_qualified(struct route_hops *r, uint32_t dst, unsigned int slot,
					 unsigned int at)
{
	struct to_forwarding *f = r->f;
	unsigned int first;

	memset(r->apart, 0, f->graph->n * sizeof(*r->apart));
	while (at < f->n_qualified && f->qualified[at].dst == dst && f->qualified[at].slot == slot) {
		uint32_t src = f->qualified[at].src, i;

		for (first = at; at < f->n_qualified && f->qualified[at].dst == dst &&
		     f->qualified[at].slot == slot && f->qualified[at].src == src; at++)
			;
		r->apart[src] = true;
		to_forwarding_resolve(f, dst, slot);
		to_forwarding_qualify(f, first, at);
		route_hops_resolve(r);
		for (i = 1; i < f->n_reached; i++)
			if (f->order[i] == src)
				route_hops_source(r, src);
	}
	return at;
}

/* Hops on links of their own. */
static void route_hops_linked(struct route_hops *r, const double *linked)
{
	const struct to_graph *g = r->f->graph;
	struct to_hops *hops = &r->to->allreduce;
	uint32_t a;

	for (a = 0; a < g->n_arcs; a++) {
		double bytes = linked[a];

		if (!(bytes > 0))
			continue;
		if (!hops->most)
			*hops = (struct to_hops){ 1, hops->mean, g->from[a], g->to[a], 0 };
		hops->mean += bytes;
		r->allreduce_bytes += bytes;
	}
}

static void route_hops_mean(struct to_hops *hops, double sum)
{
	hops->mean = sum > 0 ? hops->mean / sum : 0;
}

int to_route_hops_find(struct to_forwarding *f, struct to_route_hops *hops)
{
	struct to_rings rings = to_allreduce_of(f->plan);
	struct route_hops r = { .f = f, .to = hops, .mp = f->plan->demand->mp };
	unsigned int slots = f->plan->slots, slot, at = 0, i;
	size_t n = f->graph->n;
	double *linked;
	uint32_t dst;

	memset(hops, 0, sizeof(*hops));
	r.routed = to_allreduce_routed(&rings, f->graph);
	r.parts = to_arena_array(&r.arena, f->graph->n_arcs, sizeof(*r.parts));
	r.mean = to_arena_array(&r.arena, n, sizeof(*r.mean));
	r.apart = to_arena_array(&r.arena, n, sizeof(*r.apart));
	linked = to_arena_array(&r.arena, f->graph->n_arcs, sizeof(*linked));
	if (!r.routed || r.arena.failed) {
		free(r.routed);
		to_arena_free(&r.arena);
		return -ENOMEM;
	}
	to_allreduce_link_bytes(&rings, f->graph, linked);
	route_hops_linked(&r, linked);
	for (dst = 0; dst < n; dst++) {
		for (slot = 0; slot < slots; slot++) {
			at = route_hops_qualified(&r, dst, slot, at);
			to_forwarding_resolve(f, dst, slot);
			route_hops_resolve(&r);
			for (i = 1; i < f->n_reached; i++)
				if (!r.apart[f->order[i]])
					route_hops_source(&r, f->order[i]);
		}
	}
	route_hops_mean(&hops->all, r.pairs);
	route_hops_mean(&hops->ports, r.ports);
	route_hops_mean(&hops->mp, r.mp_bytes);
	route_hops_mean(&hops->allreduce, r.allreduce_bytes);
	free(r.routed);
	to_arena_free(&r.arena);
	return 0;
}
