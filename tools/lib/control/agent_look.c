// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/agent_look.h"

#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "kernel/link_counters.h"
#include "kernel/sysfs.h"
#include "kernel/table_digest.h"

static json_t *look_counters(const uint64_t *counters)
{
	json_t *object = json_object();

	for (int i = 0; i < TO_COUNTERS; i++)
		json_object_set_new(object, to_genl_counter_names[i],
				    json_integer((json_int_t)counters[i]));
	return object;
}

/* What looks at one device share. */
struct look {
	struct to_genl *genl;
	struct to_device device;
	struct to_kernel_port *ports;
	unsigned int n;
};

static int look_digest(const struct look *l, const struct to_kernel_table *table,
		       struct to_agent_seen *seen, struct to_error *err)
{
	struct to_table_port *ports = calloc(l->n + 1, sizeof(*ports));
	int ret = ports ? 0 : -ENOMEM;

	for (unsigned int i = 0; ports && i < l->n; i++)
		ports[i] = (struct to_table_port){ l->ports[i].ifindex, l->ports[i].name };
	ret = ret ? ret : to_table_digest(table, ports, l->n, &seen->digest);
	free(ports);
	if (ret)
		return to_error_set(err, ret, "out of memory");
	seen->device = l->device.ifindex;
	seen->generation = table->generation;
	return 0;
}

/*
 * The digest of the table, and the groups that do without any of their next hops: it is read
 * only when it is another one than @seen, or a port is dark.
 */
static int look_table(const struct look *l, struct to_agent_seen *seen, unsigned int *backups,
		      struct to_error *err)
{
	bool read = seen->device != l->device.ifindex || seen->generation != l->device.generation;
	struct to_kernel_table table = {};
	int ret;

	*backups = 0;
	for (unsigned int i = 0; i < l->n; i++)
		read |= !l->ports[i].live;
	if (!read)
		return 0;
	ret = to_genl_table(l->genl, l->device.ifindex, false, &table, err);
	for (unsigned int g = 0; !ret && g < table.n_groups; g++)
		*backups += table.groups[g].backup_in_use;
	ret = ret ? ret : look_digest(l, &table, seen, err);
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
	ret = to_counters_check(ifindex, n, names, err);
	counters = ret ? NULL : to_counters_open(&nl, ifindex, 2 * n, names, err);
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

static bool look_flag(int fd, struct ifreq *request, const char *name, short flag)
{
	strcpy(request->ifr_name, name);
	return !ioctl(fd, SIOCGIFFLAGS, request) && (request->ifr_flags & flag) == flag;
}

bool to_agent_look_lit(int fd, const struct to_kernel_port *port)
{
	const short lit = IFF_UP | IFF_RUNNING;
	struct ifreq request = { 0 };

	return look_flag(fd, &request, port->name, lit) &&
	       look_flag(fd, &request, port->tx_name, lit);
}

/*
 * Whether the device is up, which ports have light, the rate of each, and the MTU of what it
 * transmits through.
 */
static void look_interfaces(const struct look *l, json_t *ports, json_t *reply)
{
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = { 0 };

	if (fd < 0)
		return;
	json_object_set_new(reply, "up", json_boolean(look_flag(fd, &request, l->device.name, IFF_UP)));
	for (unsigned int i = 0; i < l->n; i++) {
		const unsigned long long mbits = to_sysfs_mbits(l->ports[i].name);
		json_t *port = json_array_get(ports, i);

		if (mbits)
			json_object_set_new(port, "mbits", json_integer((json_int_t)mbits));
		json_object_set_new(port, "light",
				    json_boolean(to_agent_look_lit(fd, &l->ports[i])));
		strcpy(request.ifr_name, l->ports[i].tx_name);
		if (!ioctl(fd, SIOCGIFMTU, &request))
			json_object_set_new(port, "mtu", json_integer(request.ifr_mtu));
	}
	close(fd);
}

/* Packets, errors and changes of carrier of each port, for those that look for lossy links. */
static int look_links(const struct to_kernel_port *ports, unsigned int n,
		      struct to_link_end *ends, struct to_error *err)
{
	struct to_link_ifindex *ifindex = calloc(n + 1, sizeof(*ifindex));
	struct to_netlink nl;
	int ret;

	ret = ifindex ? to_netlink_open(&nl, NETLINK_ROUTE, err) :
			to_error_set(err, -ENOMEM, "out of memory");
	if (!ret) {
		for (unsigned int i = 0; i < n; i++)
			ifindex[i] = (struct to_link_ifindex){ ports[i].ifindex,
							       ports[i].tx_ifindex };
		ret = to_link_counters_read(&nl, ifindex, n, ends, err);
		to_netlink_close(&nl);
	}
	free(ifindex);
	return ret;
}

static int look_device(struct look *l, uint32_t ifindex, const struct to_counter_names *names,
		       struct to_agent_seen *seen, json_t *reply, struct to_error *err)
{
	struct to_tm_counters *bytes = NULL;
	struct to_link_end *ends = NULL;
	unsigned int backups = 0;
	json_t *list;
	int ret;

	ret = to_genl_device(l->genl, ifindex, &l->device, err);
	ret = ret ? ret : to_genl_ports(l->genl, ifindex, &l->ports, &l->n, err);
	ret = ret ? ret : look_table(l, seen, &backups, err);
	if (!ret) {
		bytes = calloc(l->n + 1, sizeof(*bytes));
		ends = calloc(l->n + 1, sizeof(*ends));
		ret = bytes && ends ? look_bytes(l->ports, l->n, names, bytes, err) :
				      to_error_set(err, -ENOMEM, "out of memory");
	}
	ret = ret ? ret : look_links(l->ports, l->n, ends, err);
	if (!ret) {
		list = json_array();
		for (unsigned int i = 0; i < l->n; i++)
			json_array_append_new(list, json_pack("{s:s, s:b, s:I, s:I, s:o, s:o}",
				"name", l->ports[i].name, "live", l->ports[i].live,
				"rx_bytes", (json_int_t)bytes[i].rx_bytes,
				"tx_bytes", (json_int_t)bytes[i].tx_bytes,
				"link", to_link_end_json(&ends[i]),
				"counters", look_counters(l->ports[i].counters)));
		json_object_set_new(reply, "device", json_integer(ifindex));
		json_object_set_new(reply, "table", json_sprintf("%016" PRIx64, seen->digest));
		json_object_set_new(reply, "backups", json_integer(backups));
		json_object_set_new(reply, "counters", look_counters(l->device.counters));
		json_object_set_new(reply, "ports", list);
		look_interfaces(l, list, reply);
	}
	free(bytes);
	free(ends);
	free(l->ports);
	return ret;
}

int to_agent_look(const char *device, const struct to_counter_names *names,
		  struct to_agent_seen *seen, json_t *reply, struct to_error *err)
{
	const uint32_t ifindex = if_nametoindex(device);
	struct to_genl genl;
	struct look look = { .genl = &genl };
	int ret;

	json_object_set_new(reply, "time_ns", json_integer((json_int_t)to_clock_monotonic_ns()));
	if (!ifindex)
		return 0;
	ret = to_genl_open(&genl, err);
	if (ret)
		return ret;
	ret = look_device(&look, ifindex, names, seen, reply, err);
	to_genl_close(&genl);
	return ret;
}
