// SPDX-License-Identifier: GPL-2.0-or-later
#include "study/job_inputs.h"

#include <errno.h>
#include <string.h>

#include "data/large.h"
#include "format/demand_json.h"
#include "format/plan_json.h"
#include "simulate/network_json.h"
#include "simulate/router_named.h"
#include "workload/chakra.h"

/*
 * Take the cables of the plan's servers, which are all alike: one is as fast as the functions
 * that share it are together.
 */
static int inputs_plan_ports(struct to_job_inputs *in, const char *path, struct to_error *err)
{
	const struct to_cluster *c = in->plan->cluster;
	const struct to_server *first = &c->servers[0];
	const unsigned int cables = to_server_cables(first);

	for (uint32_t x = 0; x < c->n_servers; x++)
		for (unsigned int q = 0; q < c->servers[x].n_ports; q++)
			if (c->servers[x].n_ports != first->n_ports ||
			    to_server_cables(&c->servers[x]) != cables || first->n_ports % cables ||
			    c->servers[x].ports[q].bandwidth != first->ports[0].bandwidth)
				return to_error_set(err, -EINVAL,
						    "%s has servers with different ports: give --degree and --bandwidth",
						    path);
	in->degree = cables;
	in->bandwidth = first->ports[0].bandwidth * (first->n_ports / cables);
	return 0;
}

/* Count the servers of a network's file, as many as the workload has, if it has some. */
static int inputs_load_network(struct to_job_inputs *in, const struct to_job_setting *setting,
			       struct to_error *err)
{
	struct to_network *network = to_network_load(setting->fabric, 0, err);
	const uint32_t n = network ? network->n_servers : 0;

	to_network_free(network);
	if (!n)
		return -EINVAL;
	if (in->n_servers && n != in->n_servers)
		return to_error_set(err, -EINVAL, "%s has %u servers, the workload %u",
				    setting->fabric, n, in->n_servers);
	in->n_servers = n;
	return to_large_check(setting->fabric, n, setting->large, err);
}

static int inputs_load_traces(struct to_job_inputs *in, const struct to_job_setting *setting,
			      struct to_error *err)
{
	const struct to_chakra_options options = { .ranks_per_server = 1 };
	struct to_chakra_totals totals;

	if (to_replay_init(&in->replay, setting->n_traces))
		return to_error_set(err, -ENOMEM, "out of memory");
	in->job = to_chakra_load(setting->traces, setting->n_traces, &options, &totals,
				 &in->replay, err);
	if (!in->job)
		return -EINVAL;
	if (in->plan && setting->n_traces != in->n_servers)
		return to_error_set(err, -EINVAL, "%u traces, one a server, and %s for %u",
				    setting->n_traces, setting->plan, in->n_servers);
	in->n_servers = setting->n_traces;
	return to_large_check("--chakra", in->n_servers, setting->large, err);
}

static int inputs_load_plan(struct to_job_inputs *in, const char *path, struct to_error *err)
{
	in->plan = to_plan_load_shared(path, err);
	if (!in->plan)
		return -EINVAL;
	in->n_servers = in->plan->cluster->n_servers;
	return 0;
}

static int inputs_load_job(struct to_job_inputs *in, const struct to_job_setting *setting,
			   struct to_error *err)
{
	in->job = to_demand_load(setting->job, to_large_most(setting->large), err);
	if (!in->job)
		return -EINVAL;
	if (in->plan && in->job->n != in->n_servers)
		return to_error_set(err, -EINVAL, "%s is for %u servers, %s for %u", setting->job,
				    in->job->n, setting->plan, in->n_servers);
	in->n_servers = in->job->n;
	return 0;
}

static int inputs_load_prices(struct to_job_inputs *in, const char *path, struct to_error *err)
{
	in->prices = path ? to_prices_load(path, err) : to_prices_default();
	if (in->prices)
		return 0;
	return path ? -EINVAL : to_error_set(err, -ENOMEM, "out of memory");
}

int to_job_inputs_load(struct to_job_inputs *in, const struct to_job_setting *setting,
		       struct to_error *err)
{
	int ret = 0;

	*in = (struct to_job_inputs){ 0 };
	if (setting->plan)
		ret = inputs_load_plan(in, setting->plan, err);
	if (!ret && setting->job)
		ret = inputs_load_job(in, setting, err);
	if (!ret && setting->n_traces)
		ret = inputs_load_traces(in, setting, err);
	if (!ret && setting->model) {
		in->model = to_dnn_model_load(setting->model, err);
		ret = in->model ? 0 : -EINVAL;
	}
	if (ret)
		return ret;
	in->n_servers = in->n_servers ? in->n_servers : setting->servers;
	in->degree = setting->degree;
	in->bandwidth = setting->bandwidth ? setting->bandwidth : TO_SYNTHETIC_BANDWIDTH;
	if (to_fabric_is_file(setting->fabric))
		ret = inputs_load_network(in, setting, err);
	else if (in->plan && strcmp(setting->fabric, "topoopt") &&
		 !(setting->degree && setting->bandwidth))
		ret = inputs_plan_ports(in, setting->plan, err);
	return ret ? ret : inputs_load_prices(in, setting->prices, err);
}

void to_job_inputs_free(struct to_job_inputs *in)
{
	to_prices_free(in->prices);
	to_replay_free(&in->replay);
	to_dnn_model_free(in->model);
	to_demand_free(in->job);
	to_plan_free(in->plan);
}
