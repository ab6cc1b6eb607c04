// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/route_query.h"

#include <errno.h>
#include <stdlib.h>

#include "kernel/diff.h"
#include "kernel/rtnl.h"

static int route_ask(uint32_t ifindex, const struct to_kernel_route *key,
		     const struct to_diff_names *names, json_t **answer, struct to_error *err)
{
	struct to_kernel_route route = *key;
	struct to_kernel_group group = {};
	uint64_t generation;
	struct to_genl genl;
	int ret = to_genl_open(&genl, err);

	if (ret)
		return ret;
	ret = to_genl_route(&genl, ifindex, &route, &group, &generation, err);
	to_genl_close(&genl);
	if (!ret) {
		*answer = to_route_json(&route, group.n ? &group : NULL, names);
		json_object_set_new(*answer, "generation", json_integer(generation));
	}
	free(group.nexthops);
	return ret;
}

int to_route_query(const char *device, const struct to_kernel_route *key, json_t **answer,
		   struct to_error *err)
{
	const uint32_t ifindex = if_nametoindex(device);
	struct to_diff_names names = {};
	struct to_nic *nics = NULL;
	struct to_netlink rt;
	int ret;

	if (!ifindex)
		return to_error_set(err, -ENODEV, "there is no topoopt device %s to ask", device);
	ret = to_netlink_open(&rt, NETLINK_ROUTE, err);
	if (ret)
		return ret;
	ret = to_rtnl_nics(&rt, &nics, &names.n, err);
	to_netlink_close(&rt);
	names.nics = nics;
	ret = ret ? ret : route_ask(ifindex, key, &names, answer, err);
	free(nics);
	return ret;
}
