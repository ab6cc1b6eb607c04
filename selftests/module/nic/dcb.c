// SPDX-License-Identifier: GPL-2.0
/* PFC as dcbnl shows and sets it (`dcb pfc`, lldptool): a setting of the port. */

#include <linux/dcbnl.h>
#include <net/dcbnl.h>

#include "nic.h"

static int nic_dcb_get_pfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	const struct nic_function *f = netdev_priv(dev);

	pfc->pfc_cap = NIC_CLASSES;
	pfc->pfc_en = READ_ONCE(f->port->pfc);
	return 0;
}

static int nic_dcb_set_pfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	struct nic_function *f = netdev_priv(dev);

	WRITE_ONCE(f->port->pfc, pfc->pfc_en);
	return 0;
}

static u8 nic_dcb_get_dcbx(struct net_device *dev)
{
	return DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE;
}

static u8 nic_dcb_set_dcbx(struct net_device *dev, u8 mode)
{
	return mode != nic_dcb_get_dcbx(dev);
}

static const struct dcbnl_rtnl_ops nic_dcb_ops = {
	.ieee_getpfc = nic_dcb_get_pfc,
	.ieee_setpfc = nic_dcb_set_pfc,
	.getdcbx = nic_dcb_get_dcbx,
	.setdcbx = nic_dcb_set_dcbx,
};

void nic_dcb_add(struct nic_function *f)
{
	f->dev->dcbnl_ops = &nic_dcb_ops;
}
