// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan/planner.h"
#include "plan/search.h"
#include "plan/special_cases.h"
#include "topology/topology.h"

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

static int planner_build(struct to_plan *plan, const struct to_planner_options *options,
			 unsigned int degree, struct to_error *err)
{
	struct to_search search = {
		.rings = options->rings, .fixed = options->fixed, .degree = degree,
		.family = options->family,
		.effort = options->effort ? options->effort : TO_EFFORT_DEFAULT,
		.seed = options->seed, .progress = options->progress, .data = options->data };
	struct to_layout layout;
	struct to_figures figures;
	int ret;

	if (!options->fixed) {
		ret = to_search_plan(plan, &search, &figures, err);
		return ret ? ret : to_special_cases_try(plan, &search, &figures, err);
	}
	ret = to_topology_fixed(plan->cluster, plan->demand, &layout, err);
	return ret ? ret : to_search_complete(plan, &layout, &search, &figures, err);
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
	plan->max_stretch = options->max_stretch ?: TO_STRETCH_DEFAULT;
	plan->latency = options->latency;
	for (i = 0; i < cluster->n_servers; i++)
		if (cluster->servers[i].n_ports > most)
			most = cluster->servers[i].n_ports;
	degree = degree ? degree : most;
	if (degree > most) {
		to_error_set(err, ret, "degree %u: the servers have up to %u ports", degree, most);
	} else if (!options->fixed) {
		ret = planner_select(cluster, demand, places, degree);
	} else if (to_cluster_join_shared(cluster)) {
		ret = to_error_set(err, -ENOMEM, "out of memory");
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
