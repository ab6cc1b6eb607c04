// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/drain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/effort.h"
#include "data/allreduce.h"
#include "data/cross_connects.h"
#include "graph/spf.h"
#include "plan/rewire_steps.h"
#include "routing/forwarding.h"
#include "routing/routing.h"

/*
 * Routes to the port @at, whose link from @from is cut: to the server at the
 * other end by the @graph of the links that stay, then over the link.
 */
static int drain_route_cut_port(struct to_plan *plan, const struct to_graph *graph,
				struct to_spf *spf, struct to_port_ref at, struct to_port_ref from)
{
	const size_t dst = (size_t)at.server * plan->slots + 1 + at.port;

	to_spf_grow(spf, graph, from.server, at.server);
	for (uint32_t x = 0; x < graph->n; x++) {
		struct to_nexthop hops[TO_NEIGHBOURS_MAX + 1];
		unsigned int n = 0;
		int group;

		if (x == at.server || spf->distance[x] == TO_DISTANCE_NONE)
			continue;
		for (uint64_t left = spf->choices[x]; left; left &= left - 1)
			hops[n++] = to_nexthop_on(plan, graph, graph->out[x] + __builtin_ctzll(left));
		if (x == from.server)
			hops[n++] = (struct to_nexthop){ .port = from.port, .weight = 1 };
		group = to_plan_add_group(&plan->tables[x], hops, n);
		if (group < 0)
			return group;
		plan->tables[x].route[dst] = group;
	}
	return 0;
}

/* All that servers of @next send each other, as transfers: there are no rings. */
static struct to_demand *drain_transfers_of(const struct to_plan *next)
{
	struct to_rings rings = to_allreduce_of(next);
	struct to_demand *demand = to_demand_copy(next->demand);

	if (!demand)
		return NULL;
	to_allreduce_add(&rings, 1, demand->mp);
	for (unsigned int g = 0; g < demand->n_groups; g++)
		free(demand->groups[g].members);
	demand->n_groups = 0;
	return demand;
}

/* The tables, when @plan has only the links that stay; then it gets @all. */
static int drain_fill(struct to_plan *plan, const struct to_graph *graph, struct to_spf *spf,
		      unsigned int all, struct to_error *err)
{
	struct to_cluster *cluster = plan->cluster;
	unsigned int kept = cluster->n_links;
	int ret = to_routing_fill(plan, TO_EFFORT_MIN, err);

	cluster->n_links = all;
	if (plan->no_buffer_cycles)	/* the way down to such a port would lead up at its end */
		return ret;
	for (unsigned int l = kept; !ret && l < all; l++) {
		const struct to_link *link = &cluster->links[l];

		ret = drain_route_cut_port(plan, graph, spf, link->b, link->a);
		if (!ret && cluster->link_mode == TO_LINKS_DUPLEX)
			ret = drain_route_cut_port(plan, graph, spf, link->a, link->b);
	}
	return ret;
}

/* Pairs without a path. */
static unsigned int drain_waiting(const struct to_plan *plan)
{
	const unsigned int n = plan->cluster->n_servers;
	unsigned int pairs = 0;

	for (uint32_t x = 0; x < n; x++)
		for (uint32_t dst = 0; dst < n; dst++)
			pairs += x != dst && plan->tables[x].route[(size_t)dst * plan->slots] ==
					     TO_GROUP_NONE;
	return pairs;
}

/* The plan for the time of the next step. */
static int drain_add_plan(struct to_drain *drain, const struct to_plan *old,
			  const struct to_plan *next, const struct to_rewire_steps *steps,
			  struct to_error *err)
{
	const struct to_cluster *to = next->cluster;
	struct to_plan *plan = calloc(1, sizeof(*plan));
	struct to_graph *graph = NULL;
	struct to_spf spf = { 0 };
	unsigned int all, stay;
	struct to_cluster *c;
	int ret = -ENOMEM;

	if (!plan)
		goto out;
	c = plan->cluster = to_cluster_copy(old->cluster);
	plan->demand = drain_transfers_of(next);
	plan->seed = old->seed;
	plan->no_buffer_cycles = old->no_buffer_cycles && next->no_buffer_cycles;
	/* links that are about to be cut would be shorter: no bound of stretch */
	if (!c || !plan->demand)
		goto out;
	free(c->links);
	c->links = calloc(old->cluster->n_links + to->n_links + 1, sizeof(*c->links));
	if (!c->links)
		goto out;
	all = to_rewire_steps_links(steps, old->cluster, to->links, to->n_links, drain->n,
				    c->links, &stay);
	/* rings are gone, so nobody owns links */
	for (unsigned int l = 0; l < all; l++)
		c->links[l].ring = c->links[l].tree = -1;
	c->n_links = stay;
	graph = to_graph_new(c->n_servers, c->links, stay, c->link_mode);
	if (!graph || to_spf_init(&spf, graph))
		goto out;
	ret = drain_fill(plan, graph, &spf, all, err);
	if (!ret)
		ret = to_cross_connects_fill(plan, err);
	if (!ret)
		ret = to_plan_index(plan);
out:
	if (ret == -ENOMEM)
		to_error_set(err, ret, "out of memory");
	if (ret)
		to_plan_free(plan);
	else
		drain->plans[drain->n++] = plan;
	to_spf_free(&spf);
	to_graph_free(graph);
	return ret;
}

int to_drain_make(const struct to_plan *old, const struct to_plan *next,
		  struct to_drain *drain, struct to_error *err)
{
	const struct to_cluster *from = old->cluster, *to = next->cluster;
	struct to_rewire_steps steps;
	int ret = to_rewire_steps_make(from, to->links, to->n_links, &steps);

	*drain = (struct to_drain){ 0 };
	if (ret)
		return to_error_set(err, ret, "out of memory");
	for (unsigned int l = 0; l < from->n_links; l++)
		drain->n_cut += steps.cut[l] < steps.n;
	for (unsigned int l = 0; l < to->n_links; l++)
		drain->n_made += steps.made[l] < steps.n;
	drain->plans = calloc(steps.n + 1, sizeof(*drain->plans));
	if (!drain->plans)
		ret = to_error_set(err, -ENOMEM, "out of memory");
	while (!ret && drain->n < steps.n)
		ret = drain_add_plan(drain, old, next, &steps, err);
	if (!ret && !steps.whole)
		drain->n_waiting = drain_waiting(drain->plans[steps.n - 1]);
	if (ret)
		to_drain_free(drain);
	to_rewire_steps_free(&steps);
	return ret;
}

void to_drain_free(struct to_drain *drain)
{
	for (unsigned int i = 0; i < drain->n; i++)
		to_plan_free(drain->plans[i]);
	free(drain->plans);
	*drain = (struct to_drain){ 0 };
}
