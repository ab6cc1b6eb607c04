/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ETHTOOL_H
#define TOPOOPT_ETHTOOL_H

/* What ethtool -i and ethtool -l print of an interface. */

#include <stdbool.h>

#define TO_ETHTOOL_DRIVER 32	/* bytes of a driver's name, with its end */

/**
 * struct to_ethtool_channels - channels that send
 * @now: number of them, 0 if unknown
 * @most: number that the driver can have
 * @combined: they receive, too: ethtool -L calls them combined, otherwise tx
 */
struct to_ethtool_channels {
	unsigned int now, most;
	bool combined;
};

/** to_ethtool_driver() - read the name of an interface's driver; "" if unknown */
void to_ethtool_driver(const char *ifname, char driver[TO_ETHTOOL_DRIVER]);

/** to_ethtool_channels() - return the channels of an interface */
struct to_ethtool_channels to_ethtool_channels(const char *ifname);

#endif
