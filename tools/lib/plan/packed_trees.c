// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/packed_trees.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/effort.h"
#include "data/port_loads.h"
#include "graph/recursive_halving.h"
#include "graph/shallow_trees.h"
#include "graph/tree_packing.h"
#include "routing/link_loads.h"

#define TREES_MOST 64		/* of a group */
#define TREES_PASSES 16		/* over all trees of a packing */
#define TREES_STEPS 8e6		/* turns of packing and routing, for each server and link */
#define TREES_TURNS_MAX 3
#define TREES_GAIN 0.9999	/* times the time before, that trees are worth */
#define TREES_GAIN_TURN 0.999	/* times the time before, that a further turn is worth */
#define TREES_LATENCY 0.1	/* of the time of bytes, that is worth shallow trees */
#define TREES_BOUND 1.001	/* times the bound, that is as good */
/*
 * Trees around MP transfers leave links idle while there are none of these, so that
 * AllReduce alone takes longer: times the time of trees that share all links evenly.
 */
#define TREES_AROUND 0.95

/*
 * What arcs of a graph are worth to trees. A PCIe link is divided among the arcs that cross
 * it, as if trees put equal bytes on them.
 */
struct trees_arcs {
	double *each;		/* per arc, seconds per byte */
	double *busy;		/* per arc, seconds that MP transfers keep it busy */
};

/* MP bytes on all arcs of @graph, to be freed; NULL when out of memory. */
static double *trees_mp(const struct to_plan *plan, struct to_graph *graph)
{
	double *mp = calloc(2 * (size_t)graph->n_arcs + 1, sizeof(*mp));
	struct to_forwarding f = { 0 };
	int ret = mp ? to_forwarding_init(&f, plan, graph) : -ENOMEM;

	if (!ret)
		ret = to_link_loads(&f, mp + graph->n_arcs, mp);
	to_forwarding_free(&f);
	if (!ret)
		return mp;
	free(mp);
	return NULL;
}

/* Per arc, seconds that @bytes keep it or a PCIe link at its ends busy, into @seconds. */
static void trees_seconds(struct to_port_loads *ports, const struct to_cluster *cluster,
			  const double *bytes, double *seconds)
{
	to_port_loads_set(ports, bytes);
	for (uint32_t a = 0; a < ports->graph->n_arcs; a++) {
		seconds[a] = bytes[a] * to_graph_seconds_per_byte(ports->graph, cluster, a);
		for (uint32_t i = ports->first[a]; i < ports->first[a + 1]; i++)
			if (ports->way[i] >= ports->n_ports)
				seconds[a] = fmax(seconds[a], to_port_loads_way_seconds(ports, ports->way[i]));
	}
}

/* Return: 0 or -ENOMEM; @arcs is to be freed by trees_arcs_free(). */
static int trees_arcs_init(struct trees_arcs *arcs, const struct to_plan *plan,
			   struct to_graph *graph)
{
	double *mp = trees_mp(plan, graph);
	struct to_port_loads ports = { 0 };
	int ret = mp ? to_port_loads_init(&ports, graph, plan->cluster) : -ENOMEM;

	arcs->each = calloc(graph->n_arcs + 1, sizeof(*arcs->each));
	arcs->busy = calloc(graph->n_arcs + 1, sizeof(*arcs->busy));
	if (!ret && arcs->each && arcs->busy) {
		trees_seconds(&ports, plan->cluster, mp, arcs->busy);
		for (uint32_t a = 0; a < graph->n_arcs; a++)
			mp[a] = 1;
		trees_seconds(&ports, plan->cluster, mp, arcs->each);
	} else {
		ret = -ENOMEM;
	}
	to_port_loads_free(&ports);
	free(mp);
	return ret;
}

static void trees_arcs_free(struct trees_arcs *arcs)
{
	free(arcs->each);
	free(arcs->busy);
}

/*
 * Seconds that MP transfers keep the busiest arc from @x to @y busy.
 * @spb: gets the seconds per byte of hops that all arcs there share alike, 0 for none
 */
static double trees_direction(const struct to_graph *graph, const struct trees_arcs *of,
			      uint32_t x, uint32_t y, double *spb)
{
	double busy = 0, slowest = 0;
	unsigned int arcs = 0;
	uint32_t a;

	for (a = graph->out[x]; a < graph->out[x + 1]; a++) {
		if (graph->to[a] != y)
			continue;
		arcs++;
		slowest = fmax(slowest, of->each[a]);
		busy = fmax(busy, of->busy[a]);
	}
	*spb = arcs ? slowest / arcs : 0;
	return busy;
}

static int trees_compare(const void *a, const void *b)
{
	const struct to_packing_edge *x = a, *y = b;

	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return (x->b > y->b) - (x->b < y->b);
}

/*
 * An edge for each pair of servers that links join both ways: as fast as these in the
 * slower direction, as busy as the busiest of them.
 */
static int trees_edges(const struct to_plan *plan, struct to_packing *packing)
{
	const struct to_cluster *c = plan->cluster;
	struct to_graph *graph = to_graph_new(c->n_servers, c->links, c->n_links, c->link_mode);
	struct trees_arcs arcs = { 0 };
	uint32_t *seen = calloc(c->n_servers, sizeof(*seen)), x, y, a;
	int ret = graph ? trees_arcs_init(&arcs, plan, graph) : -ENOMEM;

	packing->n = c->n_servers;
	packing->edges = graph ? calloc(graph->n_arcs + 1, sizeof(*packing->edges)) : NULL;
	if (!seen || !packing->edges)
		ret = -ENOMEM;
	for (x = 0; !ret && x < graph->n; x++) {
		for (a = graph->out[x]; a < graph->out[x + 1]; a++) {
			double forth, back, busy_forth, busy_back;

			y = graph->to[a];
			if (y < x || seen[y] == x + 1)
				continue;
			seen[y] = x + 1;
			busy_forth = trees_direction(graph, &arcs, x, y, &forth);
			busy_back = trees_direction(graph, &arcs, y, x, &back);
			if (back > 0)
				packing->edges[packing->n_edges++] = (struct to_packing_edge){
					.a = x, .b = y, .seconds_per_byte = fmax(forth, back),
					.busy = fmax(busy_forth, busy_back) };
		}
	}
	/* the same links get the same trees, in whatever order they are */
	if (packing->n_edges)
		qsort(packing->edges, packing->n_edges, sizeof(*packing->edges), trees_compare);
	to_graph_free(graph);
	trees_arcs_free(&arcs);
	free(seen);
	return ret;
}

/* Links of the slowest edge's speed that all edges come to. */
static unsigned int trees_links(const struct to_packing *packing)
{
	double slowest = 0, links = 0;
	unsigned int e;

	for (e = 0; e < packing->n_edges; e++)
		slowest = fmax(slowest, packing->edges[e].seconds_per_byte);
	for (e = 0; e < packing->n_edges; e++)
		links += slowest / packing->edges[e].seconds_per_byte;
	return links;
}

static void trees_free(struct to_packing *packing)
{
	unsigned int g;

	for (g = 0; packing->groups && g < packing->n_groups; g++) {
		free(packing->groups[g].shares);
		free(packing->groups[g].parents);
	}
	free(packing->groups);
	free(packing->edges);
}

/*
 * @around: MP transfers, else all links alike
 * @shallow: so many trees of shortest paths for each group, 0 for packed ones
 */
static int trees_pack(const struct to_plan *plan, uint64_t seed, bool around,
		      unsigned int shallow, struct to_packing *packing)
{
	const struct to_demand *demand = plan->demand;
	unsigned int g, e;
	int ret;

	*packing = (struct to_packing){ .passes = TREES_PASSES, .seed = seed };
	packing->groups = calloc(demand->n_groups + 1, sizeof(*packing->groups));
	ret = packing->groups ? trees_edges(plan, packing) : -ENOMEM;
	for (e = 0; !around && e < packing->n_edges; e++)
		packing->edges[e].busy = 0;
	for (g = 0; !ret && g < demand->n_groups; g++) {
		const struct to_allreduce *group = &demand->groups[g];
		struct to_packing_group *to = &packing->groups[packing->n_groups];

		if (group->n_members < 2)
			continue;
		packing->n_groups++;
		*to = (struct to_packing_group){
			.n_members = group->n_members, .members = group->members,
			.bytes = group->bytes, .n_trees = TREES_MOST };
		if (!around && demand->n_groups == 1 && group->n_members == demand->n)
			to->n_trees = to_tree_packing_count(demand->n, trees_links(packing),
							    TREES_MOST);
		if (shallow)
			to->n_trees = shallow;
		to->parents = calloc((size_t)to->n_trees * to->n_members, sizeof(*to->parents));
		to->shares = calloc(to->n_trees, sizeof(*to->shares));
		if (!to->parents || !to->shares)
			ret = -ENOMEM;
	}
	if (ret)
		return ret;
	return shallow ? to_shallow_trees(packing) : to_tree_packing(packing);
}

/* One tree of @group: row @k of @from. Return: 0 or -ENOMEM. */
static int trees_copy(struct to_allreduce_tree *tree, unsigned int group,
		      const struct to_packing_group *from, unsigned int k)
{
	unsigned int n = from->n_members, i;
	const uint32_t *up = from->parents + (size_t)k * n;

	*tree = (struct to_allreduce_tree){ .group = group, .n = n, .share = from->shares[k] };
	tree->parents = calloc(n, sizeof(*tree->parents));
	if (!tree->parents)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		tree->parents[i] = up[i] == i ? TO_SERVER_NONE : from->members[up[i]];
	return 0;
}

/* The links of @plan, owned by none. Return: 0 or -ENOMEM. */
static int trees_links_alone(const struct to_plan *plan, struct to_layout *layout)
{
	const struct to_layout bare = { .n_links = plan->cluster->n_links,
					.links = plan->cluster->links };
	int ret = to_layout_copy(layout, &bare);

	for (unsigned int i = 0; !ret && i < layout->n_links; i++) {
		layout->links[i].ring = layout->links[i].tree = -1;
		if (layout->links[i].use != TO_LINK_FIXED)
			layout->links[i].use = TO_LINK_ALLREDUCE;
	}
	return ret;
}

/* These, and the trees of @packing. */
static int trees_layout(const struct to_plan *plan, const struct to_packing *packing,
			struct to_layout *layout)
{
	unsigned int n_trees = 0, g, k, i;
	struct to_allreduce_tree *trees;
	int ret = trees_links_alone(plan, layout);

	for (i = 0; i < packing->n_groups; i++)
		n_trees += packing->groups[i].n_trees;
	trees = ret ? NULL : reallocarray(layout->trees, n_trees + 1, sizeof(*trees));
	if (!trees) {
		to_layout_free(layout);
		return -ENOMEM;
	}
	layout->trees = trees;
	for (g = 0, i = 0; !ret && i < packing->n_groups; g++) {
		const struct to_packing_group *group = &packing->groups[i];

		if (plan->demand->groups[g].n_members < 2)
			continue;
		for (k = 0; !ret && k < group->n_trees; k++)
			ret = trees_copy(&trees[layout->n_trees++], g, group, k);
		i++;
	}
	if (ret)
		to_layout_free(layout);
	return ret;
}

/* A plan for the same demand on the same servers, still without links. */
static struct to_plan *trees_plan(const struct to_plan *plan)
{
	struct to_plan *other = calloc(1, sizeof(*other));

	if (!other)
		return NULL;
	other->seed = plan->seed;
	other->max_stretch = plan->max_stretch;
	other->no_buffer_cycles = plan->no_buffer_cycles;
	other->latency = plan->latency;
	other->cluster = to_cluster_copy(plan->cluster);
	other->demand = to_demand_copy(plan->demand);
	/* their cross-connects stay too */
	other->dark = calloc(plan->n_dark + 1, sizeof(*other->dark));
	for (; other->dark && other->n_dark < plan->n_dark; other->n_dark++)
		other->dark[other->n_dark] = plan->dark[other->n_dark];
	if (other->cluster && other->demand && other->dark)
		return other;
	to_plan_free(other);
	return NULL;
}

/* Seconds that MP transfers keep a link busy at least. */
static double trees_mp_bound(const struct to_plan *plan, const struct to_figures *figures)
{
	double fastest = 1;
	unsigned int x, q;

	for (x = 0; x < plan->cluster->n_servers; x++)
		for (q = 0; q < plan->cluster->servers[x].n_ports; q++)
			fastest = fmax(fastest, plan->cluster->servers[x].ports[q].bandwidth);
	return figures->max_mp_link_load_bound * 8 / fastest;
}

/*
 * Whether trees go around MP transfers of whatever links: that depends on the demand and the
 * ports alone, so that no topology is rated by other rules than the next.
 */
static bool trees_around(const struct to_plan *plan, const struct to_figures *figures)
{
	return figures->comm_time_bound <
	       (figures->allreduce_time_bound + trees_mp_bound(plan, figures)) * TREES_AROUND;
}

/*
 * Route @layout, which is taken over, and keep it if it takes less than @worth of the time.
 * Return: 0 or an errno.
 */
static int trees_take(struct to_plan *plan, struct to_layout *layout, unsigned int effort,
		      double worth, struct to_figures *figures, struct to_error *err)
{
	struct to_plan *other = trees_plan(plan);
	struct to_figures now = { 0 };
	int ret = other ? 0 : -ENOMEM;

	if (other)
		ret = to_plan_completion_primaries(other, layout, effort, err);
	else
		to_layout_free(layout);
	if (!ret)
		ret = to_predict_plan(other, &now);
	if (!ret && to_predict_time(&now) < to_predict_time(figures) * worth) {
		to_plan_swap_layouts(plan, other);
		*figures = now;
	}
	to_plan_free(other);
	return ret;
}

/*
 * One turn: pack, route, and keep what is faster. Return: whether a further one may gain, or an
 * errno.
 */
static int trees_turn(struct to_plan *plan, unsigned int effort, uint64_t seed, bool around,
		      unsigned int shallow, double worth, struct to_figures *figures,
		      struct to_error *err)
{
	double before = to_predict_time(figures), latency = figures->allreduce_latency.seconds;
	struct to_packing packing = { 0 };
	struct to_layout layout;
	int ret = trees_pack(plan, seed, around, shallow, &packing);

	/* what packing does not gain, routing will not */
	if (ret || packing.busiest >=
		   (around ? before : figures->allreduce_time + latency) * worth) {
		trees_free(&packing);
		return ret;
	}
	ret = trees_layout(plan, &packing, &layout);
	trees_free(&packing);
	if (!ret)
		ret = trees_take(plan, &layout, effort, worth, figures, err);
	return ret ? ret : to_predict_time(figures) < before * TREES_GAIN_TURN;
}

/* Is latency worth a change? */
static bool trees_wait(const struct to_figures *figures)
{
	return figures->allreduce_latency.seconds >
	       figures->comm_time * TREES_LATENCY + figures->allreduce_latency.bound;
}

/* Recursive halving, where links join all groups as it takes. Return: 0 or a negative errno. */
static int trees_halving(struct to_plan *plan, unsigned int effort, struct to_figures *figures,
			 struct to_error *err)
{
	const struct to_demand *demand = plan->demand;
	const struct to_cluster *c = plan->cluster;
	struct to_graph *graph = to_graph_new(c->n_servers, c->links, c->n_links, c->link_mode);
	int ret = graph ? 0 : -ENOMEM, linked = 1;
	struct to_layout layout = { 0 };
	struct to_bcube cube;

	if (!ret)
		ret = trees_links_alone(plan, &layout);
	for (unsigned int g = 0; !ret && linked && g < demand->n_groups; g++) {
		const struct to_allreduce *group = &demand->groups[g];

		if (group->n_members < 2)
			continue;
		linked = to_recursive_halving_find(group->n_members, figures->ports, &cube) &&
			 to_recursive_halving_linked(&cube, group->members, graph);
		if (linked)
			ret = to_recursive_halving_trees(&cube, group->members, g, &layout);
	}
	to_graph_free(graph);
	if (!ret && linked)
		return trees_take(plan, &layout, effort, TREES_GAIN, figures, err);
	to_layout_free(&layout);
	return ret;
}

/* Trees of shortest paths, few and many. Return: 0 or a negative errno. */
static int trees_shallow(struct to_plan *plan, unsigned int effort, struct to_figures *figures,
			 struct to_error *err)
{
	unsigned int counts[] = { 1, figures->ports, 4 * figures->ports }, i;
	int ret = 0;

	for (i = 0; ret >= 0 && i < sizeof(counts) / sizeof(*counts); i++)
		if (trees_wait(figures))
			ret = trees_turn(plan, effort, 1, false, counts[i], TREES_GAIN, figures,
					 err);
	return ret < 0 ? ret : 0;
}

/* One turn after the other while they gain. Return: 0 or a negative errno. */
static int trees_turns(struct to_plan *plan, unsigned int effort, bool around, double worth,
		       struct to_figures *figures, struct to_error *err)
{
	double size = (double)plan->cluster->n_servers * plan->cluster->n_links;
	unsigned int turns = fmin(fmax(to_effort_steps(TREES_STEPS, effort) / size, 1),
				  TREES_TURNS_MAX), turn;
	int ret = to_predict_time(figures) > figures->comm_time_bound * TREES_BOUND &&
		  (around || figures->allreduce_time >
			     figures->allreduce_time_bound * TREES_BOUND);

	for (turn = 0; ret > 0 && turn < (around ? turns : 1); turn++)
		ret = trees_turn(plan, effort, 1 + turn, around, 0, turn ? TREES_GAIN : worth,
				 figures, err);
	return ret < 0 ? ret : 0;
}

int to_packed_trees_try(struct to_plan *plan, bool fixed, unsigned int effort,
			struct to_figures *figures, struct to_error *err)
{
	const bool around = trees_around(plan, figures);
	int ret = trees_turns(plan, effort, around, TREES_GAIN, figures, err);

	if (!ret && fixed && !around)
		ret = trees_turns(plan, effort, true, TREES_AROUND, figures, err);
	if (!ret && trees_wait(figures))
		ret = trees_halving(plan, effort, figures, err);
	if (!ret)
		ret = trees_shallow(plan, effort, figures, err);
	/* where links lead one way only there is none */
	return ret == -ENOTCONN ? 0 : ret;
}
