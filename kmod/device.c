// SPDX-License-Identifier: GPL-2.0
/* The topoopt device: master of the ports, holder of the node address. */

#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/module.h>
#include <linux/random.h>
#include <net/rtnetlink.h>

#include "account.h"
#include "continuity.h"
#include "netlink.h"
#include "table.h"
#include "topoopt.h"

#define TOPOOPT_DEVICE_FEATURES						\
	(NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_GSO_SOFTWARE |		\
	 NETIF_F_HIGHDMA)

static int topoopt_device_init(struct net_device *dev)
{
	struct topoopt_dev *tdev = netdev_priv(dev);

	tdev->stats = netdev_alloc_pcpu_stats(struct topoopt_stats);
	dev->tstats = netdev_alloc_pcpu_stats(struct pcpu_sw_netstats);
	if (!tdev->stats || !dev->tstats)
		goto err_stats;
	/* An MTU given at creation is the user's choice. */
	tdev->mtu_by_user = dev->mtu != ETH_DATA_LEN;
	netif_carrier_off(dev);
	list_add_tail(&tdev->list, topoopt_netns_devices(dev_net(dev)));
	return 0;

err_stats:
	free_percpu(dev->tstats);
	dev->tstats = NULL;
	free_percpu(tdev->stats);
	tdev->stats = NULL;
	return -ENOMEM;
}

/* Frees stage, programs and active table. */
static void topoopt_device_clear(struct topoopt_dev *tdev)
{
	struct topoopt_table *table;

	/* A build under way stops: RTNL is held, and everybody waits for it. */
	WRITE_ONCE(tdev->gone, true);
	mutex_lock(&tdev->lock);
	topoopt_stage_free(tdev->stage);
	tdev->stage = NULL;
	topoopt_account_exit(tdev);
	table = rcu_replace_pointer(tdev->table, NULL,
				    lockdep_is_held(&tdev->lock));
	mutex_unlock(&tdev->lock);
	/* No table, no checks; a tick under way may still read this one. */
	topoopt_continuity_exit(tdev);
	topoopt_table_free_rcu(table);
}

static void topoopt_device_uninit(struct net_device *dev)
{
	struct topoopt_dev *tdev = netdev_priv(dev);

	topoopt_port_del_all(tdev);
	list_del(&tdev->list);
	topoopt_device_clear(tdev);
}

static void topoopt_device_free(struct net_device *dev)
{
	struct topoopt_dev *tdev = netdev_priv(dev);

	free_percpu(dev->tstats);
	free_percpu(tdev->stats);
}

static int topoopt_device_change_mtu(struct net_device *dev, int mtu)
{
	struct topoopt_dev *tdev = netdev_priv(dev);

	WRITE_ONCE(dev->mtu, mtu);
	tdev->mtu_by_user = true;
	return 0;
}

/*
 * Received: delivered to the node address. Transmitted: originated through
 * the device. Drops of relayed packets count as received ones.
 */
static void topoopt_device_get_stats64(struct net_device *dev,
				       struct rtnl_link_stats64 *stats)
{
	u64 sum[TOPOOPT_COUNTERS], own[TOPOOPT_COUNTERS] = {};
	struct topoopt_dev *tdev = netdev_priv(dev);
	enum topoopt_counter i;

	dev_fetch_sw_netstats(stats, dev->tstats);
	topoopt_stats_device(tdev, sum);
	topoopt_stats_read(tdev->stats, own);
	for (i = 0; i < TOPOOPT_COUNTERS; i++) {
		if (!topoopt_counter_drops(i))
			continue;
		stats->tx_dropped += own[i];
		stats->rx_dropped += sum[i] - min(own[i], sum[i]);
	}
	stats->tx_dropped += own[TOPOOPT_MISS_PACKETS];
}

/* Called for VLAN devices on the topoopt device, under RTNL. */
static int topoopt_device_add_vid(struct net_device *dev, __be16 proto, u16 vid)
{
	return topoopt_port_add_vid(netdev_priv(dev), proto, vid);
}

static int topoopt_device_kill_vid(struct net_device *dev, __be16 proto, u16 vid)
{
	topoopt_port_del_vid(netdev_priv(dev), proto, vid);
	return 0;
}

static const struct net_device_ops topoopt_device_ops = {
	.ndo_init = topoopt_device_init,
	.ndo_uninit = topoopt_device_uninit,
	.ndo_start_xmit = topoopt_xmit_start,
	.ndo_change_mtu = topoopt_device_change_mtu,
	.ndo_get_stats64 = topoopt_device_get_stats64,
	.ndo_set_mac_address = eth_mac_addr,
	.ndo_validate_addr = eth_validate_addr,
	.ndo_vlan_rx_add_vid = topoopt_device_add_vid,
	.ndo_vlan_rx_kill_vid = topoopt_device_kill_vid,
	.ndo_add_slave = topoopt_port_add,
	.ndo_del_slave = topoopt_port_del,
};

/* In the order of enum topoopt_counter. */
static const char topoopt_device_strings[TOPOOPT_COUNTERS][ETH_GSTRING_LEN] = {
	"relay_rx_packets",
	"relay_rx_bytes",
	"relay_tx_packets",
	"relay_tx_bytes",
	"relay_xdp_packets",
	"relay_xdp_generic_packets",
	"local_packets",
	"local_bytes",
	"miss_packets",
	"backup_packets",
	"drop_header",
	"drop_ttl",
	"drop_mtu",
	"drop_no_port",
	"drop_gso",
	"drop_nomem",
	"drop_tx",
	"alternate_packets",
	"drop_silent",
	"drop_down",
	"check_sent",
	"check_received",
	"check_missing",
	"check_refused",
};

static int topoopt_device_get_sset_count(struct net_device *dev, int set)
{
	return set == ETH_SS_STATS ? TOPOOPT_COUNTERS : -EOPNOTSUPP;
}

static void topoopt_device_get_strings(struct net_device *dev, u32 set,
				       u8 *data)
{
	if (set == ETH_SS_STATS)
		memcpy(data, topoopt_device_strings,
		       sizeof(topoopt_device_strings));
}

static void topoopt_device_get_ethtool_stats(struct net_device *dev,
					     struct ethtool_stats *stats,
					     u64 *data)
{
	topoopt_stats_device(netdev_priv(dev), data);
}

static void topoopt_device_get_drvinfo(struct net_device *dev,
				       struct ethtool_drvinfo *info)
{
	strscpy(info->driver, KBUILD_MODNAME, sizeof(info->driver));
}

static const struct ethtool_ops topoopt_device_ethtool_ops = {
	.get_drvinfo = topoopt_device_get_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_sset_count = topoopt_device_get_sset_count,
	.get_strings = topoopt_device_get_strings,
	.get_ethtool_stats = topoopt_device_get_ethtool_stats,
};

static void topoopt_device_setup(struct net_device *dev)
{
	struct topoopt_dev *tdev = netdev_priv(dev);

	tdev->dev = dev;
	tdev->hash_seed = get_random_u32();
	tdev->table_seq = 1;
	tdev->stage_seq = 1;
	tdev->port_seq = 1;
	INIT_LIST_HEAD(&tdev->port_list);
	spin_lock_init(&tdev->port_lock);
	mutex_init(&tdev->lock);
	topoopt_continuity_init(tdev);

	ether_setup(dev);
	dev->netdev_ops = &topoopt_device_ops;
	dev->ethtool_ops = &topoopt_device_ethtool_ops;
	dev->needs_free_netdev = true;
	dev->priv_destructor = topoopt_device_free;
	/* Next hops come with their MAC address; nothing is broadcast. */
	dev->flags = IFF_NOARP;
	dev->priv_flags &= ~IFF_TX_SKB_SHARING;
	/*
	 * netpoll sends with interrupts off, from wherever the kernel prints: RCU
	 * readers of softirq, ports' queues and counters are not made for that.
	 */
	dev->priv_flags |= IFF_NO_QUEUE | IFF_LIVE_ADDR_CHANGE | IFF_DISABLE_NETPOLL;
	/* ICMP answers to this server's own packets need their dst. */
	netif_keep_dst(dev);
	dev->features |= TOPOOPT_DEVICE_FEATURES | NETIF_F_HW_VLAN_CTAG_TX;
	/* Ports filter for it; no user's choice, as theirs is. */
	dev->features |= NETIF_F_HW_VLAN_CTAG_FILTER | NETIF_F_HW_VLAN_STAG_FILTER;
	dev->hw_features |= TOPOOPT_DEVICE_FEATURES | NETIF_F_HW_VLAN_CTAG_TX;
	dev->vlan_features |= TOPOOPT_DEVICE_FEATURES;
#ifdef NETIF_F_LLTX
	dev->features |= NETIF_F_LLTX | NETIF_F_NETNS_LOCAL;
#else
	dev->lltx = true;
	dev->netns_immutable = true;
#endif
	dev->max_mtu = ETH_MAX_MTU;
	/* The software limits; ports lower them. */
	netif_set_tso_max_size(dev, TSO_MAX_SIZE);
	netif_set_tso_max_segs(dev, TSO_MAX_SEGS);
	eth_hw_addr_random(dev);
}

static int topoopt_device_validate(struct nlattr *tb[], struct nlattr *data[],
				   struct netlink_ext_ack *extack)
{
	if (!tb[IFLA_ADDRESS])
		return 0;
	if (nla_len(tb[IFLA_ADDRESS]) != ETH_ALEN) {
		NL_SET_ERR_MSG_ATTR(extack, tb[IFLA_ADDRESS],
				    "Not an Ethernet address");
		return -EINVAL;
	}
	if (!is_valid_ether_addr(nla_data(tb[IFLA_ADDRESS]))) {
		NL_SET_ERR_MSG_ATTR(extack, tb[IFLA_ADDRESS],
				    "Not a unicast Ethernet address");
		return -EADDRNOTAVAIL;
	}
	return 0;
}

struct rtnl_link_ops topoopt_device_link_ops = {
	.kind = TOPOOPT_KIND,
	.priv_size = sizeof(struct topoopt_dev),
	.setup = topoopt_device_setup,
	.validate = topoopt_device_validate,
};
