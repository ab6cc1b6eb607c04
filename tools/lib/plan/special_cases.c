// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/special_cases.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/effort.h"
#include "plan/plan_completion.h"
#include "topology/builder.h"
#include "topology/topology.h"

#define SPECIAL_CASES_ALL 2500	/* servers times links, up to which all are searched */
#define SPECIAL_CASES_PORTS 1.01	/* times as fast, that other links may make a plan */
#define SPECIAL_CASES_GAIN 0.999	/* times the time before, that another plan is worth */

/* One more ring of @b like @ring, or the same one backwards. Return: 0 or -ENOMEM. */
static int special_cases_ring(struct to_builder *b, const struct to_ring *ring, bool back)
{
	struct to_ring *copy = &b->layout.rings[b->layout.n_rings];
	unsigned int n = ring->n, i;

	*copy = *ring;
	copy->reverse &= b->duplex;
	copy->order = calloc(n, sizeof(*copy->order));
	if (!copy->order)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		copy->order[i] = ring->order[back ? n - 1 - i : i];
	if (back && ring->jump)
		copy->jump = n - ring->jump;
	b->layout.n_rings++;
	return 0;
}

/*
 * The rings of @from; of a duplex one simplex rings for each direction, but for two servers,
 * whose ring is the same backwards.
 * @forth, @back: get what each became
 */
static int special_cases_rings(struct to_builder *b, const struct to_layout *from, int *forth,
			       int *back)
{
	unsigned int r;
	int ret = 0;

	for (r = 0; !ret && r < from->n_rings; r++) {
		const struct to_ring *ring = &from->rings[r];

		forth[r] = b->layout.n_rings;
		back[r] = ring->n == 2 ? forth[r] : -1;
		ret = special_cases_ring(b, ring, false);
		if (ret || b->duplex || !ring->reverse || ring->n == 2)
			continue;
		back[r] = b->layout.n_rings;
		ret = special_cases_ring(b, ring, true);
	}
	return ret;
}

static int special_cases_trees(struct to_builder *b, const struct to_layout *from)
{
	struct to_layout *layout = &b->layout;
	unsigned int i;

	layout->trees = calloc(from->n_trees + 1, sizeof(*layout->trees));
	if (!layout->trees)
		return -ENOMEM;
	for (i = 0; i < from->n_trees; i++) {
		struct to_allreduce_tree *tree = &layout->trees[i];

		*tree = from->trees[i];
		tree->parents = calloc(tree->n, sizeof(*tree->parents));
		if (!tree->parents)
			return -ENOMEM;
		memcpy(tree->parents, from->trees[i].parents, tree->n * sizeof(*tree->parents));
		layout->n_trees++;
	}
	return 0;
}

/* The links of @from in their order, a simplex one for each of @directions. */
static void special_cases_links(struct to_builder *b, const struct to_layout *from,
				unsigned int directions, const int *forth, const int *back)
{
	unsigned int i;

	for (i = 0; i < from->n_links; i++) {
		const struct to_link *link = &from->links[i];
		uint32_t x = link->a.server, y = link->b.server;

		to_builder_link(b, x, y, link->use, link->ring < 0 ? -1 : forth[link->ring]);
		b->layout.links[b->layout.n_links - 1].tree = link->tree;
		if (directions < 2)
			continue;
		to_builder_link(b, y, x, link->use, link->ring < 0 ? -1 : back[link->ring]);
		b->layout.links[b->layout.n_links - 1].tree = link->tree;
	}
}

/*
 * The links of @special as links of @plan, with the ports that it had not.
 * @easier: how @special was found; whatever the search, the same special case gives the same
 *
 * Return: 0, -ENOMEM, or -ENOSPC when they do not fit.
 */
static int special_cases_layout(const struct to_plan *plan, unsigned int degree,
				const struct to_planner_knobs *easier, const struct to_plan *special,
				struct to_layout *layout)
{
	const struct to_layout from = to_plan_layout(special);
	enum to_link_mode mode = plan->cluster->link_mode;
	unsigned int directions = mode == special->cluster->link_mode ? 1 : 2;
	int *forth = calloc(2 * (size_t)from.n_rings + 1, sizeof(*forth));
	int *back = forth ? forth + from.n_rings : NULL;
	struct to_topology t = { .ports = 0 };
	struct to_ring *rings;
	struct to_planner_knobs knobs = *easier;
	struct to_builder b;
	int ret;

	knobs.degree = degree;
	ret = to_builder_init(&b, plan->cluster, plan->demand, 0, &knobs);

	/* some rings may own no port */
	rings = ret || !forth ? NULL :
		reallocarray(b.layout.rings, 2 * from.n_rings + plan->demand->n_groups + 1,
			     sizeof(*rings));
	if (rings)
		b.layout.rings = rings;
	else
		ret = -ENOMEM;
	if (!ret)
		ret = special_cases_rings(&b, &from, forth, back);
	if (!ret)
		ret = special_cases_trees(&b, &from);
	if (!ret) {
		special_cases_links(&b, &from, directions, forth, back);
		ret = to_topology_finish(&t, &b, NULL);
	}
	if (!ret)
		*layout = to_layout_take(&t.layout);
	to_builder_free(&b);
	free(forth);
	return ret;
}

/*
 * All ports on one switch: whatever duplex links join, simplex ones can, with port q of every
 * server on switch q (König).
 */
static void special_cases_one_switch(struct to_cluster *cluster)
{
	unsigned int x, q, n = 0;

	for (x = 0; x < cluster->n_servers; x++) {
		for (q = 0; q < cluster->servers[x].n_ports; q++) {
			cluster->servers[x].ports[q].optical_switch = 0;
			cluster->servers[x].ports[q].optical_port = ++n;
		}
	}
	cluster->switches[0].n_ports = n;
	cluster->n_switches = 1;
}

/* A plan for the same demand, still without links; NULL when out of memory. */
static struct to_plan *special_cases_plan(const struct to_plan *plan, enum to_link_mode mode,
					  unsigned int degree)
{
	struct to_plan *other = calloc(1, sizeof(*other));
	unsigned int x;

	if (!other)
		return NULL;
	other->seed = plan->seed;
	other->max_stretch = plan->max_stretch;
	other->latency = plan->latency;
	other->cluster = to_cluster_copy(plan->cluster);
	other->demand = to_demand_copy(plan->demand);
	if (!other->cluster || !other->demand) {
		to_plan_free(other);
		return NULL;
	}
	free(other->cluster->links);
	other->cluster->links = NULL;
	other->cluster->n_links = 0;
	other->cluster->link_mode = mode;
	for (x = 0; x < other->cluster->n_servers; x++)
		if (other->cluster->servers[x].n_ports > degree)
			other->cluster->servers[x].n_ports = degree;
	if (mode != plan->cluster->link_mode && other->cluster->n_switches)
		special_cases_one_switch(other->cluster);
	return other;
}

/* Take what @better has, and how it was found. */
static void special_cases_take(struct to_plan *plan, struct to_plan *better,
			       struct to_plan *found)
{
	const struct to_plan was = *plan;

	to_plan_swap_layouts(plan, better);
	plan->candidates = found->candidates;
	plan->n_candidates = found->n_candidates;
	found->candidates = was.candidates;
	found->n_candidates = was.n_candidates;
}

/* Is @time worth another plan than that of @figures? */
static bool special_cases_gain(double time, const struct to_figures *figures)
{
	return time < to_predict_time(figures) * SPECIAL_CASES_GAIN;
}

/* What @easier found, in @special, as a plan for @degree ports. Return: whether it is better. */
static int special_cases_convert(struct to_plan *plan, unsigned int degree,
				 const struct to_planner_knobs *easier, struct to_plan *special,
				 struct to_figures *figures, struct to_error *err)
{
	struct to_plan *other = special_cases_plan(plan, plan->cluster->link_mode, degree);
	struct to_layout layout;
	struct to_figures now;
	int ret = other ? special_cases_layout(plan, degree, easier, special, &layout) : -ENOMEM;

	if (!ret)
		ret = to_search_complete(other, &layout, easier, &now, err);
	if (!ret && special_cases_gain(to_predict_time(&now), figures)) {
		special_cases_take(plan, other, special);
		*figures = now;
		ret = 1;
	}
	to_plan_free(other);
	return ret == -ENOSPC ? 0 : ret;
}

/*
 * One search that is easier than @asked.
 * @won: gets its effort and seed if it is better
 * Return: 1, 0 when none like it with fewer ports can win, or a negative errno.
 */
static int special_cases_one(struct to_plan *plan, const struct to_planner_knobs *asked,
			     struct to_planner_knobs *won, struct to_planner_knobs easier,
			     enum to_link_mode mode, struct to_figures *figures, struct to_error *err)
{
	const bool other_mode = mode != plan->cluster->link_mode;
	const bool same = !other_mode && easier.degree == asked->degree;
	const double may_gain = same ? 1 : SPECIAL_CASES_PORTS;
	struct to_plan *special = special_cases_plan(plan, mode, easier.degree);
	struct to_error ignored = { "" };
	struct to_figures now;
	int ret = special ? to_predict_bounds(special, &now) : -ENOMEM;

	if (ret || !special_cases_gain(now.comm_time_bound, figures)) {
		to_plan_free(special);
		return ret;
	}
	ret = to_search_plan(special, &easier, &now, &ignored);
	if (!ret && other_mode && easier.effort == asked->effort)
		ret = to_special_cases_try(special, &easier, &now, &ignored);
	if (ret && ret != -ENOMEM) {
		ret = 0;	/* it cannot be planned so */
	} else if (!ret && special_cases_gain(to_predict_time(&now) / may_gain, figures)) {
		ret = 1;
		if (!same) {
			ret = special_cases_convert(plan, asked->degree, &easier, special,
						    figures, err);
		} else {
			special_cases_take(plan, special, special);
			*figures = now;
		}
		if (ret > 0) {
			won->effort = easier.effort;
			won->seed = easier.seed;
		}
	}
	to_plan_free(special);
	return ret < 0 ? ret : 1;
}

/* Those with links of @mode and @least ports or more. */
static int special_cases_mode(struct to_plan *plan, const struct to_planner_knobs *asked,
			      struct to_planner_knobs *won, enum to_link_mode mode, unsigned int least,
			      struct to_figures *figures, struct to_error *err)
{
	const bool other_mode = mode != plan->cluster->link_mode;
	struct to_planner_knobs easier = *asked;
	int ret = 1;

	for (; ret > 0 && easier.degree >= least; easier.degree--) {
		unsigned int least_effort = easier.degree == asked->degree ? TO_EFFORT_MIN :
									     asked->effort;

		for (easier.effort = asked->effort; ret > 0 && easier.effort >= least_effort;
		     easier.effort--) {
			easier.seed = asked->seed;
			if (other_mode || easier.degree != asked->degree ||
			    easier.effort != asked->effort)
				ret = special_cases_one(plan, asked, won, easier, mode,
							figures, err);
			easier.seed = TO_SPECIAL_CASES_SEED;
			if (ret > 0 && asked->seed != TO_SPECIAL_CASES_SEED)
				ret = special_cases_one(plan, asked, won, easier, mode,
							figures, err);
		}
	}
	return ret < 0 ? ret : 0;
}

int to_special_cases_try(struct to_plan *plan, struct to_planner_knobs *knobs,
			 struct to_figures *figures, struct to_error *err)
{
	struct to_planner_knobs asked = *knobs;
	const bool simplex = plan->cluster->link_mode == TO_LINKS_SIMPLEX;
	int ret = 0;

	asked.progress = NULL;	/* the search is over */
	if ((double)plan->cluster->n_servers * plan->cluster->n_links > SPECIAL_CASES_ALL) {
		if (simplex)
			ret = special_cases_one(plan, &asked, knobs, asked, TO_LINKS_DUPLEX,
						figures, err);
		return ret < 0 ? ret : 0;
	}
	if (simplex)
		ret = special_cases_mode(plan, &asked, knobs, TO_LINKS_DUPLEX, asked.degree,
					 figures, err);
	return ret ? ret : special_cases_mode(plan, &asked, knobs, plan->cluster->link_mode, 1,
					      figures, err);
}
