// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/ethtool.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static int ethtool_ask(const char *ifname, void *data)
{
	struct ifreq request = { .ifr_data = data };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), ret;

	if (fd < 0)
		return -1;
	snprintf(request.ifr_name, IFNAMSIZ, "%s", ifname);
	ret = ioctl(fd, SIOCETHTOOL, &request);
	close(fd);
	return ret;
}

void to_ethtool_driver(const char *ifname, char driver[TO_ETHTOOL_DRIVER])
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };

	_Static_assert(sizeof(info.driver) == TO_ETHTOOL_DRIVER, "a driver's name");
	driver[0] = '\0';
	if (!ethtool_ask(ifname, &info))
		snprintf(driver, TO_ETHTOOL_DRIVER, "%.31s", info.driver);
}

struct to_ethtool_channels to_ethtool_channels(const char *ifname)
{
	struct ethtool_channels c = { .cmd = ETHTOOL_GCHANNELS };

	if (ethtool_ask(ifname, &c))
		return (struct to_ethtool_channels){};
	return (struct to_ethtool_channels){
		.now = c.combined_count + c.tx_count, .most = c.max_combined + c.max_tx,
		.combined = c.max_combined,
	};
}
