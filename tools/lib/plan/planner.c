// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/complete.h"
#include "plan/packed_trees.h"
#include "plan/planner.h"
#include "topology/topology.h"

#define PLANNER_TRIALS 5e4	/* topologies routed in full, for each server and link */
#define PLANNER_EQUAL 1.001	/* times the shortest time, that is as good */

/* Cluster index of every server of the job, to be freed. NULL with @err set. */
static uint32_t *planner_places(const struct to_cluster *cluster,
				const struct to_demand *demand, struct to_error *err)
{
	uint32_t *places = calloc(demand->n + 1, sizeof(*places));
	bool *taken = calloc(cluster->n_servers + 1, sizeof(*taken));
	int code = 0;
	uint32_t i;

	if (!places || !taken)
		code = to_error_set(err, -ENOMEM, "out of memory");
	else if (demand->n > cluster->n_servers)
		code = to_error_set(err, -EINVAL, "the job has %u servers, the cluster %u",
				    demand->n, cluster->n_servers);
	for (i = 0; !code && i < demand->n; i++) {
		int at = demand->names ? to_cluster_find_server(cluster, demand->names[i]) : (int)i;

		if (at < 0)
			code = to_error_set(err, -EINVAL, "the job's server %s is not in the cluster",
					    demand->names[i]);
		else if (taken[at])
			code = to_error_set(err, -EINVAL, "the job has server %s twice",
					    demand->names[i]);
		else
			taken[places[i] = at] = true;
	}
	free(taken);
	if (!code)
		return places;
	free(places);
	return NULL;
}

/* Keep only the servers of the job, in its order, and @degree ports of each. */
static int planner_select(struct to_cluster *cluster, const struct to_demand *demand,
			  const uint32_t *places, unsigned int degree)
{
	struct to_server *servers = calloc(demand->n, sizeof(*servers));
	uint32_t i;

	if (!servers)
		return -ENOMEM;
	for (i = 0; i < demand->n; i++) {
		servers[i] = cluster->servers[places[i]];
		cluster->servers[places[i]].ports = NULL;
		if (servers[i].n_ports > degree)
			servers[i].n_ports = degree;
	}
	for (i = 0; i < cluster->n_servers; i++)
		free(cluster->servers[i].ports);
	free(cluster->servers);
	cluster->servers = servers;
	cluster->n_servers = demand->n;
	return to_cluster_sort(cluster);
}

/* The job's demand as one of all servers of the cluster. */
static int planner_widen(struct to_demand *demand, const struct to_cluster *cluster,
			 const uint32_t *places)
{
	size_t n = cluster->n_servers, i, j;
	uint64_t *mp = calloc(n * n, sizeof(*mp));
	char (*names)[TO_NAME_MAX] = calloc(n, sizeof(*names));

	if (!mp || !names) {
		free(mp);
		free(names);
		return -ENOMEM;
	}
	for (i = 0; i < n; i++)
		memcpy(names[i], cluster->servers[i].name, sizeof(*names));
	for (i = 0; i < demand->n; i++)
		for (j = 0; j < demand->n; j++)
			mp[places[i] * n + places[j]] = demand->mp[i * demand->n + j];
	for (i = 0; i < demand->n_groups; i++)
		for (j = 0; j < demand->groups[i].n_members; j++)
			demand->groups[i].members[j] = places[demand->groups[i].members[j]];
	free(demand->mp);
	free(demand->names);
	demand->mp = mp;
	demand->names = names;
	demand->n = n;
	return 0;
}

/* Sums and differences of bytes must fit 63 bits wherever they are made. */
static int planner_check_bytes(const struct to_demand *demand, struct to_error *err)
{
	size_t cells = (size_t)demand->n * demand->n, i;
	uint64_t left = 1ull << 60;
	unsigned int g = 0;

	for (i = 0; i < cells && demand->mp[i] <= left; i++)
		left -= demand->mp[i];
	for (g = 0; i == cells && g < demand->n_groups; g++) {
		if (demand->groups[g].bytes > left)
			break;
		left -= demand->groups[g].bytes;
	}
	if (i == cells && g == demand->n_groups)
		return 0;
	return to_error_set(err, -ERANGE, "the job moves more than 2^60 bytes in an iteration");
}

/* What a topology is worth: from its tables, or as estimated without. */
struct rating {
	double time, max_link_load, hops;
	bool packed;		/* its AllReduce goes over trees that own no links */
};

/*
 * Complete @plan with @layout, AllReduce on its rings or on trees, whichever is faster.
 * @rings: no trees, as rings or a family were asked for
 */
static int planner_complete(struct to_plan *plan, struct to_layout *layout, bool rings,
			    unsigned int effort, struct to_figures *figures, struct to_error *err)
{
	int ret = to_complete_plan(plan, layout, effort, figures, err);

	return ret || rings ? ret : to_packed_trees_try(plan, effort, figures, err);
}

/* Route @topology in @plan, only to see what it is worth. */
static int planner_trial(struct to_plan *plan, const struct to_topology *topology, bool rings,
			 unsigned int effort, struct rating *rating, struct to_error *err)
{
	struct to_figures figures;
	struct to_layout copy;
	int ret = to_layout_copy(&copy, &topology->layout);

	if (!ret)
		ret = to_complete_primaries(plan, &copy, effort, err);
	if (!ret)
		ret = to_predict_plan(plan, &figures);
	if (!ret && !rings)
		ret = to_packed_trees_try(plan, effort, &figures, err);
	if (!ret)
		*rating = (struct rating){ figures.comm_time, figures.max_link_load,
					   figures.mean_hops,
					   plan->n_rings != topology->layout.n_rings ||
					   plan->n_trees != topology->layout.n_trees };
	return ret;
}

/*
 * The fastest. What is hardly slower is as good, and then one with AllReduce on links of
 * its own wins, and the family that is listed first: its routes are the more regular ones.
 */
static unsigned int planner_best(const struct to_topology *found, const struct rating *ratings,
				 unsigned int n)
{
	double least = ratings[0].time;
	unsigned int best = n, i;

	for (i = 1; i < n; i++)
		least = ratings[i].time < least ? ratings[i].time : least;
	for (i = 0; i < n; i++) {
		const struct rating *a = &ratings[i], *b = &ratings[best];

		if (a->time > least * PLANNER_EQUAL)
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
static int planner_note(struct to_plan *plan, const struct to_topology *found,
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

/*
 * Estimates say which topologies are good, their tables which is best. What no
 * routes can make the best needs none.
 */
static int planner_choose(struct to_plan *plan, const struct to_topology *found,
			  unsigned int n_found, bool rings, unsigned int effort,
			  unsigned int *best, struct to_error *err)
{
	double n = plan->cluster->n_servers, links = found[0].layout.n_links;
	double trials = floor(to_effort_steps(PLANNER_TRIALS, effort) / (n * links));
	struct rating *ratings = calloc(n_found, sizeof(*ratings));
	double least = INFINITY;
	unsigned int n_good = 0, i;
	int ret = ratings ? 0 : -ENOMEM;

	/* those with cuts are last */
	while (n_good < n_found && found[n_good].cuts == found[0].cuts)
		n_good++;
	if (trials < 2 || n_good == 1)
		trials = 0;
	else if (trials > n_good)
		trials = n_good;
	for (i = 0; !ret && i < (trials ? trials : n_good); i++) {
		double bound = rings ? found[i].bound : found[i].shared_bound;

		ratings[i] = (struct rating){ found[i].time, 0, found[i].hops, false };
		if (!trials)
			continue;
		ratings[i].time = INFINITY;
		if (bound > least * PLANNER_EQUAL)
			continue;
		ret = planner_trial(plan, &found[i], rings, effort, &ratings[i], err);
		least = fmin(least, ratings[i].time);
	}
	if (!ret) {
		*best = planner_best(found, ratings, i);
		ret = planner_note(plan, found, n_found, ratings, trials);
	}
	free(ratings);
	return ret;
}

/* Those that have rings alone, in their order. Return: how many. */
static int planner_rings(struct to_topology *found, int n_found)
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

static int planner_find(struct to_plan *plan, const struct to_planner_options *options,
			unsigned int degree, unsigned int effort, struct to_error *err)
{
	struct to_figures figures;
	struct to_topology *found;
	unsigned int best = 0, i;
	int n_found = to_topology_find(plan->cluster, plan->demand, degree, options->family,
				       options->seed, effort, &found, err);
	const bool rings = options->rings || options->family;
	int ret;

	if (n_found < 0)
		return n_found;
	if (options->rings)
		n_found = planner_rings(found, n_found);
	ret = n_found ? planner_choose(plan, found, n_found, rings, effort, &best, err) :
		to_error_set(err, -EINVAL, "this family has no rings");
	for (i = 0; !ret && i < plan->n_candidates; i++) {
		struct to_candidate *c = &plan->candidates[i];
		struct to_topology *t = &found[best];

		if (strcmp(c->family, t->family))
			continue;
		c->ports = t->ports;
		c->estimated_time = t->time;
		c->chosen = true;
		ret = planner_complete(plan, &t->layout, rings, effort, &figures, err);
		if (!ret)
			c->comm_time = figures.comm_time;
		break;
	}
	for (i = 0; i < (unsigned int)n_found; i++)
		to_layout_free(&found[i].layout);
	free(found);
	return ret;
}

static int planner_build(struct to_plan *plan, const struct to_planner_options *options,
			 unsigned int degree, struct to_error *err)
{
	unsigned int effort = options->effort ? options->effort : TO_EFFORT_DEFAULT;
	struct to_layout layout;
	struct to_figures figures;
	int ret;

	if (!options->fixed)
		return planner_find(plan, options, degree, effort, err);
	ret = to_topology_fixed(plan->cluster, plan->demand, &layout, err);
	return ret ? ret : planner_complete(plan, &layout, options->rings, effort, &figures, err);
}

struct to_plan *to_planner_make(struct to_cluster *cluster,
				struct to_demand *demand,
				const struct to_planner_options *options,
				struct to_error *err)
{
	struct to_plan *plan = calloc(1, sizeof(*plan));
	uint32_t *places = planner_places(cluster, demand, err);
	unsigned int degree = options->degree, most = 0, i;
	int ret = -EINVAL;

	if (!plan || !places) {
		to_cluster_free(cluster);
		to_demand_free(demand);
		free(plan);
		free(places);
		return NULL;
	}
	plan->cluster = cluster;
	plan->demand = demand;
	plan->seed = options->seed;
	for (i = 0; i < cluster->n_servers; i++)
		if (cluster->servers[i].n_ports > most)
			most = cluster->servers[i].n_ports;
	degree = degree ? degree : most;
	if (degree > most) {
		to_error_set(err, ret, "degree %u: the servers have up to %u ports", degree, most);
	} else if (!options->fixed) {
		ret = planner_select(cluster, demand, places, degree);
	} else if (!cluster->n_links) {
		to_error_set(err, ret, "the cluster has no links to keep");
	} else {
		ret = planner_widen(demand, cluster, places);
	}
	if (!ret && demand->n < 2)
		ret = to_error_set(err, -EINVAL, "a job of one server needs no links");
	if (!ret)
		ret = planner_check_bytes(demand, err);
	if (!ret)
		ret = planner_build(plan, options, degree, err);
	free(places);
	if (!ret)
		return plan;
	if (err && !err->text[0])
		to_error_set(err, ret, "out of memory");
	to_plan_free(plan);
	return NULL;
}
