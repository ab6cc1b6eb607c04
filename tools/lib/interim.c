// SPDX-License-Identifier: GPL-2.0-or-later
#include "interim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "allreduce.h"
#include "crossconnect.h"
#include "effort.h"
#include "routing.h"
#include "tree.h"

static bool same_port(struct to_port_ref x, struct to_port_ref y)
{
	return x.server == y.server && x.port == y.port;
}

static bool has_link(const struct to_cluster *cluster, const struct to_link *link)
{
	bool duplex = cluster->link_mode == TO_LINKS_DUPLEX;

	for (unsigned int l = 0; l < cluster->n_links; l++) {
		const struct to_link *other = &cluster->links[l];

		if (same_port(other->a, link->a) && same_port(other->b, link->b))
			return true;
		if (duplex && same_port(other->a, link->b) && same_port(other->b, link->a))
			return true;
	}
	return false;
}

/* Kept links come first; returns how many. Rings are gone, so nobody owns them. */
static unsigned int sort_links(struct to_cluster *cluster, const struct to_cluster *next)
{
	unsigned int kept = 0;

	for (unsigned int l = 0; l < cluster->n_links; l++) {
		struct to_link link = cluster->links[l];

		link.ring = link.tree = -1;
		cluster->links[l] = link;
		if (has_link(next, &link)) {
			cluster->links[l] = cluster->links[kept];
			cluster->links[kept++] = link;
		}
	}
	return kept;
}

/* Whether there is a way from everybody to everybody. */
static bool reach_all(const struct to_graph *graph, struct to_tree *tree)
{
	for (uint32_t dst = 0; dst < graph->n; dst++) {
		to_tree_grow(tree, graph, dst, TO_SERVER_NONE);
		if (tree->n_reached < graph->n)
			return false;
	}
	return true;
}

/*
 * Routes to the port @at, whose link from @from is cut: to the server at the
 * other end by the @graph of the links that stay, then over the link.
 */
static int route_cut_port(struct to_plan *plan, const struct to_graph *graph,
			  struct to_tree *tree, struct to_port_ref at, struct to_port_ref from)
{
	const size_t dst = (size_t)at.server * plan->slots + 1 + at.port;

	to_tree_grow(tree, graph, from.server, at.server);
	for (uint32_t x = 0; x < graph->n; x++) {
		struct to_nexthop hops[TO_PORTS_MAX];
		unsigned int n = 0;
		int group;

		if (x == at.server || tree->distance[x] == TO_DISTANCE_NONE)
			continue;
		for (uint64_t left = tree->choices[x]; left; left &= left - 1)
			hops[n++] = (struct to_nexthop){
				.port = graph->port[graph->out[x] + __builtin_ctzll(left)],
				.weight = 1,
			};
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
static struct to_demand *transfers_of(const struct to_plan *next)
{
	struct to_rings rings = to_allreduce_of(next);
	struct to_demand *demand = to_demand_copy(next->demand);

	if (!demand)
		return NULL;
	to_allreduce_add(&rings, true, 1, demand->mp);
	for (unsigned int g = 0; g < demand->n_groups; g++)
		free(demand->groups[g].members);
	demand->n_groups = 0;
	return demand;
}

/* The tables, when @plan has only the links that stay; @all links it has then. */
static int fill(struct to_plan *plan, const struct to_graph *graph, struct to_tree *tree,
		unsigned int all, struct to_error *err)
{
	struct to_cluster *cluster = plan->cluster;
	unsigned int kept = cluster->n_links;
	int ret = to_routing_fill(plan, TO_EFFORT_MIN, err);

	cluster->n_links = all;
	for (unsigned int l = kept; !ret && l < all; l++) {
		const struct to_link *link = &cluster->links[l];

		ret = route_cut_port(plan, graph, tree, link->b, link->a);
		if (!ret && cluster->link_mode == TO_LINKS_DUPLEX)
			ret = route_cut_port(plan, graph, tree, link->a, link->b);
	}
	return ret;
}

int to_interim_make(const struct to_plan *old, const struct to_plan *next,
		    struct to_interim *interim, struct to_error *err)
{
	unsigned int all = old->cluster->n_links;
	struct to_plan *plan = calloc(1, sizeof(*plan));
	struct to_graph *graph = NULL;
	struct to_tree tree = { 0 };
	int ret = -ENOMEM;

	*interim = (struct to_interim){ 0 };
	if (!plan)
		goto out;
	plan->cluster = to_cluster_copy(old->cluster);
	plan->demand = transfers_of(next);
	plan->seed = old->seed;
	if (!plan->cluster || !plan->demand)
		goto out;
	interim->kept = sort_links(plan->cluster, next->cluster);
	interim->cut = all - interim->kept;
	plan->cluster->n_links = interim->kept;
	graph = to_graph_new(plan->cluster->n_servers, plan->cluster->links, interim->kept,
			     plan->cluster->link_mode);
	if (!graph || to_tree_init(&tree, graph))
		goto out;
	ret = 0;
	if (reach_all(graph, &tree)) {
		ret = fill(plan, graph, &tree, all, err);
		if (!ret)
			ret = to_crossconnect_fill(plan, err);
		if (!ret)
			ret = to_plan_index(plan);
		if (!ret) {
			interim->plan = plan;
			plan = NULL;
		}
	}
out:
	if (ret == -ENOMEM)
		to_error_set(err, ret, "out of memory");
	to_tree_free(&tree);
	to_graph_free(graph);
	to_plan_free(plan);
	return ret;
}

void to_interim_free(struct to_interim *interim)
{
	to_plan_free(interim->plan);
	*interim = (struct to_interim){ 0 };
}
