// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/search.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/effort.h"
#include "plan/packed_trees.h"
#include "plan/plan_completion.h"
#include "topology/family.h"
#include "topology/topology.h"

#define SEARCH_TRIALS 5e4	/* topologies routed in full, for each server and link */
#define SEARCH_LATENCY 0.1	/* of the time of bytes, that is a good part */
#define SEARCH_HALVING 0.03	/* the same, for recursive halving to be looked at */
#define SEARCH_EQUAL 1.001	/* times the shortest time, that is as good */

/* What a topology is worth: from its tables, or as estimated without. */
struct rating {
	double time, max_link_load, hops;
	bool packed;		/* its AllReduce goes over trees that own no links */
};

/*
 * Of the time that a plan of 1024 servers takes, percent until its topology is chosen, it has
 * routes, and trees are tried.
 */
#define SEARCH_CHOSEN 10
#define SEARCH_ROUTED 40
#define SEARCH_PACKED 80

static void search_progress(const struct to_planner_knobs *knobs, unsigned int percent)
{
	if (knobs->progress)
		knobs->progress(knobs->data, percent);
}

int to_search_complete(struct to_plan *plan, struct to_layout *layout,
		       const struct to_planner_knobs *knobs, struct to_figures *figures,
		       struct to_error *err)
{
	int ret = to_plan_completion_primaries(plan, layout, knobs->effort, err);

	search_progress(knobs, SEARCH_ROUTED);
	if (!ret && !knobs->rings && !knobs->family) {
		ret = to_predict_plan(plan, figures);
		if (!ret)
			ret = to_packed_trees_try(plan, knobs->fixed, knobs->effort, figures, err);
	}
	search_progress(knobs, SEARCH_PACKED);
	if (!ret)
		ret = to_plan_completion_backups(plan, figures, err);
	search_progress(knobs, 100);
	return ret;
}

/* Route @topology in @plan, only to see what it is worth. */
static int search_trial(struct to_plan *plan, const struct to_topology *topology, bool rings,
			 unsigned int effort, struct rating *rating, struct to_error *err)
{
	struct to_figures figures;
	struct to_layout copy;
	int ret = to_layout_copy(&copy, &topology->layout);

	if (!ret)
		ret = to_plan_completion_primaries(plan, &copy, effort, err);
	if (!ret)
		ret = to_predict_plan(plan, &figures);
	if (!ret && !rings)
		ret = to_packed_trees_try(plan, false, effort, &figures, err);
	if (!ret)
		*rating = (struct rating){ to_predict_time(&figures), figures.max_link_load,
					   figures.mean_hops,
					   plan->n_rings != topology->layout.n_rings ||
					   plan->n_trees != topology->layout.n_trees };
	return ret;
}

/*
 * The fastest. What is hardly slower is as good, and then one with AllReduce on links of
 * its own wins, and the family that is listed first: its routes are the more regular ones.
 */
static unsigned int search_best(const struct to_topology *found, const struct rating *ratings,
				 unsigned int n)
{
	double least = ratings[0].time;
	unsigned int best = n, i;

	for (i = 1; i < n; i++)
		least = ratings[i].time < least ? ratings[i].time : least;
	for (i = 0; i < n; i++) {
		const struct rating *a = &ratings[i], *b = &ratings[best];

		if (a->time > least * SEARCH_EQUAL)
			continue;
		if (best == n || a->packed < b->packed ||
		    (a->packed == b->packed && found[i].rank < found[best].rank) ||
		    (a->packed == b->packed && found[i].rank == found[best].rank &&
		     (a->time < b->time * (1 - 1e-6) ||
		      (a->time < b->time * (1 + 1e-6) &&
		       (a->max_link_load < b->max_link_load ||
			(a->max_link_load == b->max_link_load && a->hops < b->hops))))))
			best = i;
	}
	return best;
}

/*
 * Note the best of every family, by estimate or from its tables. @found are
 * sorted by estimates; of the first @trials some are routed.
 */
static int search_note(struct to_plan *plan, const struct to_topology *found,
			unsigned int n_found, const struct rating *ratings, unsigned int trials)
{
	unsigned int i, k;

	plan->candidates = calloc(n_found, sizeof(*plan->candidates));
	if (!plan->candidates)
		return -ENOMEM;
	for (i = 0; i < n_found; i++) {
		struct to_candidate *c = plan->candidates;
		double time = i < trials && isfinite(ratings[i].time) ? ratings[i].time : 0;

		for (k = 0; k < plan->n_candidates && strcmp(c->family, found[i].family); k++)
			c++;
		if (k < plan->n_candidates && (!time || time >= c->comm_time))
			continue;
		plan->n_candidates += k == plan->n_candidates;
		snprintf(c->family, sizeof(c->family), "%s", found[i].family);
		c->ports = found[i].ports;
		c->estimated_time = found[i].time;
		c->comm_time = time;
	}
	return 0;
}

/* Whether the steps of a ring of all servers take @part of @time: estimates lack them. */
static bool search_waits(const struct to_plan *plan, double time, double part)
{
	double steps = 2.0 * (plan->cluster->n_servers - 1) * plan->latency.step;

	return plan->demand->n_groups && steps > time * part;
}

static bool search_is_halving(const struct to_topology *t)
{
	return to_families[t->rank] == &to_family_recursive_halving;
}

/* Is @found[@i] the best estimate of its family? */
static bool search_first(const struct to_topology *found, unsigned int i)
{
	for (unsigned int k = 0; k < i; k++)
		if (!strcmp(found[k].family, found[i].family))
			return false;
	return true;
}

/*
 * Estimates say which topologies are good, their tables which is best. What no
 * routes can make the best needs none. Where there is no time for all, but latency counts,
 * the tables of the first of each family say, too; of the first of all and of recursive
 * halving, where that is among them.
 */
static int search_choose(struct to_plan *plan, const struct to_topology *found,
			  unsigned int n_found, bool rings, unsigned int effort,
			  unsigned int *best, struct to_error *err)
{
	double n = plan->cluster->n_servers, links = found[0].layout.n_links;
	double trials = floor(to_effort_steps(SEARCH_TRIALS, effort) / (n * links)), routed;
	struct rating *ratings = calloc(n_found, sizeof(*ratings));
	double least = INFINITY;
	const bool waits = !rings && search_waits(plan, found[0].time, SEARCH_LATENCY);
	bool halves = false;
	unsigned int n_good = 0, i;
	int ret = ratings ? 0 : -ENOMEM;

	/* those with cuts are last */
	while (n_good < n_found && found[n_good].cuts == found[0].cuts)
		halves |= search_is_halving(&found[n_good++]);
	if (trials < 2 || n_good == 1)
		trials = 0;
	else if (trials > n_good)
		trials = n_good;
	routed = trials;
	if ((waits || (halves && !rings)) && n_good > 1)
		trials = n_good;
	for (i = 0; !ret && i < (trials ? trials : n_good); i++) {
		double bound = rings ? found[i].bound : found[i].shared_bound;

		ratings[i] = (struct rating){ found[i].time, 0, found[i].hops, false };
		if (!trials)
			continue;
		ratings[i].time = INFINITY;
		if (bound > least * SEARCH_EQUAL ||
		    (i >= routed && i && !search_is_halving(&found[i]) &&
		     !(waits && search_first(found, i))))
			continue;
		ret = search_trial(plan, &found[i], rings, effort, &ratings[i], err);
		least = fmin(least, ratings[i].time);
	}
	if (!ret) {
		*best = search_best(found, ratings, i);
		ret = search_note(plan, found, n_found, ratings, trials);
	}
	free(ratings);
	return ret;
}

/* Those that have rings alone, in their order. Return: how many. */
static int search_rings(struct to_topology *found, int n_found)
{
	int kept = 0, i;

	for (i = 0; i < n_found; i++) {
		if (found[i].layout.n_trees)
			to_layout_free(&found[i].layout);
		else
			found[kept++] = found[i];
	}
	return kept;
}

/*
 * Recursive halving, for the few steps that it takes, after all that are as well connected.
 * Return: 0 or -ENOMEM.
 */
static int search_halving(const struct to_plan *plan, const struct to_planner_knobs *knobs,
			  struct to_topology **found, int *n_found)
{
	struct to_topology *more, *all;
	struct to_planner_knobs halving = *knobs;
	int n, at = *n_found, i;

	halving.family = &to_family_recursive_halving;
	n = to_topology_find(plan->cluster, plan->demand, &halving, &more, NULL);
	if (n < 0)
		return n == -ENOSPC ? 0 : n;
	all = reallocarray(*found, *n_found + n, sizeof(*all));
	if (!all) {
		for (i = 0; i < n; i++)
			to_layout_free(&more[i].layout);
		free(more);
		return -ENOMEM;
	}
	*found = all;
	for (i = 0; i < n; i++) {
		for (at = *n_found; at && all[at - 1].cuts > more[i].cuts; at--)
			all[at] = all[at - 1];
		all[at] = more[i];
		++*n_found;
	}
	free(more);
	return 0;
}

int to_search_plan(struct to_plan *plan, const struct to_planner_knobs *knobs,
		   struct to_figures *figures, struct to_error *err)
{
	struct to_topology *found;
	unsigned int best = 0, i;
	int n_found = to_topology_find(plan->cluster, plan->demand, knobs, &found, err);
	const bool rings = knobs->rings || knobs->family;
	int ret = 0;

	if (n_found < 0)
		return n_found;
	if (knobs->rings)
		n_found = search_rings(found, n_found);
	if (!n_found)
		ret = to_error_set(err, -EINVAL, "this family has no rings");
	else if (!rings && search_waits(plan, found[0].time, SEARCH_HALVING))
		ret = search_halving(plan, knobs, &found, &n_found);
	if (!ret)
		ret = search_choose(plan, found, n_found, rings, knobs->effort, &best, err);
	for (i = 0; !ret && i < plan->n_candidates; i++) {
		struct to_candidate *c = &plan->candidates[i];
		struct to_topology *t = &found[best];

		if (strcmp(c->family, t->family))
			continue;
		c->ports = t->ports;
		c->estimated_time = t->time;
		c->chosen = true;
		search_progress(knobs, SEARCH_CHOSEN);
		ret = to_search_complete(plan, &t->layout, knobs, figures, err);
		if (!ret)
			c->comm_time = to_predict_time(figures);
		break;
	}
	for (i = 0; i < (unsigned int)n_found; i++)
		to_layout_free(&found[i].layout);
	free(found);
	return ret;
}
