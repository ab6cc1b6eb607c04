// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/ethtool_stats.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/**
 * struct to_ethtool_stats - see ethtool_stats.h
 * @fd: socket
 * @request: with the interface's name
 * @names: of the statistics to take, @n of them
 * @at: where these are in @stats
 * @stats: room for all of the interface's statistics
 */
struct to_ethtool_stats {
	int fd;
	struct ifreq request;
	const char *const *names;
	unsigned int n;
	uint32_t at[TO_ETHTOOL_STATS_MAX];
	struct ethtool_stats *stats;
};

static int stats_ask(struct to_ethtool_stats *s, void *command)
{
	s->request.ifr_data = command;
	return ioctl(s->fd, SIOCETHTOOL, &s->request) ? -errno : 0;
}

static int stats_fail(const struct to_ethtool_stats *s, int ret, struct to_error *err)
{
	return to_error_set(err, ret, "statistics of %s: %s", s->request.ifr_name, strerror(-ret));
}

/* How many statistics the driver has; negative errno. */
static int stats_count(struct to_ethtool_stats *s)
{
	struct {
		struct ethtool_sset_info info;
		uint32_t count;
	} set = { .info = { .cmd = ETHTOOL_GSSET_INFO,
			    .sset_mask = 1ull << ETH_SS_STATS } };
	int ret = stats_ask(s, &set);

	if (ret)
		return ret;
	return set.info.sset_mask ? (int)set.count : 0;
}

static int stats_find(struct to_ethtool_stats *s, const struct ethtool_gstrings *strings,
		      struct to_error *err)
{
	const char *ifname = s->request.ifr_name;

	for (unsigned int i = 0; i < s->n; i++) {
		uint32_t k = 0;

		while (k < strings->len && strncmp((const char *)strings->data + k * ETH_GSTRING_LEN,
						   s->names[i], ETH_GSTRING_LEN))
			k++;
		if (k == strings->len)
			return to_error_set(err, -ENOENT,
					    "%s has no statistic \"%s\" (ethtool -S %s)",
					    ifname, s->names[i], ifname);
		s->at[i] = k;
	}
	return 0;
}

/* Find the statistics among those that the driver has now, and make room for these. */
static int stats_prepare(struct to_ethtool_stats *s, struct to_error *err)
{
	struct ethtool_gstrings *strings;
	int n = stats_count(s), ret;

	if (n < 0)
		return stats_fail(s, n, err);
	free(s->stats);
	s->stats = calloc(1, sizeof(*s->stats) + n * sizeof(uint64_t));
	strings = calloc(1, sizeof(*strings) + (size_t)n * ETH_GSTRING_LEN);
	if (!s->stats || !strings) {
		free(strings);
		return to_error_set(err, -ENOMEM, "out of memory");
	}
	strings->cmd = ETHTOOL_GSTRINGS;
	strings->string_set = ETH_SS_STATS;
	strings->len = s->stats->n_stats = n;
	ret = n ? stats_ask(s, strings) : 0;
	ret = ret ? stats_fail(s, ret, err) : stats_find(s, strings, err);
	free(strings);
	return ret;
}

void to_ethtool_stats_close(struct to_ethtool_stats *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	free(s->stats);
	free(s);
}

struct to_ethtool_stats *to_ethtool_stats_open(uint32_t ifindex, const char *const *names,
					       unsigned int n, struct to_error *err)
{
	struct to_ethtool_stats *s = calloc(1, sizeof(*s));
	int ret = 0;

	if (!s) {
		to_error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	s->names = names;
	s->n = n;
	s->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (s->fd < 0)
		ret = to_error_set(err, -errno, "socket: %s", strerror(errno));
	else if (!if_indextoname(ifindex, s->request.ifr_name))
		ret = to_error_set(err, -ENODEV, "no interface %u", ifindex);
	ret = ret ? ret : stats_prepare(s, err);
	if (ret) {
		to_ethtool_stats_close(s);
		return NULL;
	}
	return s;
}

int to_ethtool_stats_read(struct to_ethtool_stats *s, uint64_t *values, struct to_error *err)
{
	int ret;

	/* a driver may get other queues, and with them other statistics */
	if (stats_count(s) != (int)s->stats->n_stats) {
		ret = stats_prepare(s, err);
		if (ret)
			return ret;
	}
	s->stats->cmd = ETHTOOL_GSTATS;
	ret = stats_ask(s, s->stats);
	if (ret)
		return stats_fail(s, ret, err);
	for (unsigned int i = 0; i < s->n; i++)
		values[i] = s->stats->data[s->at[i]];
	return 0;
}
