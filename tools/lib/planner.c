// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "crossconnect.h"
#include "planner.h"
#include "predict.h"
#include "routing.h"
#include "topology.h"

/* How many topologies are routed in full: so many servers times arcs. */
#define PLANNER_TRIALS 1e6

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

static int planner_predict(struct to_plan *plan, struct to_figures *figures)
{
	const struct to_cluster *c = plan->cluster;
	struct to_graph *graph = to_graph_new(c->n_servers, c->links, c->n_links, c->link_mode);
	struct to_forwarding f = { 0 };
	int ret = -ENOMEM;

	if (!graph)
		return ret;
	if (!to_forwarding_init(&f, plan, graph))
		ret = to_predict_figures(&f, figures);
	to_forwarding_free(&f);
	to_graph_free(graph);
	return ret;
}

/* All of @plan that follows from @topology, which is taken over. */
static int planner_route(struct to_plan *plan, struct to_topology *topology, unsigned int effort,
			 struct to_figures *figures, struct to_error *err)
{
	struct to_cluster *cluster = plan->cluster;
	int ret;

	free(cluster->links);
	cluster->links = topology->links;
	cluster->n_links = topology->n_links;
	plan->rings = topology->rings;
	plan->n_rings = topology->n_rings;
	plan->trees = topology->trees;
	plan->n_trees = topology->n_trees;
	memset(topology, 0, sizeof(*topology));
	ret = to_crossconnect_fill(plan, err);
	if (!ret)
		ret = to_routing_fill(plan, effort, err);
	if (!ret)
		ret = to_plan_index(plan);
	if (!ret)
		ret = planner_predict(plan, figures);
	return ret;
}

/* Route @topology for its figures only. */
static int planner_trial(struct to_plan *plan, struct to_topology *topology, unsigned int effort,
			 struct to_figures *figures, struct to_error *err)
{
	struct to_topology same = *topology;
	int ret = planner_route(plan, &same, effort, figures, err);

	/* they are still the topology's */
	plan->cluster->links = NULL;
	plan->cluster->n_links = 0;
	plan->rings = NULL;
	plan->trees = NULL;
	plan->n_rings = plan->n_trees = 0;
	to_plan_clear(plan);
	return ret;
}

static bool planner_faster(const struct to_figures *a, const struct to_figures *b)
{
	if (a->comm_time < b->comm_time * (1 - 1e-6) || b->comm_time < a->comm_time * (1 - 1e-6))
		return a->comm_time < b->comm_time;
	if (a->max_link_load != b->max_link_load)
		return a->max_link_load < b->max_link_load;
	return a->mean_hops < b->mean_hops;
}

/* The candidate of the family of @topology, made if it is the first. */
static struct to_candidate *planner_candidate(struct to_plan *plan,
					      const struct to_topology *topology)
{
	unsigned int i;

	for (i = 0; i < plan->n_candidates; i++)
		if (!strcmp(plan->candidates[i].family, topology->family))
			return &plan->candidates[i];
	snprintf(plan->candidates[i].family, TO_NAME_MAX, "%s", topology->family);
	plan->candidates[i].ports = topology->ports;
	plan->candidates[i].estimated_time = topology->time;
	plan->n_candidates++;
	return &plan->candidates[i];
}

static void planner_note(struct to_candidate *candidate, const struct to_topology *topology,
			 const struct to_figures *figures)
{
	candidate->ports = topology->ports;
	candidate->estimated_time = topology->time;
	candidate->comm_time = figures->comm_time;
}

/*
 * Estimates name the best topologies, their tables the one that wins. @found
 * are sorted, those with cuts last.
 */
static int planner_choose(struct to_plan *plan, struct to_topology *found, unsigned int n_found,
			  unsigned int effort, unsigned int *best, struct to_error *err)
{
	size_t n = plan->cluster->n_servers;
	double arcs = (double)n * (plan->cluster->servers[0].n_ports + 1);
	double trials = to_effort_steps(PLANNER_TRIALS, effort) / (n * arcs);
	struct to_figures figures, least = { 0 };
	struct to_candidate *candidate;
	unsigned int i;
	int ret = 0;

	*best = 0;
	plan->candidates = calloc(n_found, sizeof(*plan->candidates));
	if (!plan->candidates)
		return -ENOMEM;
	for (i = 0; !ret && i < n_found; i++) {
		candidate = planner_candidate(plan, &found[i]);
		if (trials < 2 || i >= trials || n_found == 1 || found[i].cuts > found[0].cuts)
			continue;
		ret = planner_trial(plan, &found[i], effort, &figures, err);
		if (ret)
			break;
		if (!candidate->comm_time || figures.comm_time < candidate->comm_time)
			planner_note(candidate, &found[i], &figures);
		if (i && !planner_faster(&figures, &least))
			continue;
		least = figures;
		*best = i;
	}
	return ret;
}

static int planner_find(struct to_plan *plan, const struct to_planner_options *options,
			unsigned int degree, unsigned int effort, struct to_figures *figures,
			struct to_error *err)
{
	struct to_topology *found;
	struct to_candidate *candidate;
	unsigned int best, i;
	int n_found = to_topology_find(plan->cluster, plan->demand, degree, options->family,
				       options->seed, effort, &found, err);
	int ret;

	if (n_found < 0)
		return n_found;
	ret = planner_choose(plan, found, n_found, effort, &best, err);
	if (!ret) {
		struct to_topology chosen = found[best];

		candidate = planner_candidate(plan, &chosen);
		candidate->chosen = true;
		ret = planner_route(plan, &found[best], effort, figures, err);
		if (!ret)
			planner_note(candidate, &chosen, figures);
	}
	for (i = 0; i < (unsigned int)n_found; i++)
		to_topology_free(&found[i]);
	free(found);
	return ret;
}

static int planner_build(struct to_plan *plan, const struct to_planner_options *options,
			 unsigned int degree, struct to_error *err)
{
	unsigned int effort = options->effort ? options->effort : TO_EFFORT_DEFAULT;
	struct to_topology topology = { 0 };
	struct to_figures figures;
	int ret;

	if (options->fixed) {
		ret = to_topology_fixed(plan->cluster, plan->demand, &topology, err);
		if (!ret)
			ret = planner_route(plan, &topology, effort, &figures, err);
	} else {
		ret = planner_find(plan, options, degree, effort, &figures, err);
	}
	if (!ret) {
		plan->predictions = to_predict_json(&figures);
		ret = plan->predictions ? 0 : -ENOMEM;
	}
	return ret;
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
