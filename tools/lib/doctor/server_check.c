// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/server_check.h"

#include <stdlib.h>
#include <string.h>

#include "base/argv.h"
#include "kernel/apply.h"
#include "kernel/genl.h"
#include "kernel/rtnl.h"

/* Compare the kernel with the plan. */
static void server_plan(struct to_checks *checks, const struct to_check_view *view,
			const char *path, const char *dev)
{
	const struct to_device *device;
	struct to_apply_counts counts;
	struct to_error err = {};
	struct to_apply *apply;
	char fix[400], *file = to_argv_quote(path);

	snprintf(fix, sizeof(fix), "toctl apply %s --node %s",
		 file && strlen(file) < sizeof(fix) / 2 ? file : "PLAN",
		 view->plan->cluster->servers[view->server].name);
	free(file);
	apply = to_apply_open(view->plan, view->server, dev, true, NULL, &err);
	if (!apply) {
		to_check_add(checks, TO_CHECK_FAIL, "plan", dev, fix, "%s", err.text);
		return;
	}
	device = to_apply_current(apply);
	counts = to_apply_count(apply);
	if (!device->generation)
		to_check_add(checks, TO_CHECK_FAIL, "table", dev, fix, "no table was ever committed");
	else if (to_apply_routes_differ(apply))
		to_check_add(checks, TO_CHECK_FAIL, "table", dev, fix,
			     "generation %llu is not this plan: %u routes missing, %u too many, %u different, %u settings of checks and neighbours",
			     (unsigned long long)device->generation,
			     counts.differing.added, counts.differing.removed,
			     counts.differing.changed, counts.checks);
	else if (counts.checks)
		to_check_add(checks, TO_CHECK_WARN, "table", dev,
			     "toctl apply --all PLAN; servers without checks belong into \"unable\" of its \"checks\"",
			     "generation %llu has the routes of this plan, and %u other settings of checks and neighbours",
			     (unsigned long long)device->generation, counts.checks);
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

/* Without a plan, check that there is a table. */
static void server_table(struct to_checks *checks, const struct to_device *device)
{
	if (device->generation)
		to_check_add(checks, TO_CHECK_OK, "table", device->name, NULL,
			     "generation %llu, %u routes",
			     (unsigned long long)device->generation, device->routes);
	else
		to_check_add(checks, TO_CHECK_WARN, "table", device->name,
			     "toctl apply PLAN", "no table was ever committed");
}

/*
 * Read the device, its ports and its neighbours if the module is loaded. Without a plan, these
 * ports are looked at.
 */
static int server_device(struct to_check_view *view, struct to_device *device,
			 struct to_kernel_port **ports, unsigned int *n,
			 struct to_module *module, bool *loaded, struct to_check_peers *peers,
			 struct to_error *err)
{
	struct to_genl genl;
	int ret = 0;

	/* Asking for the family makes the kernel load the module if it can. */
	*loaded = !to_genl_open(&genl, NULL);
	if (!*loaded)
		return 0;
	*module = genl.module;
	if (view->device)
		ret = to_genl_device(&genl, view->device->ifindex, device, err);
	if (view->device && !ret)
		ret = to_genl_ports(&genl, view->device->ifindex, ports, n, err);
	if (view->device && !ret)
		ret = to_peers_get(&genl, view->device->ifindex, &peers->peers, &peers->n, err);
	to_genl_close(&genl);
	for (; !ret && !view->plan && view->n_ports < *n; view->n_ports++) {
		view->ports[view->n_ports] = (*ports)[view->n_ports].name;
		view->rdma[view->n_ports] = (*ports)[view->n_ports].tx_name;
	}
	return ret;
}

static int server_look(struct to_checks *checks, struct to_check_view *view, const char *path,
		       const char *device, struct to_error *err)
{
	struct to_check_peers peers = { .self = "this server" };
	struct to_kernel_port *ports = NULL;
	struct to_device state = {};
	unsigned int n_ports = 0;
	struct to_module module;
	bool loaded;
	int ret = server_device(view, &state, &ports, &n_ports, &module, &loaded, &peers, err);

	if (ret) {
		free(ports);
		return ret;
	}
	if (state.check.server[0])
		peers.self = state.check.server;
	to_check_module(checks, loaded ? &module : NULL);
	to_check_ports(checks, view);
	to_check_xdp(checks, ports, n_ports);
	to_check_queues(checks, view);
	to_check_rdma(checks, view);
	to_check_sysctl(checks, device, view);
	to_check_netfilter(checks, view);
	if (view->plan) {
		server_plan(checks, view, path, device);
		to_check_routes(checks, device, view);
	} else if (view->device) {
		server_table(checks, &state);
	}
	to_check_peers(checks, &peers);
	to_check_cabling(checks, view);
	free(ports);
	free(peers.peers);
	return 0;
}

int to_server_check(struct to_checks *checks, const struct to_plan *plan, const char *path,
		    unsigned int server, const char *device, struct to_error *err)
{
	struct to_check_view view = {};
	struct to_nic *nics = NULL;
	struct to_netlink rt;
	int ret;

	if (plan)
		to_check_view_plan(&view, plan, server);
	ret = to_netlink_open(&rt, NETLINK_ROUTE, err);
	if (ret)
		return ret;
	ret = to_rtnl_nics(&rt, &nics, &view.n_nics, err);
	to_netlink_close(&rt);
	view.nics = nics;
	view.device = ret ? NULL : to_rtnl_nic_find(nics, view.n_nics, device);
	ret = ret ? ret : server_look(checks, &view, path, device, err);
	free(nics);
	return ret;
}
