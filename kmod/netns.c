// SPDX-License-Identifier: GPL-2.0
/* The topoopt devices of a namespace. */

#include <net/netns/generic.h>

#include "topoopt.h"

static unsigned int topoopt_netns_id;

struct list_head *topoopt_netns_devices(struct net *net)
{
	return net_generic(net, topoopt_netns_id);
}

static int __net_init topoopt_netns_init(struct net *net)
{
	INIT_LIST_HEAD(topoopt_netns_devices(net));
	return 0;
}

/* The core removes the devices of a namespace through the link ops. */
struct pernet_operations topoopt_netns_ops = {
	.init = topoopt_netns_init,
	.id = &topoopt_netns_id,
	.size = sizeof(struct list_head),
};

struct topoopt_dev *topoopt_netns_get(struct net *net, u32 ifindex,
				      netdevice_tracker *tracker,
				      struct netlink_ext_ack *extack)
{
	struct net_device *dev;

	dev = dev_get_by_index(net, ifindex);
	if (!dev) {
		NL_SET_ERR_MSG(extack, "No such device");
		return ERR_PTR(-ENODEV);
	}
	netdev_tracker_alloc(dev, tracker, GFP_KERNEL);
	if (!topoopt_device_is(dev)) {
		netdev_put(dev, tracker);
		NL_SET_ERR_MSG(extack, "Not a topoopt device");
		return ERR_PTR(-EOPNOTSUPP);
	}
	return netdev_priv(dev);
}
