// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/counters.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define FCS_BYTES 4

int to_counter_names_parse(const char *text, struct to_counter_names *names,
			   struct to_error *err)
{
	const char *p = text;

	for (int i = 0; i < 4; i++) {
		size_t len = strcspn(p, ",");

		if (!len || len >= TO_COUNTER_NAME_MAX || (i < 3) != (p[len] == ','))
			return to_error_set(err, -EINVAL,
					    "expected four names of statistics joined by commas, not \"%s\"",
					    text);
		memcpy(names->name[i], p, len);
		names->name[i][len] = '\0';
		p += len + 1;
	}
	return 0;
}

static int counters_stats64_reply(const struct nlmsghdr *nlh, void *arg)
{
	struct to_tm_counters *counters = arg;
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct if_stats_msg)) {
		struct rtnl_link_stats64 stats = {};
		size_t len = mnl_attr_get_payload_len(attr);

		if (mnl_attr_get_type(attr) != IFLA_STATS_LINK_64)
			continue;
		memcpy(&stats, mnl_attr_get_payload(attr),
		       len < sizeof(stats) ? len : sizeof(stats));
		*counters = (struct to_tm_counters){
			.rx_packets = stats.rx_packets, .rx_bytes = stats.rx_bytes,
			.tx_packets = stats.tx_packets, .tx_bytes = stats.tx_bytes,
		};
	}
	return 0;
}

static int counters_read_stats64(struct to_netlink *nl, uint32_t ifindex,
				 struct to_tm_counters *counters, struct to_error *err)
{
	char buf[NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(struct if_stats_msg))];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct if_stats_msg *request;

	nlh->nlmsg_type = RTM_GETSTATS;
	request = mnl_nlmsg_put_extra_header(nlh, sizeof(*request));
	request->ifindex = ifindex;
	request->filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64);
	return to_netlink_call(nl, nlh, counters_stats64_reply, counters, err);
}

static int counters_ethtool(int fd, struct ifreq *request, void *command)
{
	request->ifr_data = command;
	return ioctl(fd, SIOCETHTOOL, request) ? -errno : 0;
}

/* How many statistics the driver of @request has; negative errno. */
static int counters_count_statistics(int fd, struct ifreq *request)
{
	struct {
		struct ethtool_sset_info info;
		uint32_t count;
	} set = { .info = { .cmd = ETHTOOL_GSSET_INFO,
			    .sset_mask = 1ull << ETH_SS_STATS } };
	int ret = counters_ethtool(fd, request, &set);

	if (ret)
		return ret;
	return set.info.sset_mask ? (int)set.count : 0;
}

static int counters_find_statistics(const struct ethtool_gstrings *strings,
				    const struct ethtool_stats *stats,
				    const struct to_counter_names *names,
				    uint64_t value[4], const char *ifname,
				    struct to_error *err)
{
	for (int i = 0; i < 4; i++) {
		uint32_t s = 0;

		while (s < stats->n_stats &&
		       strncmp((const char *)strings->data + s * ETH_GSTRING_LEN,
			       names->name[i], ETH_GSTRING_LEN))
			s++;
		if (s == stats->n_stats)
			return to_error_set(err, -ENOENT,
					    "%s has no statistic \"%s\" (ethtool -S %s)",
					    ifname, names->name[i], ifname);
		value[i] = stats->data[s];
	}
	return 0;
}

static int counters_read_ethtool(uint32_t ifindex, const struct to_counter_names *names,
				 struct to_tm_counters *counters, struct to_error *err)
{
	struct ethtool_gstrings *strings = NULL;
	struct ethtool_stats *stats = NULL;
	struct ifreq request = {};
	uint64_t value[4];
	int fd, n, ret;

	if (!if_indextoname(ifindex, request.ifr_name))
		return to_error_set(err, -ENODEV, "no interface %u", ifindex);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return to_error_set(err, -errno, "socket: %s", strerror(errno));
	n = counters_count_statistics(fd, &request);
	ret = n < 0 ? n : -ENOMEM;
	if (n >= 0) {
		strings = calloc(1, sizeof(*strings) + (size_t)n * ETH_GSTRING_LEN);
		stats = calloc(1, sizeof(*stats) + n * sizeof(uint64_t));
	}
	if (strings && stats) {
		strings->cmd = ETHTOOL_GSTRINGS;
		strings->string_set = ETH_SS_STATS;
		strings->len = n;
		stats->cmd = ETHTOOL_GSTATS;
		stats->n_stats = n;
		ret = n ? counters_ethtool(fd, &request, strings) : 0;
		ret = ret || !n ? ret : counters_ethtool(fd, &request, stats);
	}
	if (ret)
		to_error_set(err, ret, "statistics of %s: %s", request.ifr_name,
			     strerror(-ret));
	else
		ret = counters_find_statistics(strings, stats, names, value,
					       request.ifr_name, err);
	free(strings);
	free(stats);
	close(fd);
	if (ret)
		return ret;
	*counters = (struct to_tm_counters){
		.rx_bytes = value[0], .rx_packets = value[1],
		.tx_bytes = value[2], .tx_packets = value[3],
	};
	if (names->fcs) {
		counters->rx_bytes -= FCS_BYTES * counters->rx_packets;
		counters->tx_bytes -= FCS_BYTES * counters->tx_packets;
	}
	return 0;
}

int to_counters_read(struct to_netlink *nl, uint32_t ifindex,
		     const struct to_counter_names *names,
		     struct to_tm_counters *counters, struct to_error *err)
{
	if (names)
		return counters_read_ethtool(ifindex, names, counters, err);
	return counters_read_stats64(nl, ifindex, counters, err);
}
