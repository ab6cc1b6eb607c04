// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/dcb.h"

#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "kernel/netlink.h"

static int dcb_parse(const struct nlmsghdr *nlh, void *arg)
{
	const struct nlattr *nest, *nla;
	struct ieee_pfc pfc;

	mnl_attr_for_each(nest, nlh, sizeof(struct dcbmsg)) {
		if (mnl_attr_get_type(nest) != DCB_ATTR_IEEE)
			continue;
		mnl_attr_for_each_nested(nla, nest) {
			if (mnl_attr_get_type(nla) != DCB_ATTR_IEEE_PFC ||
			    mnl_attr_get_payload_len(nla) < sizeof(pfc))
				continue;
			memcpy(&pfc, mnl_attr_get_payload(nla), sizeof(pfc));
			*(uint8_t *)arg = pfc.pfc_en;
		}
	}
	return 0;
}

uint8_t to_dcb_pfc(const char *ifname)
{
	char buf[256];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct to_netlink rt;
	struct dcbmsg *dcb;
	uint8_t pfc = 0;

	if (to_netlink_open(&rt, NETLINK_ROUTE, NULL))
		return 0;
	nlh->nlmsg_type = RTM_GETDCB;
	dcb = mnl_nlmsg_put_extra_header(nlh, sizeof(*dcb));
	dcb->cmd = DCB_CMD_IEEE_GET;
	mnl_attr_put_strz(nlh, DCB_ATTR_IFNAME, ifname);
	to_netlink_call(&rt, nlh, dcb_parse, &pfc, NULL);
	to_netlink_close(&rt);
	return pfc;
}
