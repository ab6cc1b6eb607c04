// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/collective_plan.h"
#include "plan/plan_completion.h"
#include "plan/planner.h"
#include "plan/search.h"
#include "plan/special_cases.h"
#include "routing/routing.h"
#include "routing/up_down.h"
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
		cluster->servers[places[i]].pcie = NULL;
		if (servers[i].n_ports > degree)
			servers[i].n_ports = degree;
	}
	for (i = 0; i < cluster->n_servers; i++) {
		free(cluster->servers[i].ports);
		free(cluster->servers[i].pcie);
	}
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

/* Replace the routes of @plan by routes without buffer cycles. @cyclic: set to its figures before. */
static int planner_break_cycles(struct to_plan *plan, struct to_figures *cyclic,
				struct to_error *err)
{
	struct to_figures figures;
	int ret = to_predict_plan_routes(plan, cyclic);

	if (!ret)
		ret = to_up_down_fill(plan, err);
	if (!ret)
		ret = to_routing_backups(plan, err);
	return ret ? ret : to_plan_completion_predictions(plan, &figures);
}

/* Find and route the links of @plan. @knobs: may change, see to_special_cases_try(). */
static int planner_build(struct to_plan *plan, struct to_planner_knobs *knobs,
			 struct to_figures *cyclic, struct to_error *err)
{
	struct to_figures figures;
	struct to_layout layout;
	int ret;

	if (knobs->fixed) {
		ret = to_topology_fixed(plan->cluster, plan->demand, &layout, err);
		ret = ret ? ret : to_search_complete(plan, &layout, knobs, &figures, err);
	} else {
		ret = to_search_plan(plan, knobs, &figures, err);
		ret = ret ? ret : to_special_cases_try(plan, knobs, &figures, err);
	}
	if (!ret && knobs->no_buffer_cycles)
		ret = planner_break_cycles(plan, cyclic, err);
	return ret;
}

/* Have the job of @plan do AllReduce by @algorithm, if its links can. */
static int planner_set_algorithm(struct to_plan *plan, enum to_collective_algorithm algorithm,
				 struct to_error *err)
{
	const struct to_demand *demand = plan->demand;
	struct to_collective_plan c;
	int ret;

	plan->collective = algorithm;
	if (algorithm == TO_COLLECTIVE_PLAN)
		return 0;
	if (!demand->n_groups)
		return to_error_set(err, -EINVAL, "--algorithm %s: the job has no AllReduce",
				    to_collective_algorithms[algorithm]);
	ret = to_collective_plan_init(&c, plan, algorithm, 0, false,
				      demand->groups[0].bytes / sizeof(float), err);
	if (!ret)
		to_collective_plan_free(&c);
	return ret;
}

static struct to_plan *planner_make(struct to_cluster *cluster, struct to_demand *demand,
				    const struct to_planner_knobs *asked,
				    struct to_planner_price *price, struct to_error *err)
{
	struct to_planner_knobs knobs = *asked;
	struct to_plan *plan = calloc(1, sizeof(*plan));
	uint32_t *places = planner_places(cluster, demand, err);
	unsigned int most = 0, i;
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
	plan->seed = knobs.seed;
	plan->max_stretch = knobs.max_stretch ?: TO_STRETCH_DEFAULT;
	plan->latency = knobs.latency;
	for (i = 0; i < cluster->n_servers; i++)
		if (cluster->servers[i].n_ports > most)
			most = cluster->servers[i].n_ports;
	knobs.degree = knobs.degree ?: most;
	knobs.effort = knobs.effort ?: TO_EFFORT_DEFAULT;
	if (knobs.degree > most) {
		to_error_set(err, ret, "degree %u: the servers have up to %u ports", knobs.degree, most);
	} else if (!knobs.fixed) {
		ret = planner_select(cluster, demand, places, knobs.degree);
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
		ret = planner_build(plan, &knobs, &price->cyclic, err);
	if (!ret)
		ret = planner_set_algorithm(plan, knobs.algorithm, err);
	free(places);
	if (!ret)
		return plan;
	if (err && !err->text[0])
		to_error_set(err, ret, "out of memory");
	to_plan_free(plan);
	return NULL;
}

/* Communication time of a plan with rings of any order, in seconds. */
static int planner_free_time(const struct to_cluster *cluster, const struct to_demand *demand,
			     const struct to_planner_knobs *knobs, double *time,
			     struct to_error *err)
{
	struct to_planner_knobs free_knobs = *knobs;
	struct to_cluster *servers = to_cluster_copy(cluster);
	struct to_demand *traffic = to_demand_copy(demand);
	struct to_figures figures;
	struct to_plan *plan;
	int ret;

	if (!servers || !traffic) {
		to_cluster_free(servers);
		to_demand_free(traffic);
		return to_error_set(err, -ENOMEM, "out of memory");
	}
	free_knobs.family = NULL;
	free_knobs.rings = true;
	free_knobs.no_buffer_cycles = false;
	free_knobs.progress = NULL;
	plan = to_planner_make(servers, traffic, &free_knobs, err);
	if (!plan)
		return -EINVAL;
	ret = to_predict_plan(plan, &figures);
	*time = figures.comm_time;
	to_plan_free(plan);
	return ret ? to_error_set(err, ret, "out of memory") : 0;
}

struct to_plan *to_planner_make(struct to_cluster *cluster, struct to_demand *demand,
				const struct to_planner_knobs *knobs, struct to_error *err)
{
	struct to_planner_price price;

	return planner_make(cluster, demand, knobs, &price, err);
}

struct to_plan *to_planner_make_priced(struct to_cluster *cluster, struct to_demand *demand,
				       const struct to_planner_knobs *knobs,
				       struct to_planner_price *price, struct to_error *err)
{
	*price = (struct to_planner_price){};
	if (knobs->family == &to_family_one_order &&
	    planner_free_time(cluster, demand, knobs, &price->free_time, err)) {
		to_cluster_free(cluster);
		to_demand_free(demand);
		return NULL;
	}
	return planner_make(cluster, demand, knobs, price, err);
}
