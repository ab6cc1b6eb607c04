// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "cli/command.h"
#include "doctor/check.h"
#include "format/plan_json.h"
#include "job/client_check.h"
#include "kernel/apply.h"
#include "kernel/genl.h"
#include "kernel/rtnl.h"
#include "node.h"

struct doctor_args {
	const char *plan, *node, *dev;
	int client;	/* enum to_env_client, -1 for none */
};

/* Does the kernel have what the plan says? */
static void doctor_plan(struct to_checks *checks, const struct to_check_view *view,
			const char *path, const char *dev)
{
	const struct to_device *device;
	struct to_apply_counts counts;
	struct to_error err = {};
	struct to_apply *apply;
	char fix[200];

	snprintf(fix, sizeof(fix), "toctl apply %.110s --node %.64s", path,
		 view->plan->cluster->servers[view->server].name);
	apply = to_apply_open(view->plan, view->server, dev, true, NULL, &err);
	if (!apply) {
		to_check_add(checks, TO_CHECK_FAIL, "plan", dev, fix, "%s", err.text);
		return;
	}
	device = to_apply_current(apply);
	counts = to_apply_count(apply);
	if (!device->generation)
		to_check_add(checks, TO_CHECK_FAIL, "table", dev, fix, "no table was ever committed");
	else if (to_apply_table_differs(apply))
		to_check_add(checks, TO_CHECK_FAIL, "table", dev, fix,
			     "generation %llu is not this plan: %u routes missing, %u too many, %u different",
			     (unsigned long long)device->generation,
			     counts.differing.added, counts.differing.removed,
			     counts.differing.changed);
	else
		to_check_add(checks, TO_CHECK_OK, "table", dev, NULL,
			     "generation %llu is this plan, %u routes",
			     (unsigned long long)device->generation, counts.routes);
	if (counts.entries_added || counts.entries_removed)
		to_check_add(checks, TO_CHECK_FAIL, "entries", dev, fix,
			     "addresses, neighbours, routes and rules: %u missing or different, %u stale",
			     counts.entries_added, counts.entries_removed);
	else
		to_check_add(checks, TO_CHECK_OK, "entries", dev, NULL,
			     "addresses, neighbours, routes and rules are as planned");
	if (device->staged)
		to_check_add(checks, TO_CHECK_WARN, "stage", dev,
			     "toctl apply --commit PLAN, or toctl apply --abort",
			     "a stage of %u routes is not committed", device->staged_routes);
	to_apply_close(apply);
}

/* Without a plan: is there a table at all? */
static void doctor_table(struct to_checks *checks, const struct to_device *device)
{
	if (device->generation)
		to_check_add(checks, TO_CHECK_OK, "table", device->name, NULL,
			     "generation %llu, %u routes",
			     (unsigned long long)device->generation, device->routes);
	else
		to_check_add(checks, TO_CHECK_WARN, "table", device->name,
			     "toctl apply PLAN", "no table was ever committed");
}

/* Does a client have what it needs? Of the first AllReduce group that the server is in. */
static void doctor_client(struct to_checks *checks, const struct to_check_view *view,
			  const struct doctor_args *args)
{
	struct to_env_port ports[TO_PORTS_MAX] = {};
	struct to_env_view env = { .server = view->server, .device = args->dev, .ports = ports };
	struct to_ranks ranks, group;
	struct to_error err = {};

	/* without groups, or in none of them */
	if (to_ranks_find(&ranks, view->plan, TO_RANKS_NONE, TO_RANKS_NONE, &err) ||
	    to_env_look(&view->plan->cluster->servers[view->server], ports, &err)) {
		to_check_add(checks, TO_CHECK_FAIL, "ports", to_env_clients[args->client], NULL,
			     "%s", err.text);
		return;
	}
	for (uint32_t g = 0; to_ranks_place(&ranks, view->server) < 0 &&
	     !to_ranks_find(&group, view->plan, g, TO_RANKS_NONE, &err); g++)
		if (to_ranks_place(&group, view->server) >= 0)
			ranks = group;
	env.ranks = &ranks;
	to_client_check(checks, &env, args->client, "");
}

static int doctor_look(struct to_call *call, const struct doctor_args *args,
		       struct to_check_view *view, struct to_checks *checks)
{
	struct to_kernel_port *ports = NULL;
	struct to_device device = {};
	struct to_genl genl;
	unsigned int n = 0;
	int ret = 0;

	/* Asking for the family makes the kernel load the module if it can. */
	if (!to_genl_open(&genl, NULL)) {
		if (view->device)
			ret = to_genl_device(&genl, view->device->ifindex, &device,
					     &call->err);
		if (view->device && !ret && !view->plan)
			ret = to_genl_ports(&genl, view->device->ifindex, &ports, &n,
					    &call->err);
		to_genl_close(&genl);
	}
	if (ret)
		return ret;
	if (!view->plan)
		for (; view->n_ports < n; view->n_ports++) {
			view->ports[view->n_ports] = ports[view->n_ports].name;
			view->rdma[view->n_ports] = ports[view->n_ports].tx_name;
		}
	to_check_module(checks);
	to_check_ports(checks, view);
	to_check_queues(checks, view);
	to_check_rdma(checks, view);
	to_check_sysctl(checks, args->dev, view);
	to_check_netfilter(checks, view);
	if (view->plan)
		doctor_plan(checks, view, args->plan, args->dev);
	else if (view->device)
		doctor_table(checks, &device);
	if (view->plan && args->client >= 0)
		doctor_client(checks, view, args);
	to_check_cabling(checks, view);
	free(ports);
	return 0;
}

static int doctor_run(struct to_call *call, const void *data)
{
	const struct doctor_args *args = data;
	struct to_check_view view = {};
	struct to_checks checks = {};
	struct to_plan *plan = NULL;
	struct to_nic *nics = NULL;
	struct to_netlink rt;
	int ret = 0;

	if (args->client >= 0 && !args->plan)
		return to_error_set(&call->err, -EINVAL, "--for needs --plan");
	if (args->plan) {
		plan = to_plan_load_shared(args->plan, &call->err);
		if (!plan)
			return -EINVAL;
		ret = to_node_find(plan, args->plan, args->node, &call->err);
		if (ret >= 0) {
			to_check_view_plan(&view, plan, ret);
			ret = 0;
		}
	}
	if (!ret)
		ret = to_netlink_open(&rt, NETLINK_ROUTE, &call->err);
	if (!ret) {
		ret = to_rtnl_nics(&rt, &nics, &view.n_nics, &call->err);
		to_netlink_close(&rt);
	}
	if (!ret) {
		view.nics = nics;
		view.device = to_rtnl_nic_find(nics, view.n_nics, args->dev);
		ret = doctor_look(call, args, &view, &checks);
	}
	if (!ret)
		to_checks_print(stdout, call, &checks);
	if (!ret && to_checks_failed(&checks))
		ret = TO_EXIT_FAILURE;
	to_checks_free(&checks);
	free(nics);
	to_plan_free(plan);
	return ret;
}

#define FIELD(field) .offset = offsetof(struct doctor_args, field)

static const struct to_option doctor_options[] = {
	{ "plan", 'p', TO_OPTION_STRING, FIELD(plan), .argument = "FILE",
	  .help = "compare with this plan, and probe what each port is cabled to" },
	{ "node", 'n', TO_OPTION_STRING, FIELD(node), .argument = "NAME",
	  .help = "name of this server in the plan; default: the host name" },
	{ "dev", 'd', TO_OPTION_STRING, FIELD(dev), .argument = "DEV",
	  .help = "topoopt device; default: topo0" },
	{ "for", 0, TO_OPTION_CHOICE, FIELD(client), .argument = "CLIENT",
	  .choices = to_env_clients, .help = "what this client of a job needs, too" },
	{}
};

const struct to_command to_cmd_doctor = {
	.name = "doctor",
	.summary = "Find out why this server's part does not work",
	.options = doctor_options,
	.args_size = sizeof(struct doctor_args),
	.defaults = &(const struct doctor_args){ .dev = "topo0", .client = -1 },
	.run = doctor_run,
};
