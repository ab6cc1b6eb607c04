// SPDX-License-Identifier: GPL-2.0-or-later
#include "routing/link_loads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "data/allreduce.h"
#include "routing/queue_pairs.h"

/* Where bytes go that are spread. */
struct link_loads {
	double *rings, *mp;
	struct to_link_bypass *bypass;	/* or NULL */
};

static void link_loads_send(struct to_forwarding *f, double *flow, double *load,
			    struct to_bypass *bypass)
{
	f->bypass = bypass;
	to_forwarding_spread(f, flow, load);
	f->bypass = NULL;
}

static void link_loads_send_mp(struct to_forwarding *f, double *flow, const struct link_loads *to)
{
	link_loads_send(f, flow, to->mp, to->bypass ? &to->bypass->mp : NULL);
}

static void link_loads_send_rings(struct to_forwarding *f, double *flow, const struct link_loads *to)
{
	link_loads_send(f, flow, to->rings, to->bypass ? &to->bypass->rings : NULL);
}

/* Send what sources that are not @apart have for the destination that is resolved. */
static void link_loads_spread(struct to_forwarding *f, const double *routed, const bool *apart,
			      double *flow, const struct link_loads *to)
{
	size_t n = f->graph->n, x;

	for (x = 0; x < n; x++)
		flow[x] = apart[x] ? 0 : f->plan->demand->mp[x * n + f->dst];
	link_loads_send_mp(f, flow, to);
	for (x = 0; x < n; x++)
		flow[x] = apart[x] ? 0 : routed[x * n + f->dst];
	link_loads_send_rings(f, flow, to);
}

int to_link_loads(struct to_forwarding *f, double *rings, double *mp)
{
	return to_link_loads_bypass(f, rings, mp, NULL);
}

int to_link_loads_bypass(struct to_forwarding *f, double *rings, double *mp,
			 struct to_link_bypass *bypass)
{
	const struct link_loads to = { rings, mp, bypass };
	const struct to_demand *demand = f->plan->demand;
	struct to_rings r = to_allreduce_of(f->plan);
	size_t n = f->graph->n;
	double *routed = to_allreduce_routed(&r, f->graph);
	double *flow = calloc(n, sizeof(*flow));
	bool *apart = calloc(n, sizeof(*apart));	/* sources with routes of their own */
	unsigned int at = 0, first;
	uint32_t dst, x;

	if (!routed || !flow || !apart) {
		free(routed);
		free(flow);
		free(apart);
		return -ENOMEM;
	}
	to_allreduce_link_bytes(&r, f->graph, rings);
	memset(mp, 0, f->graph->n_arcs * sizeof(*mp));
	for (dst = 0; dst < n; dst++) {
		memset(apart, 0, n * sizeof(*apart));
		while (at < f->n_qualified && f->qualified[at].dst == dst) {
			bool node = f->qualified[at].slot == 0;

			x = f->qualified[at].src;
			for (first = at; at < f->n_qualified &&
			     f->qualified[at].dst == dst && f->qualified[at].src == x &&
			     f->qualified[at].slot == f->qualified[first].slot; at++)
				;
			if (!node)
				continue;
			apart[x] = true;
			to_forwarding_resolve(f, dst, 0);
			to_forwarding_qualify(f, first, at);
			memset(flow, 0, n * sizeof(*flow));
			flow[x] = demand->mp[x * n + dst];
			link_loads_send_mp(f, flow, &to);
			memset(flow, 0, n * sizeof(*flow));
			flow[x] = routed[x * n + dst];
			link_loads_send_rings(f, flow, &to);
		}
		to_forwarding_resolve(f, dst, 0);
		link_loads_spread(f, routed, apart, flow, &to);
	}
	free(routed);
	free(flow);
	free(apart);
	return 0;
}

/*
 * Follow bytes that arrive on arc @in to a server that does with them what it does with
 * its own: along alternates, and round by the right port of the destination. What goes
 * round for ever gets nowhere; to_verify() says so.
 */
static void link_loads_arrive(const struct to_forwarding *f, uint32_t in, double bytes,
			      double *flow, double *load)
{
	const struct to_graph *g = f->graph;
	uint32_t hops;

	for (hops = 0; hops < g->n_arcs; hops++) {
		uint32_t x = g->to[in];
		uint64_t next = to_forwarding_onward(f, x, in, NULL);

		if (next == to_forwarding_onward(f, x, UINT32_MAX, NULL)) {
			flow[x] += bytes;
			return;
		}
		in = g->out[x] + __builtin_ctzll(next);
		load[in] += bytes;
	}
}

/* The ports that @n arcs of a list are on, as @end says: bit k is port k. */
static uint64_t link_loads_ports(const uint32_t *end, const uint32_t *arcs, uint32_t first,
				 uint32_t last)
{
	uint64_t ports = 0;
	uint32_t i;

	for (i = first; i < last; i++)
		ports |= 1ull << end[arcs ? arcs[i] : i];
	return ports;
}

/*
 * What @flow has out of all ports alike, and on from there.
 * @distance: see to_queue_pair_arc()
 */
static void link_loads_bound(const struct to_forwarding *f, const double *flow,
			     const uint16_t *distance, double *onward, double *load)
{
	const struct to_graph *g = f->graph;
	uint32_t x, i;

	memset(onward, 0, g->n * sizeof(*onward));
	for (x = 0; x < g->n; x++) {
		uint64_t left = link_loads_ports(g->port, NULL, g->out[x], g->out[x + 1]);
		double part = flow[x] / __builtin_popcountll(left);

		for (i = g->out[x]; flow[x] > 0 && i < g->out[x + 1]; i++) {
			struct to_port_ref from = { x, g->port[i] };
			uint32_t a;

			if (!(left >> from.port & 1))
				continue;
			left &= ~(1ull << from.port);
			a = to_queue_pair_arc(g, from, f->dst, f->slot - 1, distance);
			if (a == UINT32_MAX)
				continue;
			load[a] += part;
			link_loads_arrive(f, a, part, onward, load);
		}
	}
	to_forwarding_spread(f, onward, load);
}

/* Bytes that every server sends to @port of @dst. Return: whether there are any. */
static bool link_loads_share(const struct to_forwarding *f, uint32_t dst, unsigned int port,
			     unsigned int n_in, double *flow)
{
	const struct to_plan *plan = f->plan;
	size_t n = f->graph->n, ports = plan->slots - 1, x;
	bool any = false;

	for (x = 0; x < n; x++) {
		size_t pair = x * n + dst;
		double share = !plan->port_shares ? 1.0 / n_in :
			(double)plan->port_shares[pair * ports + port] / TO_PORT_SHARES;

		flow[x] = plan->demand->mp[pair] * share;
		any |= flow[x] > 0;
	}
	return any;
}

int to_link_loads_rdma(struct to_forwarding *f, double *routed, double *bound)
{
	const struct to_graph *g = f->graph;
	bool shared = f->plan->cluster->n_packet_switches;
	double *flow = calloc(2 * (size_t)g->n, sizeof(*flow));
	uint16_t *distance = calloc(g->n, sizeof(*distance));
	uint32_t *order = calloc(g->n, sizeof(*order)), dst;

	if (!flow || !distance || !order) {
		free(flow);
		free(distance);
		free(order);
		return -ENOMEM;
	}
	memset(routed, 0, g->n_arcs * sizeof(*routed));
	memset(bound, 0, g->n_arcs * sizeof(*bound));
	for (dst = 0; dst < g->n; dst++) {
		/* many arcs enter one on a packet switch */
		uint64_t ports = link_loads_ports(g->peer_port, g->in_arc, g->in[dst],
						  g->in[dst + 1]), left;

		for (left = ports; left; left &= left - 1) {
			unsigned int port = __builtin_ctzll(left);

			if (!link_loads_share(f, dst, port, __builtin_popcountll(ports), flow))
				continue;
			to_forwarding_resolve(f, dst, 1 + port);
			if (shared)
				to_graph_port_distances(g, dst, port, distance, order);
			link_loads_bound(f, flow, distance, flow + g->n, bound);
			to_forwarding_spread(f, flow, routed);
		}
	}
	free(flow);
	free(distance);
	free(order);
	return 0;
}
