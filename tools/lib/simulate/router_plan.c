// SPDX-License-Identifier: GPL-2.0-or-later
/* The paths of a plan, read once from its tables and rings, for many transfers. */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/allreduce.h"
#include "data/allreduce_steps.h"
#include "data/bypass.h"
#include "graph/ring.h"
#include "routing/forwarding.h"
#include "simulate/router.h"

/* struct plan_step - @share of what the server that @arc leaves forwards goes into it */
struct plan_step {
	uint32_t arc;
	double share;
};

/* struct plan_exception - paths from one source that has routes of its own to @dst */
struct plan_exception {
	uint32_t dst, src, first_step, n_steps;
};

/*
 * struct router_plan - the paths to every server
 * @first_step: steps to server y: steps[first_step[y]] up to
 *	steps[first_step[y + 1] - 1], those of a server behind those of all
 *	servers that forward to it
 * @links: per arc, the links of the network that it takes, see to_network_of_graph()
 * @wait: seconds for which the last byte is under way on the slowest path, [dst * n + src];
 *	negative where packets do not arrive
 * @exceptions: by (dst, src)
 */
struct router_plan {
	struct to_router router;
	const struct to_plan *plan;
	struct to_bypass bypass;	/* what cards pass on of transfers that are being spread */
	struct to_graph *graph;
	uint32_t *first_step;
	uint32_t n_steps, max_steps, n_exceptions;
	struct plan_step *steps;
	uint32_t (*links)[2];
	double *wait;
	struct plan_exception *exceptions;
	double *flow;			/* scratch, per server */
	uint32_t *head, *next, max_next;	/* scratch, transfers by destination */
	uint32_t *parent;		/* scratch, per server */
};

static int plan_add_step(struct router_plan *w, uint32_t arc, double share)
{
	struct plan_step *grown;

	if (w->n_steps == w->max_steps) {
		w->max_steps += w->max_steps / 2 + 1024;
		grown = realloc(w->steps, w->max_steps * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		w->steps = grown;
	}
	w->steps[w->n_steps++] = (struct plan_step){ arc, share };
	return 0;
}

/* Steps of the paths that are resolved, for bytes that start at servers where @flow is 1. */
static int plan_read(struct router_plan *w, const struct to_forwarding *f, double *load)
{
	const struct to_graph *g = w->graph;
	unsigned int i;
	uint32_t a;

	memset(load, 0, g->n_arcs * sizeof(*load));
	to_forwarding_spread(f, w->flow, load);
	for (i = f->n_reached; i-- > 1;) {
		uint32_t x = f->order[i];

		for (a = g->out[x]; a < g->out[x + 1]; a++)
			if (load[a] > 0 && plan_add_step(w, a, load[a] / w->flow[x]))
				return -ENOMEM;
	}
	return 0;
}

/* From each server to the one that was resolved: what comes next is in @wait before it. */
static void plan_read_waits(const struct router_plan *w, const struct to_forwarding *f,
			    double *wait)
{
	const struct to_delays *delays = &w->router.delays;
	unsigned int i;
	uint32_t x;

	for (x = 0; x < w->graph->n; x++)
		wait[x] = x == f->dst ? 0 : -1;
	for (i = 1; i < f->n_reached; i++) {
		uint64_t next;

		x = f->order[i];
		for (next = f->next[x]; next; next &= next - 1) {
			const uint32_t a = w->graph->out[x] + __builtin_ctzll(next);
			const uint32_t y = w->graph->to[a];
			const int links = w->links[a][1] == TO_NETWORK_LINK_NONE ? 1 : 2;

			wait[x] = fmax(wait[x], wait[y] + links * delays->link +
						(y == f->dst ? 0 : delays->relay));
		}
	}
}

/* Ways to @dst's node address: those of all servers, but not yet the exceptions. */
static int plan_read_to(struct router_plan *w, struct to_forwarding *f, uint32_t dst,
			  double *load)
{
	uint32_t x;

	to_forwarding_resolve(f, dst, 0);
	for (x = 0; x < w->graph->n; x++)
		w->flow[x] = 1;
	plan_read_waits(w, f, w->wait + (size_t)dst * w->graph->n);
	w->first_step[dst] = w->n_steps;
	return plan_read(w, f, load);
}

/* The exceptions, behind the steps of all others. */
static int plan_read_apart(struct router_plan *w, struct to_forwarding *f, double *load)
{
	double *wait = NULL;
	const struct to_qualified *q = f->qualified;
	unsigned int first, last;
	size_t n = w->graph->n;
	int ret = 0;

	w->exceptions = calloc(f->n_qualified + 1, sizeof(*w->exceptions));
	wait = calloc(n, sizeof(*wait));
	if (!w->exceptions || !wait) {
		free(wait);
		return -ENOMEM;
	}
	for (first = 0; !ret && first < f->n_qualified; first = last) {
		struct plan_exception *exception = &w->exceptions[w->n_exceptions];
		uint32_t dst = q[first].dst, src = q[first].src;

		for (last = first; last < f->n_qualified && q[last].dst == dst &&
		     q[last].slot == q[first].slot && q[last].src == src; last++)
			;
		if (q[first].slot)
			continue;
		to_forwarding_resolve(f, dst, 0);
		to_forwarding_qualify(f, first, last);
		memset(w->flow, 0, n * sizeof(*w->flow));
		w->flow[src] = 1;
		plan_read_waits(w, f, wait);
		w->wait[dst * n + src] = wait[src];
		*exception = (struct plan_exception){ .dst = dst, .src = src,
							    .first_step = w->n_steps };
		ret = plan_read(w, f, load);
		exception->n_steps = w->n_steps - exception->first_step;
		w->n_exceptions++;
	}
	free(wait);
	return ret;
}

static void plan_free(struct to_router *router)
{
	struct router_plan *w = (struct router_plan *)router;

	to_bypass_free(&w->bypass);
	to_graph_free(w->graph);
	free(w->first_step);
	free(w->steps);
	free(w->links);
	free(w->wait);
	free(w->exceptions);
	free(w->flow);
	free(w->head);
	free(w->parent);
	free(w->next);
	free(w);
}

/* All of it; 0 or -ENOMEM. */
static int plan_read_all(struct router_plan *w)
{
	const struct to_plan *plan = w->plan;
	size_t n = plan->cluster->n_servers;
	struct to_forwarding f = { 0 };
	double *load = NULL;
	int ret = -ENOMEM;
	uint32_t dst;

	w->graph = to_graph_new(n, plan->cluster->links, plan->cluster->n_links,
				plan->cluster->link_mode);
	if (!w->graph)
		return -ENOMEM;
	w->links = calloc(w->graph->n_arcs + 1, sizeof(*w->links));
	if (!w->links || to_bypass_init(&w->bypass, w->graph, plan->cluster))
		return -ENOMEM;
	w->router.network = to_network_of_graph(w->graph, plan->cluster, w->router.delays.link,
						w->links);
	w->first_step = calloc(n + 1, sizeof(*w->first_step));
	w->wait = calloc(n * n, sizeof(*w->wait));
	w->flow = calloc(n, sizeof(*w->flow));
	w->head = calloc(n, sizeof(*w->head));
	w->parent = calloc(n, sizeof(*w->parent));
	load = calloc(w->graph->n_arcs + 1, sizeof(*load));
	if (!w->router.network || !load || !w->first_step || !w->wait || !w->flow || !w->head ||
	    !w->parent || to_forwarding_init(&f, plan, w->graph))
		goto out;
	memset(w->head, 0xff, n * sizeof(*w->head));
	for (dst = 0; dst < n; dst++)
		if (plan_read_to(w, &f, dst, load))
			goto out;
	w->first_step[n] = w->n_steps;
	ret = plan_read_apart(w, &f, load);
out:
	to_forwarding_free(&f);
	free(load);
	return ret;
}

/* Put bytes on a link, and on the PCIe links at its ends. */
static void plan_put_link(const struct to_network *network, uint32_t link, double part,
			  double *bytes)
{
	bytes[link] += part;
	for (uint32_t i = network->n_pcie ? network->first_pcie[link] : 0;
	     network->n_pcie && i < network->first_pcie[link + 1]; i++)
		bytes[network->n_links + network->pcie[i]] += part;
}

/* Put bytes on the links of an arc. */
static void plan_put(const struct router_plan *w, uint32_t arc, double part, double *bytes)
{
	const uint32_t *links = w->links[arc];

	plan_put_link(w->router.network, links[0], part, bytes);
	if (links[1] != TO_NETWORK_LINK_NONE)
		plan_put_link(w->router.network, links[1], part, bytes);
}

/* Take bytes that cards have passed on off the PCIe links of @link. */
static void plan_relieve_link(const struct to_network *network, uint32_t link, bool to_host,
			      double part, double *bytes)
{
	for (uint32_t i = network->first_pcie[link]; i < network->first_pcie[link + 1]; i++)
		if (to_network_pcie_to_host(network->pcie[i]) == to_host)
			bytes[network->n_links + network->pcie[i]] -= part;
}

static void plan_relieve(const struct router_plan *w, double *bytes)
{
	const struct to_bypass *b = &w->bypass;

	for (uint32_t a = 0; b->any && a < w->graph->n_arcs; a++) {
		const uint32_t first = w->links[a][0], second = w->links[a][1];

		plan_relieve_link(w->router.network, first, false, b->passed[a], bytes);
		plan_relieve_link(w->router.network, second == TO_NETWORK_LINK_NONE ? first : second,
				  true, b->arrived[a], bytes);
	}
}

/* Send w->flow along steps @first to @last - 1. */
static void plan_follow(struct router_plan *w, uint32_t first, uint32_t last, double *bytes)
{
	const uint32_t *from = w->graph->from, *to = w->graph->to;
	uint32_t i;

	to_bypass_begin(&w->bypass);
	for (i = first; i < last; i++) {
		uint32_t arc = w->steps[i].arc;
		double part = w->flow[from[arc]] * w->steps[i].share;

		w->flow[to[arc]] += part;
		plan_put(w, arc, part, bytes);
		to_bypass_send(&w->bypass, arc, w->steps[i].share, part);
	}
}

static const struct plan_exception *plan_exception(const struct router_plan *w,
							   uint32_t dst, uint32_t src)
{
	uint32_t low = 0, high = w->n_exceptions;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		const struct plan_exception *exception = &w->exceptions[mid];

		if (exception->dst == dst && exception->src == src)
			return exception;
		if (exception->dst < dst || (exception->dst == dst && exception->src < src))
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

/* Send the transfers that are chained at w->head[dst]. */
static void plan_send(struct router_plan *w, const struct to_transfer *transfers,
			uint32_t dst, double *bytes)
{
	size_t n = w->graph->n;
	uint32_t i;

	for (i = w->head[dst]; w->n_exceptions && i != UINT32_MAX; i = w->next[i]) {
		const struct plan_exception *exception =
			plan_exception(w, dst, transfers[i].src);

		if (!exception)
			continue;
		memset(w->flow, 0, n * sizeof(*w->flow));
		w->flow[exception->src] = transfers[i].bytes;
		plan_follow(w, exception->first_step,
			      exception->first_step + exception->n_steps, bytes);
	}
	memset(w->flow, 0, n * sizeof(*w->flow));
	for (i = w->head[dst]; i != UINT32_MAX; i = w->next[i])
		if (!w->n_exceptions || !plan_exception(w, dst, transfers[i].src))
			w->flow[transfers[i].src] += transfers[i].bytes;
	plan_follow(w, w->first_step[dst], w->first_step[dst + 1], bytes);
}

/*
 * What @transfers put on the links. @wait: seconds for which any byte is under way at most.
 * Return: 0; -ENOMEM or -EHOSTUNREACH with @err set.
 */
static int plan_spread(struct router_plan *w, const struct to_transfer *transfers,
		       uint32_t n_transfers, double *bytes, double *wait, struct to_error *err)
{
	uint32_t n = w->graph->n, *next, i, dst;

	*wait = 0;
	if (n_transfers > w->max_next) {
		next = realloc(w->next, n_transfers * sizeof(*next));
		if (!next)
			return to_error_set(err, -ENOMEM, "out of memory");
		w->next = next;
		w->max_next = n_transfers;
	}
	for (i = 0; i < n_transfers; i++) {
		uint32_t src = transfers[i].src;
		double longest;

		dst = transfers[i].dst;
		longest = w->wait[(size_t)dst * n + src];
		if (longest < 0) {
			memset(w->head, 0xff, n * sizeof(*w->head));
			return to_error_set(err, -EHOSTUNREACH,
					    "the plan has no path from server %u to server %u", src,
					    dst);
		}
		*wait = fmax(*wait, longest);
		w->next[i] = w->head[dst];
		w->head[dst] = i;
	}
	to_bypass_clear(&w->bypass);
	for (dst = 0; dst < n; dst++) {
		if (w->head[dst] == UINT32_MAX)
			continue;
		plan_send(w, transfers, dst, bytes);
		w->head[dst] = UINT32_MAX;
	}
	plan_relieve(w, bytes);
	return 0;
}

static bool plan_same_members(const struct to_allreduce *group, const uint32_t *members,
				uint32_t n, bool *in)
{
	uint32_t i, found = 0;

	if (group->n_members != n)
		return false;
	for (i = 0; i < n; i++)
		in[members[i]] = true;
	for (i = 0; i < n; i++)
		found += in[group->members[i]];
	for (i = 0; i < n; i++)
		in[members[i]] = false;
	return found == n;
}

/*
 * Find the plan's group with these members that has rings or trees: give it
 * TO_COLLECTIVE_BUFFER bytes and all others none.
 *
 * Return: its index, n_groups when there is none.
 */
static unsigned int plan_only_group(const struct to_plan *plan, const uint32_t *members,
				      uint32_t n, struct to_allreduce *groups, bool *in)
{
	unsigned int n_groups = plan->demand->n_groups, i, g, found = n_groups;

	for (g = 0; g < n_groups; g++) {
		groups[g] = plan->demand->groups[g];
		groups[g].bytes = 0;
	}
	for (i = 0; i < plan->n_rings && found == n_groups; i++)
		if (plan_same_members(&groups[plan->rings[i].group], members, n, in))
			found = plan->rings[i].group;
	for (i = 0; i < plan->n_trees && found == n_groups; i++)
		if (plan_same_members(&groups[plan->trees[i].group], members, n, in))
			found = plan->trees[i].group;
	if (found < n_groups)
		groups[found].bytes = TO_COLLECTIVE_BUFFER;
	return found;
}

/* Servers that pass an AllReduce of group @g on, one after the other. */
static unsigned int plan_steps(struct router_plan *w, unsigned int g)
{
	const struct to_plan *plan = w->plan;
	const struct to_allreduce *group = &plan->demand->groups[g];
	unsigned int steps = 0, deep, i, k;

	for (i = 0; i < plan->n_rings; i++)
		if (plan->rings[i].group == g)
			steps = to_allreduce_steps_ring(group->n_members);
	for (i = 0; i < plan->n_trees; i++) {
		if (plan->trees[i].group != g)
			continue;
		for (k = 0; k < group->n_members; k++)
			w->parent[group->members[k]] = plan->trees[i].parents[k];
		deep = to_allreduce_steps_tree(group->members, group->n_members, w->parent);
		steps = deep > steps ? deep : steps;
	}
	return steps;
}

/* Add what routed hops of @rings put on the links; @wait: seconds that the longest takes. */
static int plan_send_routed(struct router_plan *w, const struct to_rings *rings,
			      double *bytes, double *wait, struct to_error *err)
{
	uint32_t n = w->graph->n, x, y, n_hops = 0;
	double *routed = to_allreduce_routed(rings, w->graph);
	struct to_transfer *hops;
	size_t i;
	int ret;

	if (!routed)
		return to_error_set(err, -ENOMEM, "out of memory");
	for (i = 0; i < (size_t)n * n; i++)
		n_hops += routed[i] > 0;
	hops = calloc(n_hops + 1, sizeof(*hops));
	if (!hops) {
		free(routed);
		return to_error_set(err, -ENOMEM, "out of memory");
	}
	for (x = 0, n_hops = 0; x < n; x++) {
		for (y = 0; y < n; y++) {
			/* of so large a buffer the fraction of a byte does not count */
			uint64_t sent = llround(routed[(size_t)x * n + y]);

			if (sent)
				hops[n_hops++] = (struct to_transfer){ x, y, sent };
		}
	}
	ret = plan_spread(w, hops, n_hops, bytes, wait, err);
	free(routed);
	free(hops);
	return ret;
}

/* A ring of few hops for servers that have none in the plan. */
static int plan_ring(struct router_plan *w, const uint32_t *members, uint32_t n,
		       double *bytes, double *wait, struct to_error *err)
{
	struct to_allreduce group = { n, (uint32_t *)members, TO_COLLECTIVE_BUFFER, 1 };
	struct to_demand demand = { .n = w->graph->n, .n_groups = 1, .groups = &group };
	struct to_ring ring = { .n = n, .reverse = w->plan->cluster->link_mode == TO_LINKS_DUPLEX };
	struct to_rings rings = { .layout = { .n_rings = 1, .rings = &ring }, .demand = &demand };
	int ret;

	ring.order = calloc(n, sizeof(*ring.order));
	if (!ring.order || to_ring_nearest(w->graph, members, n, ring.order))
		ret = to_error_set(err, -ENOMEM, "out of memory");
	else
		ret = plan_send_routed(w, &rings, bytes, wait, err);
	free(ring.order);
	return ret;
}

static int plan_transfers(struct to_router *router, const struct to_transfer *transfers, uint32_t n,
			  double *bytes, double *latency, struct to_error *err)
{
	int ret = plan_spread((struct router_plan *)router, transfers, n, bytes, latency, err);

	*latency += router->delays.step;
	return ret;
}

static unsigned int plan_phases(const struct to_router *router, uint32_t n)
{
	(void)router;
	(void)n;
	return 1;
}

/*
 * On the plan's rings or trees where it has some for these servers (of the group of the
 * first one, should several groups have the same servers), else on a ring that is routed
 * hop by hop. A step of a ring or tree that owns its links is a link long.
 */
static int plan_allreduce(struct to_router *router, const uint32_t *members, uint32_t n,
			  unsigned int phase, double *bytes, double *latency,
			  struct to_error *err)
{
	struct router_plan *w = (struct router_plan *)router;
	struct to_rings rings = to_allreduce_of(w->plan);
	struct to_demand demand = *w->plan->demand;
	unsigned int n_arcs = w->graph->n_arcs, group;
	const uint32_t n_links = to_network_capacities(router->network);
	double *owned = calloc(n_arcs + 1, sizeof(*owned)), wait = 0;
	double *load = calloc(n_links + 1, sizeof(*load));
	bool *in = calloc(w->graph->n, sizeof(*in));
	unsigned int steps = to_allreduce_steps_ring(n);
	uint32_t i;
	int ret;

	(void)phase;
	rings.demand = &demand;
	demand.groups = calloc(demand.n_groups + 1, sizeof(*demand.groups));
	if (!owned || !load || !in || !demand.groups) {
		ret = to_error_set(err, -ENOMEM, "out of memory");
		goto out;
	}
	group = plan_only_group(w->plan, members, n, demand.groups, in);
	if (group < demand.n_groups) {
		to_allreduce_link_bytes(&rings, w->graph, owned);
		for (i = 0; i < n_arcs; i++)
			plan_put(w, i, owned[i], load);
		ret = plan_send_routed(w, &rings, load, &wait, err);
		steps = plan_steps(w, group);
	} else {
		ret = plan_ring(w, members, n, load, &wait, err);
	}
	for (i = 0; !ret && i < n_links; i++)
		bytes[i] += load[i] / TO_COLLECTIVE_BUFFER;
out:
	free(demand.groups);
	free(owned);
	free(load);
	free(in);
	*latency = steps * (fmax(wait, router->delays.link) + router->delays.step);
	return ret;
}

static const struct to_router_ops plan_ops = {
	.transfers = plan_transfers,
	.phases = plan_phases,
	.allreduce = plan_allreduce,
	.free = plan_free,
};

struct to_router *to_router_of_plan(const struct to_plan *plan, const struct to_delays *delays,
				  struct to_error *err)
{
	struct router_plan *w = calloc(1, sizeof(*w));

	if (w) {
		w->router = (struct to_router){ .ops = &plan_ops, .delays = *delays };
		w->plan = plan;
		if (!plan_read_all(w))
			return &w->router;
		to_router_free(&w->router);
	}
	to_error_set(err, -ENOMEM, "out of memory");
	return NULL;
}
