// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/agent_look.h"

#include <errno.h>
#include <net/if.h>
#include <stdlib.h>

#include "base/clock.h"
#include "kernel/genl.h"

static json_t *look_counters(const uint64_t *counters)
{
	json_t *object = json_object();

	for (int i = 0; i < TO_COUNTERS; i++)
		json_object_set_new(object, to_genl_counter_names[i],
				    json_integer((json_int_t)counters[i]));
	return object;
}

/* Groups that do without any of their next hops: read only where a port is dark. */
static int look_backups(struct to_genl *genl, uint32_t ifindex,
			const struct to_kernel_port *ports, unsigned int n, unsigned int *backups,
			struct to_error *err)
{
	struct to_kernel_table table = {};
	bool dark = false;
	int ret;

	*backups = 0;
	for (unsigned int i = 0; i < n; i++)
		dark |= !ports[i].live;
	if (!dark)
		return 0;
	ret = to_genl_table(genl, ifindex, false, &table, err);
	for (unsigned int g = 0; !ret && g < table.n_groups; g++)
		*backups += table.groups[g].backup_in_use;
	to_kernel_table_free(&table);
	return ret;
}

/* Two counters for each port: of what it transmits through, and its own. */
static int look_bytes(const struct to_kernel_port *ports, unsigned int n,
		      const struct to_counter_names *names, struct to_tm_counters *bytes,
		      struct to_error *err)
{
	struct to_tm_counters *values = calloc(2 * n + 1, sizeof(*values));
	uint32_t *ifindex = calloc(2 * n + 1, sizeof(*ifindex));
	struct to_counters *counters = NULL;
	struct to_netlink nl;
	int ret;

	ret = values && ifindex ? to_netlink_open(&nl, NETLINK_ROUTE, err) :
				  to_error_set(err, -ENOMEM, "out of memory");
	if (ret)
		goto out;
	for (unsigned int i = 0; i < n; i++) {
		ifindex[i] = ports[i].tx_ifindex;
		ifindex[n + i] = ports[i].ifindex;
	}
	counters = to_counters_open(&nl, ifindex, 2 * n, names, err);
	ret = counters ? to_counters_read(counters, values, err) : -EIO;
	for (unsigned int i = 0; !ret && i < n; i++) {
		/* of the wire are those that ethtool names, whichever interface is asked */
		const bool apart = !names && ports[i].tx_ifindex != ports[i].ifindex;

		bytes[i] = values[i];
		bytes[i].rx_bytes += apart ? values[n + i].rx_bytes : 0;
		bytes[i].tx_bytes += apart ? values[n + i].tx_bytes : 0;
	}
	to_counters_close(counters);
	to_netlink_close(&nl);
out:
	free(values);
	free(ifindex);
	return ret;
}

static int look_device(struct to_genl *genl, uint32_t ifindex, const struct to_counter_names *names,
		       json_t *reply, struct to_error *err)
{
	struct to_kernel_port *ports = NULL;
	struct to_tm_counters *bytes = NULL;
	struct to_device device;
	unsigned int n = 0, backups = 0;
	json_t *list;
	int ret;

	ret = to_genl_device(genl, ifindex, &device, err);
	ret = ret ? ret : to_genl_ports(genl, ifindex, &ports, &n, err);
	ret = ret ? ret : look_backups(genl, ifindex, ports, n, &backups, err);
	if (!ret) {
		bytes = calloc(n + 1, sizeof(*bytes));
		ret = bytes ? look_bytes(ports, n, names, bytes, err) :
			      to_error_set(err, -ENOMEM, "out of memory");
	}
	if (!ret) {
		list = json_array();
		for (unsigned int i = 0; i < n; i++)
			json_array_append_new(list, json_pack("{s:s, s:b, s:I, s:I, s:o}",
				"name", ports[i].name, "live", ports[i].live,
				"rx_bytes", (json_int_t)bytes[i].rx_bytes,
				"tx_bytes", (json_int_t)bytes[i].tx_bytes,
				"counters", look_counters(ports[i].counters)));
		json_object_set_new(reply, "device", json_integer(ifindex));
		json_object_set_new(reply, "backups", json_integer(backups));
		json_object_set_new(reply, "counters", look_counters(device.counters));
		json_object_set_new(reply, "ports", list);
	}
	free(bytes);
	free(ports);
	return ret;
}

int to_agent_look(const char *device, const struct to_counter_names *names, json_t *reply,
		  struct to_error *err)
{
	const uint32_t ifindex = if_nametoindex(device);
	struct to_genl genl;
	int ret;

	json_object_set_new(reply, "time_ns", json_integer((json_int_t)to_clock_monotonic_ns()));
	if (!ifindex)
		return 0;
	ret = to_genl_open(&genl, err);
	if (ret)
		return ret;
	ret = look_device(&genl, ifindex, names, reply, err);
	to_genl_close(&genl);
	return ret;
}
