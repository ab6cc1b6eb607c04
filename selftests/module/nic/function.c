// SPDX-License-Identifier: GPL-2.0
/* PCI functions and their network devices. */

#include <linux/bpf.h>
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <net/pkt_cls.h>

#include "compat.h"
#include "nic.h"

#define NIC_FEATURES	(NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_TSO | NETIF_F_TSO6 | NETIF_F_RXCSUM)
#define NIC_VLAN	(NETIF_F_HW_VLAN_CTAG_TX | NETIF_F_HW_VLAN_CTAG_RX | \
			 NETIF_F_HW_VLAN_CTAG_FILTER)

static int nic_function_open(struct net_device *dev)
{
	struct nic_function *f = netdev_priv(dev);
	int err = nic_channel_open(f);

	if (!err)
		nic_cable_set_up(f, true);
	return err;
}

static int nic_function_stop(struct net_device *dev)
{
	struct nic_function *f = netdev_priv(dev);

	nic_cable_set_up(f, false);
	nic_channel_close(f);
	return 0;
}

static int nic_function_set_address(struct net_device *dev, void *address)
{
	int err = eth_mac_addr(dev, address);

	if (err)
		return err;
	netif_addr_lock_bh(dev);
	nic_filter_set(dev);
	netif_addr_unlock_bh(dev);
	return 0;
}

static int nic_function_change_mtu(struct net_device *dev, int mtu)
{
	struct nic_function *f = netdev_priv(dev);

	if (!nic_xdp_mtu_fits(rtnl_dereference(f->program), mtu))
		return -EINVAL;
	WRITE_ONCE(dev->mtu, mtu);
	return 0;
}

static int nic_function_add_vlan(struct net_device *dev, __be16 protocol, u16 vid)
{
	struct nic_function *f = netdev_priv(dev);

	set_bit(vid, f->vlans);
	return 0;
}

static int nic_function_kill_vlan(struct net_device *dev, __be16 protocol, u16 vid)
{
	struct nic_function *f = netdev_priv(dev);

	clear_bit(vid, f->vlans);
	return 0;
}

/* Each class has as many transmit queues as there are channels. */
static int nic_function_set_classes(struct net_device *dev, unsigned int classes)
{
	struct nic_function *f = netdev_priv(dev);
	unsigned int i;
	int err;

	err = netif_set_real_num_tx_queues(dev, f->n_channels * classes);
	if (err)
		return err;
	f->classes = classes;
	netdev_reset_tc(dev);
	if (classes == 1)
		return 0;
	netdev_set_num_tc(dev, classes);
	for (i = 0; i < classes; i++)
		netdev_set_tc_queue(dev, i, f->n_channels, i * f->n_channels);
	return 0;
}

static int nic_function_setup_tc(struct net_device *dev, enum tc_setup_type type, void *data)
{
	struct tc_mqprio_qopt *qopt = data;

	if (type != TC_SETUP_QDISC_MQPRIO)
		return -EOPNOTSUPP;
	if (qopt->num_tc > NIC_CLASSES)
		return -EINVAL;
	qopt->hw = TC_MQPRIO_HW_OFFLOAD_TCS;
	return nic_function_set_classes(dev, qopt->num_tc ?: 1);
}

static const struct net_device_ops nic_function_ops = {
	.ndo_open = nic_function_open,
	.ndo_stop = nic_function_stop,
	.ndo_start_xmit = nic_transmit_skb,
	.ndo_validate_addr = eth_validate_addr,
	.ndo_set_mac_address = nic_function_set_address,
	.ndo_set_rx_mode = nic_filter_set,
	.ndo_change_mtu = nic_function_change_mtu,
	.ndo_get_stats64 = nic_counters_stats64,
	.ndo_vlan_rx_add_vid = nic_function_add_vlan,
	.ndo_vlan_rx_kill_vid = nic_function_kill_vlan,
	.ndo_setup_tc = nic_function_setup_tc,
	.ndo_bpf = nic_xdp_bpf,
	.ndo_xdp_xmit = nic_transmit_xdp,
#if defined(CONFIG_NET_DEVLINK) && !defined(SET_NETDEV_DEVLINK_PORT)
	.ndo_get_devlink_port = nic_devlink_port,
#endif
};

static void nic_function_setup(struct net_device *dev, struct pci_dev *pdev)
{
	struct nic_function *f = netdev_priv(dev);
	int domain = pci_domain_nr(pdev->bus);
	/* 54:4e is "TN" */
	u8 address[ETH_ALEN] = { 0x02, 0x54, 0x4e, domain >> 8, domain, f->port->index };

	SET_NETDEV_DEV(dev, &pdev->dev);
	scnprintf(dev->name, sizeof(dev->name), "enP%dp%us0f%unp%u", domain,
		  pdev->bus->number, PCI_FUNC(pdev->devfn), f->port->index);
	eth_hw_addr_set(dev, address);
	ether_addr_copy(dev->perm_addr, address);
	dev->netdev_ops = &nic_function_ops;
	dev->ethtool_ops = &nic_ethtool_ops;
	nic_dcb_add(f);
	dev->max_mtu = NIC_MTU_MAX;
	dev->vlan_features = NIC_FEATURES;
	dev->features = NIC_FEATURES | NIC_VLAN | NETIF_F_HIGHDMA;
	dev->hw_features = NIC_FEATURES | NIC_VLAN | NETIF_F_HW_TC;
	dev->priv_flags |= IFF_UNICAST_FLT | IFF_LIVE_ADDR_CHANGE;
	nic_compat_xdp_features(dev, true, false, false);
	netif_carrier_off(dev);
}

static int nic_function_register(struct nic_function *f)
{
	struct net_device *dev = f->dev;
	int err;

	err = netif_set_real_num_rx_queues(dev, f->n_channels);
	if (!err)
		err = netif_set_real_num_tx_queues(dev, f->n_channels);
	if (err)
		return err;
	err = nic_devlink_add(f);
	if (err)
		return err;
	err = register_netdev(dev);
	if (err) {
		nic_devlink_remove(f);
		return err;
	}
	nic_devlink_announce(f);
	nic_cable_attach(f);
	return 0;
}

static int nic_function_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct nic_link *link = nic_pci_link(pdev);
	struct nic_function *f;
	struct net_device *dev;
	int err;

	if (!link)
		return -ENODEV;
	dev = alloc_etherdev_mqs(sizeof(*f), NIC_CHANNELS * NIC_CLASSES, NIC_CHANNELS);
	if (!dev)
		return -ENOMEM;
	f = netdev_priv(dev);
	f->dev = dev;
	f->port = &link->card->port[PCI_FUNC(pdev->devfn)];
	f->link = link->index;
	f->traits = &f->port->traits[f->link];
	f->n_channels = min_t(unsigned int, num_online_cpus(), NIC_CHANNELS);
	f->ring = NIC_RING;
	f->classes = 1;
	f->stats = alloc_percpu(struct nic_percpu);
	if (!f->stats) {
		free_netdev(dev);
		return -ENOMEM;
	}
	nic_counters_init(f);
	nic_function_setup(dev, pdev);
	err = nic_function_register(f);
	if (err) {
		free_percpu(f->stats);
		free_netdev(dev);
		return err;
	}
	pci_set_drvdata(pdev, f);
	return 0;
}

static void nic_function_remove(struct pci_dev *pdev)
{
	struct nic_function *f = pci_get_drvdata(pdev);
	struct nic_filter *filter;

	nic_cable_detach(f);
	nic_counters_stop(f);
	unregister_netdev(f->dev);	/* waits for senders */
	nic_pcie_purge(f);
	nic_devlink_remove(f);
	filter = rcu_dereference_protected(f->filter, true);
	kfree(filter);
	free_percpu(f->stats);
	free_netdev(f->dev);
}

struct pci_driver nic_function_driver = {
	.name = NIC_DRIVER,
	.id_table = nic_pci_ids,
	.probe = nic_function_probe,
	.remove = nic_function_remove,
};
