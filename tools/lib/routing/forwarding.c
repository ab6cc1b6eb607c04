// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "routing/forwarding.h"

static int forwarding_compare(const void *a, const void *b)
{
	const struct to_qualified *x = a, *y = b;

	if (x->dst != y->dst)
		return x->dst < y->dst ? -1 : 1;
	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	if (x->src != y->src)
		return x->src < y->src ? -1 : 1;
	return (x->server > y->server) - (x->server < y->server);
}

uint32_t to_forwarding_arc(const struct to_forwarding *f, uint32_t x,
			   const struct to_nexthop *hop)
{
	const struct to_graph *g = f->graph;
	unsigned int ports = f->plan->slots - 1;
	uint32_t a;

	if (hop->port >= ports)
		return UINT32_MAX;
	a = f->arc[(size_t)x * ports + hop->port];
	if (a != UINT32_MAX)
		return a;
	/* of a port on a packet switch; a dark one has no arcs */
	for (a = g->out[x]; a < g->out[x + 1]; a++)
		if (g->port[a] == hop->port && g->to[a] == hop->peer)
			return a;
	return UINT32_MAX;
}

uint32_t to_forwarding_return(const struct to_forwarding *f)
{
	const struct to_graph *g = f->graph;
	uint32_t a;

	for (a = g->out[f->dst]; f->slot && a < g->out[f->dst + 1]; a++)
		if (g->port[a] == f->slot - 1)
			return a;
	return UINT32_MAX;
}

static void forwarding_read_groups(struct to_forwarding *f)
{
	const struct to_graph *g = f->graph;
	unsigned int i, k;
	uint32_t x;

	for (x = 0; x < g->n; x++) {
		const struct to_table *table = &f->plan->tables[x];

		for (i = 0; i < table->n_groups; i++) {
			const struct to_group *group = &table->groups[i];

			for (k = 0; k < group->n; k++) {
				const struct to_nexthop *hop = &group->nexthops[k];
				uint32_t arc = to_forwarding_arc(f, x, hop);
				uint64_t *mask = hop->backup ? f->spare : f->live;

				if (hop->ingress)
					f->turned[f->first_group[x] + i] |= 1ull << (hop->ingress - 1);
				else if (arc != UINT32_MAX)
					mask[f->first_group[x] + i] |= 1ull << (arc - g->out[x]);
			}
		}
	}
}

static void forwarding_read_qualified(struct to_forwarding *f)
{
	uint32_t x;
	unsigned int i;

	for (x = 0; x < f->graph->n; x++) {
		const struct to_table *table = &f->plan->tables[x];

		for (i = 0; i < table->n_pairs; i++) {
			const struct to_source_route *pair = &table->pairs[i];

			f->qualified[f->n_qualified++] = (struct to_qualified){
				.dst = pair->dst, .slot = pair->slot, .src = pair->src,
				.server = x, .group = pair->group };
		}
	}
	if (f->n_qualified)
		qsort(f->qualified, f->n_qualified, sizeof(*f->qualified), forwarding_compare);
}

int to_forwarding_init(struct to_forwarding *f, const struct to_plan *plan,
		       const struct to_graph *graph)
{
	size_t n = graph->n, ports = plan->slots - 1, n_groups = 0, n_pairs = 0;
	struct to_arena *arena = &f->arena;
	uint32_t x, a;

	memset(f, 0, sizeof(*f));
	f->plan = plan;
	f->graph = graph;
	for (x = 0; x < n; x++) {
		n_groups += plan->tables[x].n_groups;
		n_pairs += plan->tables[x].n_pairs;
	}
	f->arc = to_arena_array(arena, n * ports, sizeof(*f->arc));
	f->first_group = to_arena_array(arena, n + 1, sizeof(*f->first_group));
	f->live = to_arena_array(arena, n_groups, sizeof(*f->live));
	f->spare = to_arena_array(arena, n_groups, sizeof(*f->spare));
	f->turned = to_arena_array(arena, n_groups, sizeof(*f->turned));
	f->qualified = to_arena_array(arena, n_pairs, sizeof(*f->qualified));
	f->group = to_arena_array(arena, n, sizeof(*f->group));
	f->order = to_arena_array(arena, n, sizeof(*f->order));
	f->level = to_arena_array(arena, n, sizeof(*f->level));
	f->waiting = to_arena_array(arena, n, sizeof(*f->waiting));
	f->next = to_arena_array(arena, n, sizeof(*f->next));
	if (arena->failed) {
		to_forwarding_free(f);
		return -ENOMEM;
	}
	memset(f->arc, 0xff, n * ports * sizeof(*f->arc));
	for (a = 0; a < graph->n_arcs; a++) {
		uint32_t q = graph->port[a];

		x = graph->from[a];
		if (!plan->cluster->servers[x].ports[q].packet_switch)
			f->arc[x * ports + q] = a;
	}
	for (x = 0; x < n; x++)
		f->first_group[x + 1] = f->first_group[x] + plan->tables[x].n_groups;
	forwarding_read_groups(f);
	forwarding_read_qualified(f);
	return 0;
}

void to_forwarding_free(struct to_forwarding *f)
{
	to_arena_free(&f->arena);
	memset(f, 0, sizeof(*f));
}

/* Append the servers that forward only to servers in @order from @head on. */
static unsigned int forwarding_extend(struct to_forwarding *f, unsigned int head,
				      unsigned int tail)
{
	const struct to_graph *g = f->graph;
	uint32_t i;

	/* what is used is not foreseen: no branches; when all are there, it is over */
	for (; head < tail && tail < g->n; head++) {
		uint32_t y = f->order[head], further = f->level[y] + 1;

		for (i = g->in[y]; i < g->in[y + 1] && tail < g->n; i++) {
			uint32_t x = g->in_from[i];
			bool used = f->next[x] >> (g->in_arc[i] - g->out[x]) & 1;

			f->level[x] = used && f->level[x] < further ? further : f->level[x];
			f->waiting[x] -= used;
			f->order[tail] = x;
			tail += used & !f->waiting[x];
		}
	}
	return tail;
}

/* Servers in topological order (Kahn); what is left over can loop. */
static void forwarding_sort(struct to_forwarding *f)
{
	unsigned int tail = 0;
	uint32_t x;

	f->next[f->dst] = 0;
	for (x = 0; x < f->graph->n; x++) {
		f->level[x] = 0;
		f->waiting[x] = __builtin_popcountll(f->next[x]);
	}
	f->order[tail++] = f->dst;
	f->n_reached = forwarding_extend(f, 0, tail);
	for (x = 0, tail = f->n_reached; x < f->graph->n; x++)
		if (!f->next[x] && x != f->dst)
			f->order[tail++] = x;
	f->n_loop_free = forwarding_extend(f, f->n_reached, tail);
}

void to_forwarding_resolve(struct to_forwarding *f, uint32_t dst, unsigned int slot)
{
	const struct to_plan *plan = f->plan;
	size_t route = (size_t)dst * plan->slots + slot;
	uint32_t x;

	f->dst = dst;
	f->slot = slot;
	for (x = 0; x < f->graph->n; x++) {
		uint16_t group = plan->tables[x].route[route];

		if (group == TO_GROUP_NONE || x == dst) {
			f->group[x] = UINT32_MAX;
			f->next[x] = 0;
		} else {
			f->group[x] = f->first_group[x] + group;
			f->next[x] = f->live[f->group[x]];
		}
	}
	forwarding_sort(f);
}

void to_forwarding_qualify(struct to_forwarding *f, unsigned int first, unsigned int last)
{
	unsigned int i;

	for (i = first; i < last; i++) {
		uint32_t x = f->qualified[i].server;

		f->group[x] = f->first_group[x] + f->qualified[i].group;
		f->next[x] = f->live[f->group[x]];
	}
	forwarding_sort(f);
}

/* Arc of a next hop that is used without any failure, UINT32_MAX else. */
static uint32_t forwarding_live(const struct to_forwarding *f, uint32_t x,
				const struct to_nexthop *hop)
{
	return to_nexthop_primary(hop) ? to_forwarding_arc(f, x, hop) : UINT32_MAX;
}

/* The arc of the alternate for packets that arrived at @port, UINT32_MAX for none. */
static uint32_t forwarding_alternate(const struct to_forwarding *f, uint32_t x, unsigned int port)
{
	const struct to_group *group;
	unsigned int k;

	if (!(f->turned[f->group[x]] >> port & 1))
		return UINT32_MAX;
	group = &f->plan->tables[x].groups[f->group[x] - f->first_group[x]];
	for (k = 0; group->nexthops[k].ingress != port + 1; k++)
		;
	return to_forwarding_arc(f, x, &group->nexthops[k]);
}

uint64_t to_forwarding_onward(const struct to_forwarding *f, uint32_t x, uint32_t in,
			      const uint64_t *down)
{
	const struct to_graph *g = f->graph;
	uint64_t up = down ? ~down[x] : UINT64_MAX;
	uint32_t arc;

	if (x == f->dst) {
		/* the port sends it to its peer, which sends it back */
		if (!f->slot || in == UINT32_MAX || g->peer_port[in] == f->slot - 1)
			return 0;
		arc = to_forwarding_return(f);
		return arc == UINT32_MAX ? 0 : 1ull << (arc - g->out[x]) & up;
	}
	if (f->group[x] == UINT32_MAX)
		return 0;
	if (in != UINT32_MAX) {
		arc = forwarding_alternate(f, x, g->peer_port[in]);
		if (arc != UINT32_MAX && up >> (arc - g->out[x]) & 1)
			return 1ull << (arc - g->out[x]);
	}
	return f->next[x] & up ?: f->spare[f->group[x]] & up;
}

unsigned int to_forwarding_parts(const struct to_forwarding *f, struct to_part *parts)
{
	unsigned int i, k, n = 0;

	for (i = f->n_reached; i-- > 1;) {
		const uint32_t x = f->order[i];
		const struct to_group *group =
			&f->plan->tables[x].groups[f->group[x] - f->first_group[x]];
		unsigned int weights = 0, first = n;

		for (k = 0; k < group->n; k++) {
			const struct to_nexthop *hop = &group->nexthops[k];
			const uint32_t arc = forwarding_live(f, x, hop);

			if (arc == UINT32_MAX)
				continue;
			parts[n++] = (struct to_part){ x, arc, hop->weight };
			weights += hop->weight;
		}
		for (k = first; k < n; k++)
			parts[k].share /= weights;
	}
	return n;
}

void to_forwarding_spread(const struct to_forwarding *f, double *flow, double *load)
{
	const struct to_graph *g = f->graph;
	unsigned int i, k;

	if (f->bypass)
		to_bypass_begin(f->bypass);
	for (i = f->n_reached; i-- > 1;) {
		uint32_t x = f->order[i];
		const struct to_group *group;
		unsigned int weights = 0;

		if (!(flow[x] > 0))
			continue;
		group = &f->plan->tables[x].groups[f->group[x] - f->first_group[x]];
		for (k = 0; k < group->n; k++)
			if (forwarding_live(f, x, &group->nexthops[k]) != UINT32_MAX)
				weights += group->nexthops[k].weight;
		for (k = 0; k < group->n; k++) {
			const struct to_nexthop *hop = &group->nexthops[k];
			uint32_t arc = forwarding_live(f, x, hop);
			double bytes = flow[x] * hop->weight / weights;

			if (arc == UINT32_MAX)
				continue;
			flow[g->to[arc]] += bytes;
			if (load)
				load[arc] += bytes;
			if (f->bypass)
				to_bypass_send(f->bypass, arc, (double)hop->weight / weights, bytes);
		}
	}
}
