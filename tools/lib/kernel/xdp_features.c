// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/xdp_features.h"

#include <linux/genetlink.h>

#include "kernel/netlink.h"

/* Of linux/netdev.h, which headers before 6.3 lack. */
#define FEATURES_FAMILY		"netdev"
#define FEATURES_DEV_GET	1	/* NETDEV_CMD_DEV_GET */
#define FEATURES_IFINDEX	1	/* NETDEV_A_DEV_IFINDEX */
#define FEATURES_XDP		3	/* NETDEV_A_DEV_XDP_FEATURES */
#define FEATURES_REDIRECT	2	/* NETDEV_XDP_ACT_REDIRECT */
#define FEATURES_SEND		4	/* NETDEV_XDP_ACT_NDO_XMIT */
#define FEATURES_SEND_FRAGS	64	/* NETDEV_XDP_ACT_NDO_XMIT_SG */

static struct nlmsghdr *features_request(void *buf, uint16_t family, uint8_t command)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *g;

	nlh->nlmsg_type = family;
	g = mnl_nlmsg_put_extra_header(nlh, sizeof(*g));
	g->cmd = command;
	g->version = 1;
	return nlh;
}

static int features_parse_family(const struct nlmsghdr *nlh, void *arg)
{
	const struct nlattr *nla;

	mnl_attr_for_each(nla, nlh, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(nla) == CTRL_ATTR_FAMILY_ID)
			*(uint16_t *)arg = to_attr_u16(nla);
	return 0;
}

static enum to_xdp_ability features_ability(const struct nlattr *nla, uint64_t feature)
{
	return to_attr_u64(nla) & feature ? TO_XDP_CAN : TO_XDP_CANNOT;
}

static int features_parse(const struct nlmsghdr *nlh, void *arg)
{
	struct to_xdp_features *features = arg;
	const struct nlattr *nla;

	mnl_attr_for_each(nla, nlh, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(nla) != FEATURES_XDP)
			continue;
		features->redirect = features_ability(nla, FEATURES_REDIRECT);
		features->send = features_ability(nla, FEATURES_SEND);
		features->send_frags = features_ability(nla, FEATURES_SEND_FRAGS);
	}
	return 0;
}

struct to_xdp_features to_xdp_features(uint32_t ifindex)
{
	struct to_xdp_features features = {};
	struct nlmsghdr *nlh;
	struct to_netlink nl;
	uint16_t family = 0;
	char buf[256];

	if (to_netlink_open(&nl, NETLINK_GENERIC, NULL))
		return features;
	nlh = features_request(buf, GENL_ID_CTRL, CTRL_CMD_GETFAMILY);
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, FEATURES_FAMILY);
	if (!to_netlink_call(&nl, nlh, features_parse_family, &family, NULL) && family) {
		nlh = features_request(buf, family, FEATURES_DEV_GET);
		mnl_attr_put_u32(nlh, FEATURES_IFINDEX, ifindex);
		to_netlink_call(&nl, nlh, features_parse, &features, NULL);
	}
	to_netlink_close(&nl);
	return features;
}
