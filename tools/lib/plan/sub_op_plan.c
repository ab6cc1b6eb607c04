// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/sub_op_plan.h"

#include <errno.h>
#include <math.h>

#include "data/pcie.h"
#include "plan/planner.h"
#include "simulate/bound.h"
#include "simulate/network_named.h"

#define PLAN_DELAY 1e-6		/* of a link of the switch, seconds */

static int plan_no_memory(struct to_error *err)
{
	return to_error_set(err, -ENOMEM, "out of memory");
}

/* Ports of each server, as many as all have; bits/s of the slowest, alone or behind PCIe links. */
static struct to_network_setting plan_ports(const struct to_cluster *cluster, uint32_t n,
					    unsigned int degree)
{
	struct to_network_setting ports = { .servers = n, .degree = TO_PORTS_MAX,
					    .bandwidth = UINT64_MAX, .latency = PLAN_DELAY };

	for (uint32_t x = 0; x < n; x++) {
		const struct to_server *server = &cluster->servers[x];

		if (server->n_ports < ports.degree)
			ports.degree = server->n_ports;
		for (unsigned int q = 0; q < server->n_ports; q++)
			if (server->ports[q].bandwidth < ports.bandwidth)
				ports.bandwidth = server->ports[q].bandwidth;
	}
	if (degree && degree < ports.degree)
		ports.degree = degree;
	for (uint32_t x = 0; x < n; x++) {
		const double sends = to_pcie_sends(&cluster->servers[x], ports.degree);
		const double receives = to_pcie_receives(&cluster->servers[x], ports.degree);
		const double each = fmin(sends, receives) / ports.degree;

		if (each < ports.bandwidth)
			ports.bandwidth = each;
	}
	return ports;
}

/* The placement that is fastest on a switch for all ports. */
static int plan_place(const struct to_dnn_model *model, const struct to_network_setting *ports,
		      unsigned int batch, struct to_sub_ops *placed, struct to_error *err)
{
	const struct to_sub_ops_search search = {
		.model = model, .n_servers = ports->servers, .batch_per_gpu = batch,
		.reach = ports->degree + 1, .quantum = TO_SUB_OP_QUANTUM };
	const struct to_shortest_options options = {
		.spread = TO_SPREAD_SPRAY, .delays = { .link = PLAN_DELAY } };
	struct to_network *network = to_network_named("switch", ports, err);
	struct to_router *router = network ? to_router_shortest(network, &options, err) : NULL;
	struct to_simulator *simulator = router ? to_simulator_on(router, err) : NULL;
	int ret = -EINVAL;

	if (simulator)
		ret = to_sub_ops_find(&search, simulator, placed, err);
	to_simulator_free(simulator);
	to_router_free(router);
	return ret;
}

static int plan_simulate(const struct to_plan *plan, const struct to_taskgraph *tasks,
			 double *time, struct to_error *err)
{
	struct to_simulator *simulator = to_simulator_new(plan, err);
	const struct to_simulation *run = simulator ? to_simulate(simulator, tasks,
								  TO_SIMULATE_TASKS, err) : NULL;

	if (run)
		*time = run->time;
	to_simulator_free(simulator);
	return run ? 0 : -EINVAL;
}

static int plan_make(const struct to_cluster *servers, const struct to_taskgraph *tasks,
		     const struct to_parallelize_options *options, struct to_sub_op_plan *found,
		     struct to_error *err)
{
	const struct to_planner_knobs how = { .degree = options->degree, .seed = options->seed,
						.effort = TO_EFFORT_DEFAULT,
						.fixed = to_cluster_keeps_links(servers) };
	struct to_demand *demand = to_taskgraph_demand(tasks);
	struct to_cluster *cluster = to_cluster_copy(servers);
	struct to_bound bound;
	int ret;

	if (!demand || !cluster) {
		to_demand_free(demand);
		to_cluster_free(cluster);
		return plan_no_memory(err);
	}
	snprintf(demand->name, sizeof(demand->name), "%s", found->placed.model->name);
	found->plan = to_planner_make(cluster, demand, &how, err);
	if (!found->plan)
		return -EINVAL;
	ret = plan_simulate(found->plan, tasks, &found->time, err);
	if (ret)
		return ret;
	ret = to_bound_init(&bound, servers, tasks->n_servers, options->degree);
	found->bound = ret ? -1 : to_bound_time(&bound, tasks);
	to_bound_free(&bound);
	return found->bound < 0 ? plan_no_memory(err) : 0;
}

int to_sub_op_plan(const struct to_dnn_model *model, const struct to_cluster *cluster,
		   uint32_t n_servers, const struct to_parallelize_options *options,
		   struct to_sub_op_plan *found, struct to_error *err)
{
	const struct to_network_setting ports = plan_ports(cluster, n_servers, options->degree);
	struct to_taskgraph tasks;
	int ret;

	*found = (struct to_sub_op_plan){ 0 };
	ret = plan_place(model, &ports, options->batch_per_gpu, &found->placed, err);
	if (ret)
		return ret;
	for (uint32_t x = 0; x < found->placed.block; x++)
		found->memory = fmax(found->memory, found->placed.memory[x]);
	to_taskgraph_init(&tasks, n_servers);
	ret = to_sub_ops_tasks(&found->placed, &tasks, err);
	if (!ret)
		ret = plan_make(cluster, &tasks, options, found, err);
	to_taskgraph_free(&tasks);
	return ret;
}

void to_sub_op_plan_free(struct to_sub_op_plan *found)
{
	to_sub_ops_free(&found->placed);
	to_plan_free(found->plan);
}
