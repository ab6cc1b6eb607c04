// SPDX-License-Identifier: GPL-2.0
/* What ethtool shows and sets: speed, rings, channels, counters. */

#include <linux/ethtool.h>
#include <linux/rtnetlink.h>

#include "nic.h"

static int nic_ethtool_get_link(struct net_device *dev, struct ethtool_link_ksettings *settings)
{
	const struct nic_function *f = netdev_priv(dev);

	ethtool_link_ksettings_zero_link_mode(settings, supported);
	ethtool_link_ksettings_add_link_mode(settings, supported, FIBRE);
	settings->base.port = PORT_FIBRE;
	settings->base.autoneg = AUTONEG_DISABLE;
	settings->base.speed = netif_carrier_ok(dev) ? READ_ONCE(f->port->speed) : SPEED_UNKNOWN;
	settings->base.duplex = netif_carrier_ok(dev) ? DUPLEX_FULL : DUPLEX_UNKNOWN;
	return 0;
}

static int nic_ethtool_set_link(struct net_device *dev,
				const struct ethtool_link_ksettings *settings)
{
	struct nic_function *f = netdev_priv(dev);

	if (settings->base.autoneg != AUTONEG_DISABLE || !settings->base.speed)
		return -EINVAL;
	WRITE_ONCE(f->port->speed, settings->base.speed);
	return 0;
}

/* Let a change take effect, as a driver does that makes its queues anew. */
static int nic_ethtool_reopen(struct nic_function *f)
{
	if (!netif_running(f->dev))
		return 0;
	nic_channel_close(f);
	return nic_channel_open(f);
}

static void nic_ethtool_get_ring(struct net_device *dev, struct ethtool_ringparam *ring,
				 struct kernel_ethtool_ringparam *kernel_ring,
				 struct netlink_ext_ack *extack)
{
	const struct nic_function *f = netdev_priv(dev);

	ring->rx_max_pending = 8 * NIC_RING;
	ring->rx_pending = f->ring;
}

static int nic_ethtool_set_ring(struct net_device *dev, struct ethtool_ringparam *ring,
				struct kernel_ethtool_ringparam *kernel_ring,
				struct netlink_ext_ack *extack)
{
	struct nic_function *f = netdev_priv(dev);

	if (!ring->rx_pending)
		return -EINVAL;
	f->ring = ring->rx_pending;
	return nic_ethtool_reopen(f);
}

static void nic_ethtool_get_channels(struct net_device *dev, struct ethtool_channels *channels)
{
	const struct nic_function *f = netdev_priv(dev);

	channels->max_combined = NIC_CHANNELS;
	channels->combined_count = f->n_channels;
}

static int nic_ethtool_set_channels(struct net_device *dev, struct ethtool_channels *channels)
{
	struct nic_function *f = netdev_priv(dev);
	int err;

	if (f->classes > 1)
		return -EBUSY;
	err = netif_set_real_num_queues(dev, channels->combined_count, channels->combined_count);
	if (err)
		return err;
	f->n_channels = channels->combined_count;
	return nic_ethtool_reopen(f);
}

static int nic_ethtool_count(struct net_device *dev, int set)
{
	return set == ETH_SS_STATS ? NIC_COUNTER_NAMES : -EOPNOTSUPP;
}

static void nic_ethtool_names(struct net_device *dev, u32 set, u8 *text)
{
	if (set == ETH_SS_STATS)
		nic_counters_names(text);
}

static void nic_ethtool_stats(struct net_device *dev, struct ethtool_stats *stats, u64 *values)
{
	struct nic_sums sums;

	nic_counters_get(netdev_priv(dev), &sums);
	memcpy(values, sums.function, sizeof(sums.function));
	memcpy(values + NIC_COUNTERS, sums.port, sizeof(sums.port));
}

const struct ethtool_ops nic_ethtool_ops = {
	.get_link = ethtool_op_get_link,
	.get_link_ksettings = nic_ethtool_get_link,
	.set_link_ksettings = nic_ethtool_set_link,
	.get_ringparam = nic_ethtool_get_ring,
	.set_ringparam = nic_ethtool_set_ring,
	.get_channels = nic_ethtool_get_channels,
	.set_channels = nic_ethtool_set_channels,
	.get_sset_count = nic_ethtool_count,
	.get_strings = nic_ethtool_names,
	.get_ethtool_stats = nic_ethtool_stats,
};
