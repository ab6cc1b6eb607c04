// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/effort.h"
#include "data/allreduce.h"
#include "plan/rewire.h"
#include "topology/crossconnect.h"

static const struct to_port *rewire_port(const struct to_plan *plan, struct to_port_ref at)
{
	return &plan->cluster->servers[at.server].ports[at.port];
}

static bool rewire_switched(const struct to_plan *plan, const struct to_link *l)
{
	return rewire_port(plan, l->a)->optical_switch >= 0;
}

int to_rewire_none(const struct to_plan *plan, struct to_topology *t)
{
	const struct to_layout now = to_plan_layout(plan);

	*t = (struct to_topology){ .family = "" };
	return to_layout_copy(&t->layout, &now);
}

/* Give @layout the rings and trees of @plan instead of its own. Return: 0 or -ENOMEM. */
static int rewire_copy_rings(const struct to_plan *plan, struct to_layout *layout)
{
	struct to_layout wanted = to_plan_layout(plan), copy;
	int ret;

	wanted.n_links = layout->n_links;
	wanted.links = layout->links;
	ret = to_layout_copy(&copy, &wanted);
	if (ret)
		return ret;
	to_layout_free(layout);
	*layout = copy;
	return 0;
}

/* Links that a ring or tree is about to own. */
struct claim {
	struct to_layout *layout;
	const struct to_graph *graph;
	unsigned int n;
	uint32_t *links, *from;
	bool *taken;	/* per link */
};

/* A link from @x to @y that nobody owns. Return: is there one? */
static bool rewire_claim_hop(struct claim *c, uint32_t x, uint32_t y)
{
	const struct to_graph *g = c->graph;
	uint32_t a;

	for (a = g->out[x]; a < g->out[x + 1]; a++) {
		const struct to_link *l = &c->layout->links[g->link[a]];

		if (g->to[a] != y || c->taken[g->link[a]] || l->ring >= 0 || l->tree >= 0)
			continue;
		c->taken[g->link[a]] = true;
		c->from[c->n] = x;
		c->links[c->n++] = g->link[a];
		return true;
	}
	return false;
}

/* Own what was claimed, or let it go when not @all hops have a link. */
static void rewire_claim_end(struct claim *c, bool all, int ring, int tree)
{
	while (c->n--) {
		struct to_link *l = &c->layout->links[c->links[c->n]];

		c->taken[c->links[c->n]] = false;
		if (!all)
			continue;
		/* the direction of a link tells that of the ring */
		if (l->a.server != c->from[c->n]) {
			struct to_port_ref a = l->a;

			l->a = l->b;
			l->b = a;
		}
		l->use = TO_LINK_ALLREDUCE;
		l->ring = ring;
		l->tree = tree;
	}
	c->n = 0;
}

static void rewire_claim_ring(struct claim *c, unsigned int index, bool duplex)
{
	const struct to_ring *ring = &c->layout->rings[index];
	unsigned int hops = ring->n == 2 && duplex ? 1 : ring->n, i;
	bool all = true;

	for (i = 0; all && i < hops; i++)
		all = rewire_claim_hop(c, ring->order[i], ring->order[(i + 1) % ring->n]);
	rewire_claim_end(c, all, index, -1);
}

static void rewire_claim_tree(struct claim *c, const struct to_demand *demand, unsigned int index,
			      bool duplex)
{
	const struct to_allreduce_tree *tree = &c->layout->trees[index];
	const uint32_t *members = demand->groups[tree->group].members;
	bool all = true;
	unsigned int i;

	for (i = 0; all && i < tree->n; i++) {
		if (tree->parents[i] == TO_SERVER_NONE)
			continue;
		all = rewire_claim_hop(c, members[i], tree->parents[i]) &&
		      (duplex || rewire_claim_hop(c, tree->parents[i], members[i]));
	}
	rewire_claim_end(c, all, -1, index);
}

/* Rings and trees own links where all their hops have one. 0 or -ENOMEM. */
static int rewire_claim(const struct to_plan *plan, struct to_layout *layout,
			const struct to_graph *graph)
{
	const struct to_rings rings = { *layout, plan->demand };
	bool duplex = plan->cluster->link_mode == TO_LINKS_DUPLEX;
	struct claim c = { .layout = layout, .graph = graph };
	int ret = -ENOMEM;
	unsigned int i;

	c.links = calloc(2 * ((size_t)layout->n_links + 1), sizeof(*c.links));
	c.taken = calloc(layout->n_links + 1, sizeof(*c.taken));
	if (c.links && c.taken) {
		c.from = c.links + layout->n_links + 1;
		for (i = 0; i < layout->n_rings; i++)
			if (!to_allreduce_ring_linked(&rings, i))
				rewire_claim_ring(&c, i, duplex);
		for (i = 0; i < layout->n_trees; i++)
			if (!to_allreduce_tree_linked(&rings, i))
				rewire_claim_tree(&c, plan->demand, i, duplex);
		ret = 0;
	}
	free(c.links);
	free(c.taken);
	return ret;
}

/*
 * Short paths from the first server to all others, or @back from these to it, over
 * @needed links as far as they lead. @found, @order: scratch, per server.
 */
static void rewire_reach(const struct to_graph *g, bool back, bool *found, uint32_t *order,
			 bool *needed)
{
	const uint32_t *offsets = back ? g->in : g->out;
	unsigned int n = 1, all = 0, at = 0;	/* servers whose links, needed links were seen */
	uint32_t k;

	memset(found, 0, g->n * sizeof(*found));
	order[0] = 0;
	found[0] = true;
	while (all < n) {
		bool any = at == n, leads = false;
		uint32_t x = order[any ? all : at];

		for (k = offsets[x]; k < offsets[x + 1] && !(any && leads); k++) {
			uint32_t arc = back ? g->in_arc[k] : k;
			uint32_t next = back ? g->from[arc] : g->to[arc];

			if (found[next] || !(any || needed[g->link[arc]]))
				continue;
			leads = true;
			found[next] = true;
			needed[g->link[arc]] = true;
			order[n++] = next;
		}
		at += !any;
		all += any && !leads;
	}
}

/*
 * The links from @first on into @links, those that rings and trees own and those
 * without which some servers are not reached before all others.
 * Return: how many these are, or -ENOMEM.
 */
static int rewire_needed(const struct to_layout *layout, const struct to_graph *graph,
			 unsigned int first, struct to_link *links)
{
	uint32_t *order = calloc(graph->n, sizeof(*order));
	bool *found = calloc(graph->n, sizeof(*found));
	bool *needed = calloc(layout->n_links + 1, sizeof(*needed));
	unsigned int n = 0, n_needed, i;
	int ret = -ENOMEM;

	if (!order || !found || !needed)
		goto out;
	for (i = 0; i < layout->n_links; i++)
		needed[i] = i < first || layout->links[i].ring >= 0 || layout->links[i].tree >= 0;
	rewire_reach(graph, false, found, order, needed);
	rewire_reach(graph, true, found, order, needed);
	for (i = first; i < layout->n_links; i++)
		if (needed[i])
			links[n++] = layout->links[i];
	n_needed = n;
	for (i = first; i < layout->n_links; i++)
		if (!needed[i])
			links[n++] = layout->links[i];
	ret = n_needed;
out:
	free(order);
	free(found);
	free(needed);
	return ret;
}

/*
 * Ports of new links, of which no switches carry all: leave some out.
 * Return: as to_crossconnect_assign().
 */
static int rewire_fit(const struct to_plan *plan, const struct to_graph *graph,
		      unsigned int n_fixed, struct to_layout *layout, struct to_error *err)
{
	const struct to_cluster *c = plan->cluster;
	unsigned int n = layout->n_links - n_fixed;
	struct to_link *links = calloc(n + 1, sizeof(*links));
	int ret = links ? rewire_needed(layout, graph, n_fixed, links) : -ENOMEM;

	if (ret >= 0)
		ret = to_crossconnect_reassign_most(c, c->links, c->n_links, links, ret, &n, err);
	if (!ret) {
		memcpy(layout->links + n_fixed, links, n * sizeof(*links));
		layout->n_links = n_fixed + n;
	}
	free(links);
	return ret;
}

/* Rings own links of @layout, and these get their ports. Return: as to_crossconnect_assign(). */
static int rewire_assign(const struct to_plan *plan, unsigned int n_fixed, struct to_layout *layout,
			 struct to_error *err)
{
	const struct to_cluster *c = plan->cluster;
	struct to_graph *graph = to_graph_new(c->n_servers, layout->links, layout->n_links,
					      c->link_mode);
	struct to_link *links = calloc(layout->n_links + 1, sizeof(*links));
	int ret = graph && links ? 0 : -ENOMEM;

	if (!ret) {
		memcpy(links, layout->links, layout->n_links * sizeof(*links));
		ret = rewire_claim(plan, layout, graph);
	}
	if (!ret)
		ret = to_crossconnect_reassign(c, c->links, c->n_links, layout->links + n_fixed,
					       layout->n_links - n_fixed, err);
	if (ret == -ENOSPC) {
		/* rings own of what is left then */
		memcpy(layout->links, links, layout->n_links * sizeof(*links));
		ret = rewire_fit(plan, graph, n_fixed, layout, err);
		to_graph_free(graph);
		graph = ret ? NULL : to_graph_new(c->n_servers, layout->links,
						  layout->n_links, c->link_mode);
		if (!ret)
			ret = graph ? rewire_claim(plan, layout, graph) : -ENOMEM;
	}
	to_graph_free(graph);
	free(links);
	return ret;
}

/*
 * Rings, ports and rating of new links, of which the first @n_fixed have their
 * ports.
 */
static int rewire_finish(const struct to_plan *plan, const struct to_demand *demand,
			 unsigned int n_fixed, struct to_topology *t, struct to_error *err)
{
	const struct to_cluster *c = plan->cluster;
	int ret = rewire_copy_rings(plan, &t->layout);
	struct to_graph *graph;

	if (!ret)
		ret = rewire_assign(plan, n_fixed, &t->layout, err);
	if (ret)
		return ret;
	graph = to_graph_new(c->n_servers, t->layout.links, t->layout.n_links, c->link_mode);
	ret = graph ? to_topology_rate(t, c, demand, graph) : -ENOMEM;
	to_graph_free(graph);
	if (ret == -ENOSPC)
		to_error_set(err, ret, "the links do not lead from every server to every other");
	return ret;
}

/* Links of every pair in @plan, n x n; to be freed. NULL when out of memory. */
static uint8_t *rewire_count(const struct to_plan *plan)
{
	const struct to_cluster *c = plan->cluster;
	size_t n = c->n_servers;
	uint8_t *count = calloc(n * n, sizeof(*count));
	unsigned int i;

	for (i = 0; count && i < c->n_links; i++) {
		uint32_t a = c->links[i].a.server, b = c->links[i].b.server;

		count[a * n + b]++;
		if (c->link_mode == TO_LINKS_DUPLEX)
			count[b * n + a]++;
	}
	return count;
}

/* A link of @plan that stays; one on no switch has ports of its own. */
static void rewire_stay(const struct to_plan *plan, struct to_builder *b, const struct to_link *l)
{
	if (!rewire_switched(plan, l)) {
		b->transmit[l->a.server]++;
		b->receive[l->b.server]++;
	}
	to_builder_link(b, l->a.server, l->b.server, l->use, l->ring);
	b->layout.links[b->layout.n_links - 1] = *l;
}

/* Ports on switches, and the links that stay, fixed ones first. Return: how many of these. */
static unsigned int rewire_begin(const struct to_plan *plan, struct to_builder *b, bool keep_rings)
{
	const struct to_cluster *c = plan->cluster;
	unsigned int n_fixed, i;
	uint32_t x;

	for (x = 0; x < c->n_servers; x++) {
		b->transmit[x] = 0;
		for (i = 0; i < c->servers[x].n_ports; i++)
			b->transmit[x] += c->servers[x].ports[i].optical_switch >= 0;
		b->receive[x] = b->transmit[x];
	}
	for (i = 0; i < c->n_links; i++) {
		struct to_link l = c->links[i];

		if (rewire_switched(plan, &l))
			continue;
		/* a ring or tree that is to be dropped has no part that stays */
		if (!keep_rings) {
			l.use = TO_LINK_FIXED;
			l.ring = l.tree = -1;
		}
		rewire_stay(plan, b, &l);
	}
	n_fixed = b->layout.n_links;
	for (i = 0; keep_rings && i < c->n_links; i++)
		if (rewire_switched(plan, &c->links[i]) &&
		    (c->links[i].ring >= 0 || c->links[i].tree >= 0))
			rewire_stay(plan, b, &c->links[i]);
	return n_fixed;
}

/* Most ports of a server. */
static unsigned int rewire_degree(const struct to_cluster *c)
{
	unsigned int degree = 0;
	uint32_t x;

	for (x = 0; x < c->n_servers; x++)
		if (c->servers[x].n_ports > degree)
			degree = c->servers[x].n_ports;
	return degree;
}

/* Ports of packet switches have more links than one. Return: 0 or -ENOMEM. */
static int rewire_make_room(const struct to_plan *plan, struct to_builder *b)
{
	const struct to_cluster *c = plan->cluster;
	size_t most = c->n_links + 1;
	struct to_link *links;

	for (uint32_t x = 0; x < c->n_servers; x++)
		most += c->servers[x].n_ports;
	links = reallocarray(b->layout.links, most, sizeof(*links));
	if (!links)
		return -ENOMEM;
	b->layout.links = links;
	return 0;
}

int to_rewire_reconfig(const struct to_plan *plan, bool keep_rings, bool spread,
		       const uint64_t *bytes, const struct to_demand *demand,
		       uint64_t seed, struct to_topology *topology,
		       struct to_error *err)
{
	struct to_rings rings = to_allreduce_of(plan);
	struct to_demand sent = { .n = demand->n };
	struct to_topology t = { .family = "" };
	struct to_reconfig r = { 0 };
	struct to_builder b;
	unsigned int n_fixed = 0, i;
	uint8_t *now = rewire_count(plan);
	int ret;

	rings.demand = demand;
	/* what rings send on links that they keep is satisfied */
	sent.mp = keep_rings ? to_allreduce_and_mp_routed(&rings, NULL) : (uint64_t *)bytes;
	ret = to_builder_init(&b, plan->cluster, &sent, 0, &(const struct to_planner_knobs){
		.degree = rewire_degree(plan->cluster), .effort = TO_EFFORT_MIN, .seed = seed });
	if (!now || !sent.mp)
		ret = -ENOMEM;
	if (!ret)
		ret = rewire_make_room(plan, &b);
	if (!ret) {
		n_fixed = rewire_begin(plan, &b, keep_rings);
		ret = to_reconfig_init(&r, &b, TO_DISCOUNT_EXPONENTIAL, now);
		r.spread = spread;
	}
	if (!ret)
		ret = to_reconfig_greedy(&r);
	if (!ret)
		ret = to_reconfig_repair(&r);
	if (ret == -ENOSPC)
		to_error_set(err, ret, "the ports on optical switches do not connect all servers");
	for (i = r.n_kept; !ret && i < b.layout.n_links; i++)
		b.layout.links[i].a.port = b.layout.links[i].b.port = TO_PORT_NONE;
	if (!ret) {
		t.layout = to_layout_take(&b.layout);
		ret = rewire_finish(plan, demand, n_fixed, &t, err);
	}
	if (!ret)
		*topology = t;
	else
		to_layout_free(&t.layout);
	to_reconfig_free(&r);
	to_builder_free(&b);
	if (keep_rings)
		free(sent.mp);
	free(now);
	return ret;
}

int to_rewire_find(const struct to_plan *plan, const uint64_t *bytes,
		   const struct to_demand *demand, unsigned int effort, uint64_t seed,
		   struct to_topology *topology, struct to_error *err)
{
	const struct to_demand sent = { .n = demand->n, .mp = (uint64_t *)bytes };
	const struct to_cluster *c = plan->cluster;
	const struct to_planner_knobs knobs = { .degree = rewire_degree(c), .effort = effort,
						.seed = seed };
	struct to_topology *found;
	uint32_t x;
	unsigned int i;
	int n, ret;

	for (x = 0; x < c->n_servers; x++)
		for (i = 0; i < c->servers[x].n_ports; i++)
			if (c->servers[x].ports[i].optical_switch < 0)
				return to_error_set(err, -ENOSPC, "%s:%s is on no optical switch",
						    c->servers[x].name, c->servers[x].ports[i].name);
	n = to_topology_find(c, &sent, &knobs, &found, err);
	if (n < 0)
		return n;
	ret = rewire_finish(plan, demand, 0, &found[0], err);
	if (!ret) {
		*topology = found[0];
		memset(&found[0], 0, sizeof(found[0]));
	}
	while (n)
		to_layout_free(&found[--n].layout);
	free(found);
	return ret;
}
