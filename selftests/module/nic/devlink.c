// SPDX-License-Identifier: GPL-2.0
/* A devlink instance for each function, with the port, from which names and switch ids come. */

#include <linux/netdevice.h>
#include <net/devlink.h>

#include "nic.h"

struct nic_devlink {
	struct nic_function *function;
	struct devlink_port port;
};

static int nic_devlink_info(struct devlink *devlink, struct devlink_info_req *req,
			    struct netlink_ext_ack *extack)
{
	const struct nic_devlink *d = devlink_priv(devlink);
	char serial[16];

	snprintf(serial, sizeof(serial), "%08x", d->function->port->card->id);
	return devlink_info_serial_number_put(req, serial);
}

static const struct devlink_ops nic_devlink_ops = {
	.info_get = nic_devlink_info,
};

/* Make a function's devlink instance and port, before its network device is registered. */
int nic_devlink_add(struct nic_function *f)
{
	const struct nic_card *card = f->port->card;
	struct devlink_port_attrs attrs = {
		.flavour = DEVLINK_PORT_FLAVOUR_PHYSICAL,
		.phys.port_number = f->port->index,
		/* of all functions of the card */
		.switch_id.id = {
			0x02, 0x54, 0x4e, 0xff, 0xfe, card->id >> 16, card->id >> 8, card->id,
		},
		.switch_id.id_len = 8,
	};
	struct devlink *devlink;
	struct nic_devlink *d;
	int err;

	devlink = devlink_alloc(&nic_devlink_ops, sizeof(*d), f->dev->dev.parent);
	if (!devlink)
		return -ENOMEM;
	d = devlink_priv(devlink);
	d->function = f;
	devlink_port_attrs_set(&d->port, &attrs);
	err = devlink_port_register(devlink, &d->port, f->port->index);
	if (err) {
		devlink_free(devlink);
		return err;
	}
#ifdef SET_NETDEV_DEVLINK_PORT
	SET_NETDEV_DEVLINK_PORT(f->dev, &d->port);
#endif
	f->devlink = devlink;
	return 0;
}

/* Show them, after it is registered. */
void nic_devlink_announce(struct nic_function *f)
{
#ifndef SET_NETDEV_DEVLINK_PORT
	struct nic_devlink *d = devlink_priv(f->devlink);

	devlink_port_type_eth_set(&d->port, f->dev);
#endif
	devlink_register(f->devlink);
}

/* After it is unregistered. */
void nic_devlink_remove(struct nic_function *f)
{
	struct nic_devlink *d = devlink_priv(f->devlink);

	devlink_unregister(f->devlink);
	devlink_port_unregister(&d->port);
	devlink_free(f->devlink);
}

#ifndef SET_NETDEV_DEVLINK_PORT
/* How kernels before 6.2 get from the network device to the port. */
struct devlink_port *nic_devlink_port(struct net_device *dev)
{
	struct nic_function *f = netdev_priv(dev);
	struct nic_devlink *d = devlink_priv(f->devlink);

	return &d->port;
}
#endif
