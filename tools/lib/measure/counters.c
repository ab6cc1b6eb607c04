// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/counters.h"

#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/ethtool_stats.h"
#include "kernel/hardware.h"

#define FCS_BYTES 4

#define COUNTERS_REQUEST (NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(struct if_stats_msg)))

/**
 * struct to_counters - see counters.h
 * @requests: to rtnetlink, one for each
 * @values: while they are read
 * @got: how many were
 * @wanted: names of the statistics of ethtool
 * @nics: the statistics of ethtool of each interface, or NULL
 */
struct to_counters {
	struct to_netlink *nl;
	const struct to_counter_names *names;
	unsigned int n, got;
	uint32_t *ifindex;
	char *requests;
	struct to_tm_counters *values;
	const char *wanted[4];
	struct to_ethtool_stats **nics;
};

int to_counter_names_parse(const char *text, struct to_counter_names *names,
			   struct to_error *err)
{
	const char *p = text;

	for (int i = 0; i < 4; i++) {
		size_t len = strcspn(p, ",");

		if (!len || len >= TO_COUNTER_NAME_MAX ||
		    (i < 3 ? p[len] != ',' : p[len] && strcmp(p + len, ",fcs")))
			return to_error_set(err, -EINVAL,
					    "expected four names of statistics joined by commas, and perhaps fcs, not \"%s\"",
					    text);
		memcpy(names->name[i], p, len);
		names->name[i][len] = '\0';
		names->fcs = i == 3 && p[len];
		p += len + 1;
	}
	return 0;
}

/* ---- rtnetlink ---- */

static int counters_take_stats64(const struct nlmsghdr *nlh, void *arg)
{
	const struct if_stats_msg *head = to_netlink_header(nlh, sizeof(*head));
	struct to_counters *counters = arg;
	struct to_tm_counters *values;
	const struct nlattr *attr;
	unsigned int i = 0;

	while (head && i < counters->n && counters->ifindex[i] != head->ifindex)
		i++;
	if (!head || i == counters->n)
		return 0;
	values = &counters->values[i];
	mnl_attr_for_each(attr, nlh, sizeof(struct if_stats_msg)) {
		struct rtnl_link_stats64 stats = {};
		size_t len = mnl_attr_get_payload_len(attr);

		if (mnl_attr_get_type(attr) != IFLA_STATS_LINK_64)
			continue;
		memcpy(&stats, mnl_attr_get_payload(attr),
		       len < sizeof(stats) ? len : sizeof(stats));
		*values = (struct to_tm_counters){
			.rx_packets = stats.rx_packets, .rx_bytes = stats.rx_bytes,
			.tx_packets = stats.tx_packets, .tx_bytes = stats.tx_bytes,
		};
		counters->got++;
	}
	return 0;
}

static int counters_read_stats64(struct to_counters *c, struct to_tm_counters *values,
				 struct to_error *err)
{
	unsigned int asked = 0;
	int ret;

	memset(c->requests, 0, c->n * COUNTERS_REQUEST);
	for (unsigned int i = 0; i < c->n; i++) {
		struct nlmsghdr *nlh;
		struct if_stats_msg *request;

		if (!c->ifindex[i])
			continue;
		nlh = mnl_nlmsg_put_header(c->requests + asked++ * COUNTERS_REQUEST);
		request = mnl_nlmsg_put_extra_header(nlh, sizeof(*request));
		nlh->nlmsg_type = RTM_GETSTATS;
		request->ifindex = c->ifindex[i];
		request->filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64);
	}
	c->values = values;
	c->got = 0;
	ret = to_netlink_get(c->nl, c->requests, asked * COUNTERS_REQUEST,
			     counters_take_stats64, NULL, c, err);
	if (!ret && c->got != asked)
		ret = to_error_set(err, -EIO, "the kernel told of %u of %u interfaces", c->got,
				   asked);
	return ret;
}

/* ---- ethtool ---- */

static int counters_read_ethtool(const struct to_counters *c, unsigned int i,
				 struct to_tm_counters *values, struct to_error *err)
{
	uint64_t read[4];
	int ret = to_ethtool_stats_read(c->nics[i], read, err);

	if (ret)
		return ret;
	*values = (struct to_tm_counters){
		.rx_bytes = read[0], .rx_packets = read[1], .tx_bytes = read[2], .tx_packets = read[3],
	};
	if (c->names->fcs) {
		values->rx_bytes -= FCS_BYTES * values->rx_packets;
		values->tx_bytes -= FCS_BYTES * values->tx_packets;
	}
	return 0;
}

/* ---- both ---- */

void to_counters_close(struct to_counters *c)
{
	if (!c)
		return;
	for (unsigned int i = 0; c->nics && i < c->n; i++)
		to_ethtool_stats_close(c->nics[i]);
	free(c->nics);
	free(c->ifindex);
	free(c->requests);
	free(c);
}

/* The first of @names that is of a connector, NULL for none. */
static const char *counters_of_connector(const struct to_counter_names *names)
{
	static const char suffix[] = "_phy";

	for (unsigned int i = 0; i < sizeof(names->name) / sizeof(*names->name); i++) {
		const size_t length = strlen(names->name[i]);

		if (length >= sizeof(suffix) &&
		    !strcmp(names->name[i] + length - (sizeof(suffix) - 1), suffix))
			return names->name[i];
	}
	return NULL;
}

int to_counters_check(const uint32_t *ifindex, unsigned int n, const struct to_counter_names *names,
		      struct to_error *err)
{
	const char *const of_connector = names ? counters_of_connector(names) : NULL;
	struct to_hardware *hardware = of_connector ? calloc(n + 1, sizeof(*hardware)) : NULL;
	char name[IFNAMSIZ], other[IFNAMSIZ];
	int ret = 0;

	if (!of_connector)
		return 0;
	if (!hardware)
		return to_error_set(err, -ENOMEM, "out of memory");
	for (unsigned int i = 0; !ret && i < n; i++) {
		if (!if_indextoname(ifindex[i], name))
			continue;
		to_hardware_read(&hardware[i], name);
		for (unsigned int k = 0; !ret && k < i; k++)
			if (to_hardware_share_connector(&hardware[i], &hardware[k]) &&
			    if_indextoname(ifindex[k], other))
				ret = to_error_set(err, -ENOTSUP,
						   "%s and %s are functions on one connector, and both count all of its frames as %s: name counters of one function",
						   other, name, of_connector);
	}
	free(hardware);
	return ret;
}

struct to_counters *to_counters_open(struct to_netlink *nl, const uint32_t *ifindex,
				     unsigned int n, const struct to_counter_names *names,
				     struct to_error *err)
{
	struct to_counters *c = calloc(1, sizeof(*c));

	if (c) {
		*c = (struct to_counters){ .nl = nl, .names = names, .n = n };
		c->ifindex = calloc(n + 1, sizeof(*c->ifindex));
		c->requests = calloc(n + 1, COUNTERS_REQUEST);
		c->nics = calloc(n + 1, sizeof(*c->nics));
	}
	if (!c || !c->ifindex || !c->requests || !c->nics) {
		to_error_set(err, -ENOMEM, "out of memory");
		to_counters_close(c);
		return NULL;
	}
	memcpy(c->ifindex, ifindex, n * sizeof(*ifindex));
	for (unsigned int k = 0; names && k < sizeof(c->wanted) / sizeof(*c->wanted); k++)
		c->wanted[k] = names->name[k];
	for (unsigned int i = 0; names && i < n; i++) {
		if (!ifindex[i])
			continue;
		c->nics[i] = to_ethtool_stats_open(ifindex[i], c->wanted, 4, err);
		if (!c->nics[i]) {
			to_counters_close(c);
			return NULL;
		}
	}
	return c;
}

struct to_counters *to_counters_open_server(struct to_netlink *nl, const struct to_server *server,
					    struct to_error *err)
{
	uint32_t ifindex[TO_PORTS_MAX];

	for (unsigned int q = 0; q < server->n_ports; q++) {
		const struct to_port *port = &server->ports[q];
		const char *name = port->transmit[0] ? port->transmit : port->name;

		ifindex[q] = if_nametoindex(name);
		if (!ifindex[q]) {
			to_error_set(err, -ENODEV, "%s: no interface %s on this host",
				     server->name, name);
			return NULL;
		}
	}
	return to_counters_open(nl, ifindex, server->n_ports, NULL, err);
}

int to_counters_read(struct to_counters *c, struct to_tm_counters *values, struct to_error *err)
{
	int ret = 0;

	memset(values, 0, c->n * sizeof(*values));
	if (!c->names)
		return counters_read_stats64(c, values, err);
	for (unsigned int i = 0; !ret && i < c->n; i++)
		if (c->nics[i])
			ret = counters_read_ethtool(c, i, &values[i], err);
	return ret;
}
