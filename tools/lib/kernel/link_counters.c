// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/link_counters.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "kernel/ethtool_stats.h"

#define LINK_REQUEST (NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(struct ifinfomsg)))

/* Interfaces that are being read, and what was read of each. */
struct link_read {
	const struct to_link_ifindex *ports;
	unsigned int n;
	struct to_link_end *ends;
	unsigned int got;
};

/* What the kernel tells of an interface. */
struct link_told {
	uint32_t ifindex;
	uint32_t lower;		/* interface of this namespace that it is on, or 0 */
	uint32_t carrier_changes;
	struct rtnl_link_stats64 stats;
};

static void link_add(const struct link_read *read, const struct link_told *told)
{
	for (unsigned int i = 0; i < read->n; i++) {
		const struct to_link_ifindex *port = &read->ports[i];
		struct to_link_end *end = &read->ends[i];

		if (port->port == told->ifindex)
			end->carrier_changes = told->carrier_changes;
		/* frames of a macvlan device count at the interface that it is on, too */
		if (port->transmit != told->ifindex &&
		    (port->port != told->ifindex || port->transmit == told->lower))
			continue;
		end->device.rx += told->stats.rx_packets;
		end->device.tx += told->stats.tx_packets;
		end->missed += told->stats.rx_missed_errors;
		end->errors += told->stats.rx_errors;
	}
}

static int link_take(const struct nlmsghdr *nlh, void *arg)
{
	const struct ifinfomsg *head = to_netlink_header(nlh, sizeof(*head));
	struct link_read *read = arg;
	struct link_told told = {};
	const struct nlattr *attr;
	bool counted = false, elsewhere = false;

	if (!head)
		return 0;
	told.ifindex = head->ifi_index;
	mnl_attr_for_each(attr, nlh, sizeof(*head)) {
		const size_t len = mnl_attr_get_payload_len(attr);

		switch (mnl_attr_get_type(attr)) {
		case IFLA_CARRIER_CHANGES:
			told.carrier_changes = to_attr_u32(attr);
			break;
		case IFLA_LINK:
			told.lower = to_attr_u32(attr);
			break;
		case IFLA_LINK_NETNSID:
			elsewhere = true;
			break;
		case IFLA_STATS64:
			memcpy(&told.stats, mnl_attr_get_payload(attr),
			       len < sizeof(told.stats) ? len : sizeof(told.stats));
			counted = true;
			break;
		}
	}
	if (elsewhere)
		told.lower = 0;
	if (counted)
		link_add(read, &told);
	read->got += counted;
	return 0;
}

/* Read the statistics that every driver has, in one system call. */
static int link_read_device(struct to_netlink *nl, struct link_read *read, struct to_error *err)
{
	char *requests = calloc(2 * read->n + 1, LINK_REQUEST);
	unsigned int asked = 0;
	int ret;

	if (!requests)
		return to_error_set(err, -ENOMEM, "out of memory");
	for (unsigned int i = 0; i < 2 * read->n; i++) {
		const struct to_link_ifindex *port = &read->ports[i / 2];
		struct nlmsghdr *nlh = mnl_nlmsg_put_header(requests + asked * LINK_REQUEST);
		struct ifinfomsg *request = mnl_nlmsg_put_extra_header(nlh, sizeof(*request));

		nlh->nlmsg_type = RTM_GETLINK;
		request->ifi_index = i % 2 ? port->transmit : port->port;
		asked += !(i % 2) || port->transmit != port->port;
	}
	ret = to_netlink_get(nl, requests, asked * LINK_REQUEST, link_take, NULL, read, err);
	if (!ret && read->got != asked)
		ret = to_error_set(err, -EIO, "the kernel told of %u of %u interfaces", read->got,
				   asked);
	free(requests);
	return ret;
}

/* Read what passed the connector, where the driver counts that. */
static void link_read_phy(uint32_t ifindex, struct to_link_end *end)
{
	static const char *const names[] = { "rx_packets_phy", "tx_packets_phy" };
	struct to_ethtool_stats *stats = to_ethtool_stats_open(ifindex, names, 2, NULL);
	uint64_t values[2];

	if (stats && !to_ethtool_stats_read(stats, values, NULL)) {
		end->phy = (struct to_link_packets){ values[0], values[1] };
		end->has_phy = true;
	}
	to_ethtool_stats_close(stats);
}

int to_link_counters_read(struct to_netlink *nl, const struct to_link_ifindex *ports,
			  unsigned int n, struct to_link_end *ends, struct to_error *err)
{
	struct link_read read = { .ports = ports, .n = n, .ends = ends };
	int ret;

	memset(ends, 0, n * sizeof(*ends));
	ret = n ? link_read_device(nl, &read, err) : 0;
	for (unsigned int i = 0; !ret && i < n; i++)
		link_read_phy(ports[i].transmit, &ends[i]);
	return ret;
}

json_t *to_link_end_json(const struct to_link_end *end)
{
	json_t *object = json_pack("{s:I, s:I, s:I, s:I, s:I}",
				   "rx_packets", (json_int_t)end->device.rx,
				   "tx_packets", (json_int_t)end->device.tx,
				   "missed", (json_int_t)end->missed,
				   "errors", (json_int_t)end->errors,
				   "carrier_changes", (json_int_t)end->carrier_changes);

	if (object && end->has_phy)
		json_object_update_new(object, json_pack("{s:I, s:I}",
				       "rx_packets_phy", (json_int_t)end->phy.rx,
				       "tx_packets_phy", (json_int_t)end->phy.tx));
	return object;
}

static bool link_number(const json_t *object, const char *key, uint64_t *value)
{
	const json_t *number = json_object_get(object, key);

	*value = json_integer_value(number);
	return json_is_integer(number) && json_integer_value(number) >= 0;
}

bool to_link_end_take(struct to_link_end *end, const json_t *object)
{
	*end = (struct to_link_end){};
	end->has_phy = link_number(object, "rx_packets_phy", &end->phy.rx) &&
		       link_number(object, "tx_packets_phy", &end->phy.tx);
	return link_number(object, "rx_packets", &end->device.rx) &&
	       link_number(object, "tx_packets", &end->device.tx) &&
	       link_number(object, "missed", &end->missed) &&
	       link_number(object, "errors", &end->errors) &&
	       link_number(object, "carrier_changes", &end->carrier_changes);
}
