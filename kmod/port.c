// SPDX-License-Identifier: GPL-2.0
/* Ports: NIC interfaces that a topoopt device is master of. */

#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/if_vlan.h>

#include "ccm.h"
#include "continuity.h"
#include "output.h"
#include "topoopt.h"

struct topoopt_port *topoopt_port_find(const struct topoopt_dev *tdev,
				       u32 ifindex)
{
	struct topoopt_port *port;
	unsigned int slot;

	for (slot = 0; slot < TOPOOPT_MAX_PORTS; slot++) {
		port = rcu_dereference_rtnl(tdev->ports[slot]);
		if (port && port->ifindex == ifindex)
			return port;
	}
	return NULL;
}

/* The port that a device is, under RTNL; NULL for any other device. */
static struct topoopt_port *topoopt_port_of(const struct net_device *dev)
{
	if (!topoopt_port_receives(dev))
		return NULL;
	return rtnl_dereference(dev->rx_handler_data);
}

/*
 * The slot this interface had, so that tables which know it by that slot work
 * again; else one that nobody had; else any. Return: -1 when all are taken.
 */
static int topoopt_port_slot(const struct topoopt_dev *tdev, u32 ifindex)
{
	int slot, found = -1;

	for (slot = 0; slot < TOPOOPT_MAX_PORTS; slot++) {
		if (rtnl_dereference(tdev->ports[slot]))
			continue;
		if (tdev->slot_ifindex[slot] == ifindex)
			return slot;
		if (found < 0 ||
		    (tdev->slot_ifindex[found] && !tdev->slot_ifindex[slot]))
			found = slot;
	}
	return found;
}

static bool topoopt_port_dev_works(const struct net_device *dev)
{
	return netif_running(dev) && netif_carrier_ok(dev) &&
	       !netif_dormant(dev);
}

/* What the device takes from its ports: carrier, MTU, headroom and limits of TSO. */
static void topoopt_port_update_device(struct topoopt_dev *tdev)
{
	unsigned int mtu = 0, tso_max_size = TSO_MAX_SIZE, slot;
	u16 headroom = 0, tso_max_segs = TSO_MAX_SEGS;
	struct net_device *dev = tdev->dev;

	if (dev->reg_state != NETREG_REGISTERED)
		return;

	for (slot = 0; slot < TOPOOPT_MAX_PORTS; slot++) {
		const struct topoopt_port *port = rtnl_dereference(tdev->ports[slot]);
		const struct net_device *tx;

		if (!port)
			continue;
		tx = rtnl_dereference(port->tx);
		headroom = max_t(u16, headroom, tx->needed_headroom);
		tso_max_size = min(tso_max_size, tx->tso_max_size);
		tso_max_segs = min(tso_max_segs, tx->tso_max_segs);
		if (!mtu || tx->mtu < mtu)
			mtu = tx->mtu;
	}
	WRITE_ONCE(dev->needed_headroom, headroom);
	/* Aggregates above the limit of a port would be split in software. */
	netif_set_tso_max_size(dev, tso_max_size);
	netif_set_tso_max_segs(dev, tso_max_segs);
	if (mtu && mtu != dev->mtu && !tdev->mtu_by_user) {
		/* This calls ndo_change_mtu(), as if the user had. */
		dev_set_mtu(dev, mtu);
		tdev->mtu_by_user = false;
	}
	if (tdev->light)
		netif_carrier_on(dev);
	else
		netif_carrier_off(dev);
}

void topoopt_port_set_xdp_classes(struct topoopt_port *port, u32 classes)
{
	ASSERT_RTNL();
	WRITE_ONCE(port->xdp_classes, classes);
	topoopt_liveness_refresh(port);
}

/*
 * Sets or clears the port's light. Notifies listeners when that changes whether it is live,
 * or when something else about the port has changed.
 */
static void topoopt_port_update(struct topoopt_port *port, bool changed)
{
	struct topoopt_dev *tdev = port->tdev;
	bool light = rtnl_dereference(tdev->ports[port->slot]) == port &&
		     topoopt_port_dev_works(port->dev) &&
		     topoopt_port_dev_works(rtnl_dereference(port->tx));

	changed |= topoopt_liveness_light(port, light);
	topoopt_port_update_device(tdev);
	if (!changed)
		return;
	topoopt_notify_port(tdev, port, GFP_KERNEL);
	rcu_read_lock();
	spin_lock_bh(&tdev->live_lock);
	topoopt_notify_groups(tdev);
	spin_unlock_bh(&tdev->live_lock);
	rcu_read_unlock();
}

/* From all ports in slots below @slot. */
static void topoopt_port_kill_vid(const struct topoopt_dev *tdev, unsigned int slot,
				  __be16 proto, u16 vid)
{
	while (slot--) {
		const struct topoopt_port *port = rtnl_dereference(tdev->ports[slot]);

		if (port)
			vlan_vid_del(port->dev, proto, vid);
	}
}

void topoopt_port_del_vid(const struct topoopt_dev *tdev, __be16 proto, u16 vid)
{
	topoopt_port_kill_vid(tdev, TOPOOPT_MAX_PORTS, proto, vid);
}

int topoopt_port_add_vid(const struct topoopt_dev *tdev, __be16 proto, u16 vid)
{
	unsigned int slot;
	int err;

	for (slot = 0; slot < TOPOOPT_MAX_PORTS; slot++) {
		const struct topoopt_port *port = rtnl_dereference(tdev->ports[slot]);

		err = port ? vlan_vid_add(port->dev, proto, vid) : 0;
		if (err) {
			topoopt_port_kill_vid(tdev, slot, proto, vid);
			return err;
		}
	}
	return 0;
}

static int topoopt_port_check(const struct topoopt_dev *tdev,
			      struct net_device *dev,
			      struct netlink_ext_ack *extack)
{
	if (dev->type != ARPHRD_ETHER || dev->flags & IFF_LOOPBACK) {
		NL_SET_ERR_MSG(extack, "Only an Ethernet device can be a port");
		return -EINVAL;
	}
	if (topoopt_device_is(dev)) {
		NL_SET_ERR_MSG(extack,
			       "A topoopt device cannot be a port of another");
		return -ELOOP;
	}
	if (netdev_has_upper_dev(tdev->dev, dev)) {
		NL_SET_ERR_MSG(extack,
			       "The device is stacked on the topoopt device");
		return -ELOOP;
	}
	return 0;
}

int topoopt_port_add(struct net_device *dev, struct net_device *port_dev,
		     struct netlink_ext_ack *extack)
{
	struct topoopt_dev *tdev = netdev_priv(dev);
	struct topoopt_port *port;
	int slot, err;

	err = topoopt_port_check(tdev, port_dev, extack);
	if (err)
		return err;
	if (netdev_is_rx_handler_busy(port_dev)) {
		NL_SET_ERR_MSG(extack,
			       "Another upper device receives this device's packets");
		return -EBUSY;
	}
	slot = topoopt_port_slot(tdev, port_dev->ifindex);
	if (slot < 0) {
		NL_SET_ERR_MSG(extack, "The topoopt device has 64 ports already");
		return -ENOSPC;
	}

	port = kzalloc(sizeof(*port), GFP_KERNEL);
	if (!port)
		return -ENOMEM;
	port->dev = port_dev;
	port->tdev = tdev;
	port->ifindex = port_dev->ifindex;
	port->slot = slot;
	port->bit = BIT_ULL(slot);
	port->vlan = is_vlan_dev(port_dev);
	port->xdp_classes = TOPOOPT_PORT_XDP_CLASSES;
	RCU_INIT_POINTER(port->tx, port_dev);
	port->stats = netdev_alloc_pcpu_stats(struct topoopt_stats);
	if (!port->stats) {
		err = -ENOMEM;
		goto err_free;
	}

	/* What LRO merges cannot be forwarded. */
	dev_disable_lro(port_dev);
	/* The fast path knows nothing of priorities that a VLAN device chose. */
	err = netdev_rx_handler_register(port_dev, port->vlan ? topoopt_relay_receive :
					 topoopt_fast_receive, port);
	if (err)
		goto err_stats;
	err = dev_mc_add(port_dev, topoopt_ccm_group);
	if (err)
		goto err_rx_handler;
	err = vlan_vids_add_by_dev(port_dev, dev);
	if (err) {
		NL_SET_ERR_MSG(extack,
			       "The device refuses a VLAN id of the topoopt device");
		goto err_group;
	}
	err = netdev_master_upper_dev_link(port_dev, dev, NULL, NULL, extack);
	if (err)
		goto err_vids;
	netdev_hold(port_dev, &port->dev_tracker, GFP_KERNEL);
	netdev_hold(port_dev, &port->tx_tracker, GFP_KERNEL);

	spin_lock_bh(&tdev->port_lock);
	list_add_tail(&port->list, &tdev->port_list);
	spin_unlock_bh(&tdev->port_lock);
	WRITE_ONCE(tdev->slot_ifindex[slot], port->ifindex);
	rcu_assign_pointer(tdev->ports[slot], port);
	topoopt_port_update(port, true);
	return 0;

err_vids:
	vlan_vids_del_by_dev(port_dev, dev);
err_group:
	dev_mc_del(port_dev, topoopt_ccm_group);
err_rx_handler:
	netdev_rx_handler_unregister(port_dev);
err_stats:
	free_percpu(port->stats);
err_free:
	kfree(port);
	return err;
}

static void topoopt_port_release(struct topoopt_port *port)
{
	struct topoopt_dev *tdev = port->tdev;

	RCU_INIT_POINTER(tdev->ports[port->slot], NULL);
	topoopt_port_update(port, true);
	netdev_upper_dev_unlink(port->dev, tdev->dev);
	/* Waits for readers that received through the port or selected it. */
	netdev_rx_handler_unregister(port->dev);
	vlan_vids_del_by_dev(port->dev, tdev->dev);
	dev_mc_del(port->dev, topoopt_ccm_group);

	topoopt_stats_retire(port);
	netdev_put(rtnl_dereference(port->tx), &port->tx_tracker);
	netdev_put(port->dev, &port->dev_tracker);
	free_percpu(port->stats);
	kfree(port);
}

int topoopt_port_del(struct net_device *dev, struct net_device *port_dev)
{
	struct topoopt_port *port = topoopt_port_of(port_dev);

	if (!port || port->tdev != netdev_priv(dev))
		return -EINVAL;
	topoopt_port_release(port);
	return 0;
}

void topoopt_port_del_all(struct topoopt_dev *tdev)
{
	unsigned int slot;

	for (slot = 0; slot < TOPOOPT_MAX_PORTS; slot++) {
		struct topoopt_port *port = rtnl_dereference(tdev->ports[slot]);

		if (port)
			topoopt_port_release(port);
	}
}

static void topoopt_port_change_tx(struct topoopt_port *port,
				   struct net_device *tx)
{
	struct net_device *old = rtnl_dereference(port->tx);

	netdev_put(old, &port->tx_tracker);
	netdev_hold(tx, &port->tx_tracker, GFP_KERNEL);
	rcu_assign_pointer(port->tx, tx);
	WRITE_ONCE(port->xdp_error, 0);	/* that of @old */
	topoopt_port_update(port, true);
}

int topoopt_port_set_tx(struct topoopt_port *port, u32 tx_ifindex,
			struct netlink_ext_ack *extack)
{
	const struct topoopt_dev *tdev = port->tdev;
	struct net_device *tx;
	int err;

	ASSERT_RTNL();
	tx = tx_ifindex ? __dev_get_by_index(dev_net(tdev->dev), tx_ifindex) :
			  port->dev;
	if (!tx) {
		NL_SET_ERR_MSG(extack, "No such transmit device");
		return -ENODEV;
	}
	err = topoopt_port_check(tdev, tx, extack);
	if (err)
		return err;
	if (tx != rtnl_dereference(port->tx))
		topoopt_port_change_tx(port, tx);
	return 0;
}

/*
 * A device that is no port itself may be what ports transmit through.
 * Return: whether it is.
 */
static bool topoopt_port_tx_event(struct net_device *dev, unsigned long event)
{
	struct topoopt_dev *tdev;
	unsigned int slot;
	bool found = false;

	list_for_each_entry(tdev, topoopt_netns_devices(dev_net(dev)), list) {
		for (slot = 0; slot < TOPOOPT_MAX_PORTS; slot++) {
			struct topoopt_port *port = rtnl_dereference(tdev->ports[slot]);

			if (!port || port->dev == dev ||
			    rtnl_dereference(port->tx) != dev)
				continue;
			found = true;
			if (event == NETDEV_UNREGISTER)
				topoopt_port_change_tx(port, port->dev);
			else if (event != NETDEV_PRE_TYPE_CHANGE)
				topoopt_port_update(port,
						    event == NETDEV_CHANGENAME);
		}
	}
	return found;
}

/* The topoopt device itself went up or down. */
static void topoopt_port_device_event(struct topoopt_dev *tdev)
{
	unsigned int slot;

	for (slot = 0; slot < TOPOOPT_MAX_PORTS; slot++) {
		struct topoopt_port *port = rtnl_dereference(tdev->ports[slot]);

		if (port)
			topoopt_liveness_refresh(port);
	}
}

static int topoopt_port_notify(struct notifier_block *nb, unsigned long event,
			       void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct topoopt_port *port = topoopt_port_of(dev);

	switch (event) {
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
	case NETDEV_CHANGENAME:
	case NETDEV_CHANGEMTU:
	case NETDEV_FEAT_CHANGE:
	case NETDEV_XDP_FEAT_CHANGE:
		if (topoopt_device_is(dev))
			topoopt_port_device_event(netdev_priv(dev));
		if (topoopt_device_is(dev) && (event == NETDEV_UP || event == NETDEV_DOWN))
			topoopt_continuity_announce(netdev_priv(dev));
		topoopt_port_tx_event(dev, event);
		if (port)
			topoopt_port_update(port, event == NETDEV_CHANGENAME);
		break;
	case NETDEV_UNREGISTER:
		topoopt_port_tx_event(dev, event);
		if (port)
			topoopt_port_release(port);
		break;
	case NETDEV_PRE_TYPE_CHANGE:
		if (port || topoopt_port_tx_event(dev, event))
			return NOTIFY_BAD;
		break;
	}
	return NOTIFY_DONE;
}

struct notifier_block topoopt_port_notifier = {
	.notifier_call = topoopt_port_notify,
};
