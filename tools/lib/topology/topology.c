// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/effort.h"
#include "data/allreduce.h"
#include "data/port_loads.h"
#include "graph/ring.h"
#include "graph/spf.h"
#include "topology/builder.h"
#include "topology/crossconnect.h"
#include "topology/family.h"
#include "topology/spread.h"
#include "topology/topology.h"

#define TOPOLOGY_PARTS 2
#define TOPOLOGY_SCOUT 2	/* steps of effort that a look at every split does without */
#define FIXED_GAIN 0.99		/* of the time before: what is less is a gain */
#define FIXED_DONE UINT_MAX	/* no more rings for this group */

/* Seconds that @bytes, per arc, keep the busiest port busy; negative: -ENOMEM. */
static double topology_port_time(const struct to_cluster *cluster, const struct to_graph *graph,
				 const double *bytes)
{
	struct to_port_loads ports;
	double seconds;

	if (to_port_loads_init(&ports, graph, cluster))
		return -ENOMEM;
	to_port_loads_set(&ports, bytes);
	seconds = to_port_loads_seconds(&ports);
	to_port_loads_free(&ports);
	return seconds;
}

int to_topology_rate(struct to_topology *t, const struct to_cluster *cluster,
		     const struct to_demand *demand, const struct to_graph *graph)
{
	unsigned int n = graph->n, i, *parts = calloc(n, sizeof(*parts));
	struct to_spread spread = { 0 };
	struct to_spf spf = { 0 };
	struct to_rings rings = { t->layout, demand };
	double bytes = 0, room = 0, owned = 0, shared = 0;
	uint64_t *routed = to_allreduce_and_mp_routed(&rings, graph);
	uint64_t *mp = routed;		/* but for AllReduce that is routed */
	double *reduced = calloc(graph->n_arcs + 1, sizeof(*reduced));
	uint32_t root, x, a;
	int ret = -ENOMEM;

	if (routed && demand->n_groups)
		mp = malloc((size_t)n * n * sizeof(*mp));
	if (!routed || !mp || !reduced || !parts || to_spf_init(&spf, graph) ||
	    to_spread_init(&spread, graph, cluster, routed))
		goto out;
	ret = 0;
	to_demand_turn(routed, n);
	if (mp != routed) {
		memcpy(mp, demand->mp, (size_t)n * n * sizeof(*mp));
		to_demand_turn(mp, n);
	}
	t->byte_hops = 0;
	t->hops = 0;
	to_spread_parts(&spread, TOPOLOGY_PARTS, parts);
	to_allreduce_link_bytes(&rings, graph, reduced);
	for (a = 0; a < graph->n_arcs; a++) {
		to_spread_add(&spread, a, reduced[a]);
		bytes += reduced[a];
		room += 1 / spread.seconds_per_byte[a];
		owned = fmax(owned, reduced[a] * spread.seconds_per_byte[a]);
	}
	for (i = 0; i < demand->n_groups; i++)
		shared += 2 * (demand->groups[i].n_members - 1.0) * demand->groups[i].bytes;
	for (root = 0; root < n; root++) {
		to_spf_grow(&spf, graph, root, TO_SERVER_NONE);
		if (spf.n_reached < n) {
			ret = -ENOSPC;
			goto out;
		}
		for (i = 1; i < n; i++) {
			x = spf.order[i];
			t->hops += spf.distance[x];
			t->byte_hops += (double)routed[(size_t)root * n + x] * spf.distance[x];
			shared += (double)mp[(size_t)root * n + x] * spf.distance[x];
		}
		for (i = 0; i < parts[root]; i++)
			to_spread_demand(&spread, &spf, 1.0 / parts[root]);
	}
	t->time = topology_port_time(cluster, graph, spread.bytes);
	if (t->time < 0)
		ret = -ENOMEM;
	/* all links busy with shortest paths, or one with the ring or tree that owns it */
	t->bound = fmax(owned, (bytes + t->byte_hops) / room);
	t->shared_bound = fmin(t->bound, shared / room);
out:
	to_spread_free(&spread);
	to_spf_free(&spf);
	if (mp != routed)
		free(mp);
	free(routed);
	free(reduced);
	free(parts);
	return ret;
}

/*
 * Servers that all others need to stay strongly connected. @back has the links
 * reversed; it is @graph itself when links are duplex.
 */
static int topology_cuts(struct to_topology *t, const struct to_graph *graph,
			 const struct to_graph *back)
{
	struct to_spf spf;
	unsigned int others = graph->n - 1;
	uint32_t x, root;

	if (to_spf_init(&spf, graph))
		return -ENOMEM;
	for (x = 0; x < graph->n; x++) {
		root = x ? 0 : 1;
		t->cuts += to_graph_distances(graph, root, x, spf.distance, spf.order) < others ||
			   (back != graph && to_graph_distances(back, root, x, spf.distance,
								spf.order) < others);
	}
	to_spf_free(&spf);
	return 0;
}

static bool topology_better(const struct to_topology *a, const struct to_topology *b)
{
	if (a->cuts != b->cuts)
		return a->cuts < b->cuts;
	/* times are estimates: what differs less is equal */
	if (a->time < b->time * (1 - 1e-6) || b->time < a->time * (1 - 1e-6))
		return a->time < b->time;
	if (a->byte_hops != b->byte_hops)
		return a->byte_hops < b->byte_hops;
	return a->hops < b->hops;
}

/* The graph of simplex links, reversed. */
static struct to_graph *topology_reversed(const struct to_layout *layout, unsigned int n)
{
	struct to_link *links = malloc((layout->n_links + 1) * sizeof(*links));
	struct to_graph *graph = NULL;
	unsigned int i;

	for (i = 0; links && i < layout->n_links; i++)
		links[i] = (struct to_link){ .a = layout->links[i].b, .b = layout->links[i].a };
	if (links)
		graph = to_graph_new(n, links, layout->n_links, TO_LINKS_SIMPLEX);
	free(links);
	return graph;
}

/* What a search for topologies has, and what it found, the best first. */
struct topology_search {
	const struct to_cluster *cluster;
	const struct to_demand *demand;
	struct to_planner_knobs knobs;
	struct to_topology *found;
	unsigned int n_found;
};

/* Put @t in its place. Return: 0 or -ENOMEM. */
static int topology_keep(struct topology_search *s, struct to_topology *t)
{
	struct to_topology *more = reallocarray(s->found, s->n_found + 1, sizeof(*more));
	unsigned int i;

	if (!more)
		return -ENOMEM;
	s->found = more;
	for (i = s->n_found++; i && topology_better(t, &more[i - 1]); i--)
		more[i] = more[i - 1];
	more[i] = *t;
	memset(t, 0, sizeof(*t));
	return 0;
}

int to_topology_finish(struct to_topology *t, struct to_builder *b, struct to_error *err)
{
	enum to_link_mode mode = b->cluster->link_mode;
	struct to_graph *graph = NULL, *back = NULL;
	struct to_layout *layout = &b->layout;
	int ret = to_builder_connect(b);

	if (!ret)
		ret = to_builder_match(b);
	if (!ret)
		ret = to_builder_shorten(b);
	if (!ret)
		ret = to_crossconnect_assign_most(b->cluster, layout->links, &layout->n_links,
						  b->knobs.degree, err);
	if (ret)
		return ret;
	ret = -ENOMEM;
	graph = to_graph_new(b->n, layout->links, layout->n_links, mode);
	back = mode == TO_LINKS_DUPLEX ? graph : topology_reversed(layout, b->n);
	if (!graph || !back)
		goto out;
	ret = to_builder_share(b, graph);
	t->layout = to_layout_take(layout);
	if (!ret)
		ret = to_topology_rate(t, b->cluster, b->demand, graph);
	if (!ret)
		ret = topology_cuts(t, graph, back);
	if (ret)
		to_layout_free(&t->layout);
out:
	if (back != graph)
		to_graph_free(back);
	to_graph_free(graph);
	return ret;
}

/* One pass of Algorithm 1, with the family, the split and the backbone given. */
static int topology_try(struct topology_search *s, unsigned int rank, unsigned int reserve,
			unsigned int backbone, struct to_error *err)
{
	struct to_topology t = { .family = to_families[rank]->name, .rank = rank,
				 .backbone = backbone, .ports = reserve };
	struct to_builder b;
	int ret = to_builder_init(&b, s->cluster, s->demand, reserve, &s->knobs);

	if (!ret)
		ret = to_families[rank]->build(&b, backbone);
	if (!ret)
		ret = to_topology_finish(&t, &b, err);
	if (!ret)
		ret = topology_keep(s, &t);
	to_layout_free(&t.layout);
	to_builder_free(&b);
	return ret;
}

/*
 * What is tried beside the split: how many rings over all servers that belong
 * to no group. A single group over all servers connects them itself. Beside
 * other groups one such ring may be what connects them, or the groups all do
 * without own rings; without groups it is what the paper's one port for
 * AllReduce comes to, and takes the whole split.
 */
static bool topology_backbone(const struct to_demand *demand, bool reduces, unsigned int rings,
			      unsigned int most)
{
	if (reduces && demand->n_groups == 1 && demand->groups[0].n_members == demand->n)
		return rings == 0;
	return rings == most || (reduces && rings <= 1);
}

/* Every family, with @reserve ports for AllReduce. Return: 0 or -ENOMEM. */
static int topology_split(struct topology_search *s, unsigned int reserve, bool reduces,
			  struct to_error *why)
{
	bool duplex = s->cluster->link_mode == TO_LINKS_DUPLEX;
	unsigned int most = duplex && s->demand->n > 2 ? reserve / 2 : reserve, rings, i;
	int ret;

	for (rings = 0; rings <= most; rings++) {
		if (!topology_backbone(s->demand, reduces, rings, most))
			continue;
		for (i = 0; to_families[i]; i++) {
			if (s->knobs.family ? s->knobs.family != to_families[i] : to_families[i]->asked)
				continue;
			ret = topology_try(s, i, reserve, rings, why);
			if (ret && ret != -ENOSPC)
				return ret;
		}
	}
	return 0;
}

/* The best of every family that searches, again and with all effort. */
static int topology_search_more(struct topology_search *s, unsigned int effort,
				struct to_error *why)
{
	unsigned int rank, i;
	int ret;

	if (s->knobs.effort == effort)
		return 0;
	s->knobs.effort = effort;
	for (rank = 0; to_families[rank]; rank++) {
		for (i = 0; i < s->n_found && s->found[i].rank != rank; i++)
			;
		if (i == s->n_found || !to_families[rank]->searches)
			continue;
		ret = topology_try(s, rank, s->found[i].ports, s->found[i].backbone, why);
		if (ret && ret != -ENOSPC)
			return ret;
	}
	return 0;
}

int to_topology_find(const struct to_cluster *cluster,
		     const struct to_demand *demand, const struct to_planner_knobs *knobs,
		     struct to_topology **found, struct to_error *err)
{
	struct topology_search s = { .cluster = cluster, .demand = demand, .knobs = *knobs };
	const unsigned int degree = knobs->degree, effort = knobs->effort;
	bool duplex = cluster->link_mode == TO_LINKS_DUPLEX;
	bool pairs = !duplex || demand->n == 2, reduces = false;
	struct to_error why = { "" };
	unsigned int reserve, g;
	int ret = 0;

	s.knobs.effort = effort > TOPOLOGY_SCOUT ? effort - TOPOLOGY_SCOUT : TO_EFFORT_MIN;
	for (g = 0; g < demand->n_groups; g++) {
		pairs |= demand->groups[g].n_members == 2;
		reduces |= demand->groups[g].n_members > 1 && demand->groups[g].bytes;
	}
	for (reserve = 0; !ret && reserve <= degree; reserve++) {
		/* rings of more than two servers take two duplex ports */
		if (!pairs && reserve % 2)
			continue;
		/* line 2: a port at least where there is AllReduce */
		if (reduces && !reserve && degree > 1)
			continue;
		ret = topology_split(&s, reserve, reduces, &why);
	}
	/* where ports are so few that rings take those that would connect all */
	if (!ret && !s.n_found && reduces && degree > 1)
		ret = topology_split(&s, 0, reduces, &why);
	if (!ret)
		ret = topology_search_more(&s, effort, &why);
	*found = s.found;
	if (!ret && s.n_found)
		return s.n_found;
	while (s.n_found)
		to_layout_free(&s.found[--s.n_found].layout);
	free(s.found);
	*found = NULL;
	if (ret)
		return to_error_set(err, ret, "out of memory");
	if (why.text[0])
		return to_error_set(err, -ENOSPC, "%s", why.text);
	if (knobs->family)
		return to_error_set(err, -ENOSPC,
				    "no topology of family %s connects %u servers with up to %u ports each",
				    knobs->family->name, demand->n, degree);
	return to_error_set(err, -ENOSPC,
			    "%u servers with up to %u ports each cannot be connected with %s links",
			    demand->n, degree, duplex ? "duplex" : "simplex");
}

/* A ring of its own links for @group. Return: 1, 0 when there is none, -ENOMEM. */
static int topology_claim(struct to_layout *layout, const struct to_graph *graph,
			  const struct to_demand *demand, unsigned int group, bool *usable,
			  uint32_t *links, bool duplex)
{
	const struct to_allreduce *members = &demand->groups[group];
	unsigned int n = members->n_members, jump, i;
	uint32_t *order = calloc(n, sizeof(*order));
	int ret = order ? to_ring_search(graph, usable, members->members, n, order, links, &jump)
			: -ENOMEM;

	if (ret != 1) {
		free(order);
		return ret;
	}
	for (i = 0; i < n; i++) {
		struct to_link *link = &layout->links[links[i]];

		usable[links[i]] = false;
		link->use = TO_LINK_ALLREDUCE;
		link->ring = layout->n_rings;
	}
	layout->rings[layout->n_rings++] = (struct to_ring){
		.group = group, .jump = jump, .n = n, .order = order, .reverse = duplex && n > 2 };
	return 1;
}

/* Is there a path from every server to every other? */
static int topology_connected(const struct to_cluster *cluster, const struct to_graph *graph,
			      struct to_error *err)
{
	struct to_spf spf;
	uint32_t root, x;
	int ret = 0;

	if (to_spf_init(&spf, graph))
		return -ENOMEM;
	for (root = 0; !ret && root < graph->n; root++) {
		if (to_graph_distances(graph, root, TO_SERVER_NONE, spf.distance, spf.order) ==
		    graph->n)
			continue;
		for (x = 0; spf.distance[x] != TO_DISTANCE_NONE; x++)
			;
		ret = to_error_set(err, -ENOTCONN, "the links do not lead from %s to %s",
				   cluster->servers[x].name, cluster->servers[root].name);
	}
	to_spf_free(&spf);
	return ret;
}

int to_topology_add_rings(const struct to_cluster *cluster, const struct to_demand *demand,
			  struct to_layout *layout, const unsigned int *most)
{
	struct to_builder b = { .cluster = cluster, .demand = demand, .n = cluster->n_servers,
				.duplex = cluster->link_mode == TO_LINKS_DUPLEX,
				.layout = to_layout_take(layout) };
	unsigned int *rings = calloc(demand->n_groups + 1, sizeof(*rings)), i, g, at;
	bool *usable = calloc(b.layout.n_links + 1, sizeof(*usable));
	uint32_t *links = calloc(b.n, sizeof(*links));
	struct to_ring *room = reallocarray(b.layout.rings, b.layout.n_rings + b.layout.n_links +
					    demand->n_groups + 1, sizeof(*room));
	struct to_graph *graph = NULL;
	int ret = -ENOMEM;

	b.layout.rings = room ? room : b.layout.rings;
	if (!rings || !usable || !links || !room)
		goto out;
	for (i = 0; i < b.layout.n_links; i++)
		usable[i] = b.layout.links[i].ring < 0 && b.layout.links[i].tree < 0;
	for (i = 0; i < b.layout.n_rings; i++)
		rings[b.layout.rings[i].group]++;
	for (i = 0; i < b.layout.n_trees; i++)
		rings[b.layout.trees[i].group] = FIXED_DONE;
	graph = to_graph_new(b.n, b.layout.links, b.layout.n_links, cluster->link_mode);
	if (!graph)
		goto out;
	for (;;) {
		const struct to_allreduce *group;

		/* one ring at a time, to the group with most bytes for each it has */
		for (g = 0, at = demand->n_groups; g < demand->n_groups; g++) {
			group = &demand->groups[g];
			if (rings[g] == FIXED_DONE || group->n_members < 2 ||
			    (most && rings[g] >= most[g]))
				continue;
			if (at == demand->n_groups || group->bytes / (1 + rings[g]) >
			    demand->groups[at].bytes / (1 + rings[at]))
				at = g;
		}
		if (at == demand->n_groups)
			break;
		ret = topology_claim(&b.layout, graph, demand, at, usable, links, b.duplex);
		if (ret < 0)
			goto out;
		rings[at] = ret ? rings[at] + 1 : FIXED_DONE;
	}
	ret = to_builder_share(&b, graph);
out:
	to_graph_free(graph);
	free(rings);
	free(usable);
	free(links);
	*layout = to_layout_take(&b.layout);
	return ret;
}

/* Seconds that the AllReduce of @layout keeps the busiest port busy; negative: -ENOMEM. */
static double topology_allreduce_time(const struct to_cluster *cluster,
				      const struct to_demand *demand,
				      const struct to_layout *layout, const struct to_graph *graph)
{
	struct to_rings rings = { *layout, demand };
	double *bytes = calloc(graph->n_arcs + 1, sizeof(*bytes)), seconds = -ENOMEM;

	if (bytes) {
		to_allreduce_link_bytes(&rings, graph, bytes);
		seconds = topology_port_time(cluster, graph, bytes);
	}
	free(bytes);
	return seconds;
}

int to_topology_share_ports(const struct to_cluster *cluster, const struct to_demand *demand,
			    struct to_layout *layout, const struct to_graph *graph)
{
	unsigned int *most = calloc(demand->n_groups + 1, sizeof(*most)), ports = 1, n, g;
	struct to_layout best = { 0 };
	double least = INFINITY;
	int ret = most ? 0 : -ENOMEM;

	for (n = 0; n < cluster->n_servers; n++)
		if (cluster->servers[n].n_ports > ports)
			ports = cluster->servers[n].n_ports;
	for (n = 1; !ret && n <= ports; n++) {
		struct to_layout next;
		double seconds;

		for (g = 0; g < demand->n_groups; g++)
			most[g] = n;
		ret = to_layout_copy(&next, layout);
		if (!ret)
			ret = to_topology_add_rings(cluster, demand, &next, most);
		seconds = ret ? 0 : topology_allreduce_time(cluster, demand, &next, graph);
		if (seconds < 0)
			ret = -ENOMEM;
		if (!ret && seconds < least * FIXED_GAIN) {
			struct to_layout last = best;

			best = next;
			next = last;
			least = seconds;
		}
		to_layout_free(&next);
	}
	free(most);
	if (ret) {
		to_layout_free(&best);
		return ret;
	}
	to_layout_free(layout);
	*layout = best;
	return 0;
}

int to_topology_fixed(const struct to_cluster *cluster,
		      const struct to_demand *demand,
		      struct to_layout *layout, struct to_error *err)
{
	struct to_graph *graph = to_graph_new(cluster->n_servers, cluster->links, cluster->n_links,
					      cluster->link_mode);
	const struct to_layout bare = { .n_links = cluster->n_links, .links = cluster->links };
	int ret = graph ? topology_connected(cluster, graph, err) : -ENOMEM;

	*layout = (struct to_layout){ 0 };
	if (!ret)
		ret = to_layout_copy(layout, &bare);
	for (unsigned int i = 0; !ret && i < layout->n_links; i++) {
		layout->links[i].use = TO_LINK_FIXED;
		layout->links[i].ring = layout->links[i].tree = -1;
	}
	if (!ret && cluster->n_packet_switches)
		ret = to_topology_share_ports(cluster, demand, layout, graph);
	else if (!ret)
		ret = to_topology_add_rings(cluster, demand, layout, NULL);
	to_graph_free(graph);
	if (ret)
		to_layout_free(layout);
	return ret;
}
