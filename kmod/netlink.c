// SPDX-License-Identifier: GPL-2.0
/* What requests, answers and events of the generic netlink family share. */

#include <net/sock.h>

#include "netlink.h"
#include "netlink_policy.h"
#include "peers.h"
#include "table.h"

struct topoopt_dev *topoopt_netlink_dev(struct genl_info *info,
					netdevice_tracker *tracker)
{
	struct topoopt_dev *tdev;

	if (GENL_REQ_ATTR_CHECK(info, TOPOOPT_A_DEVICE_IFINDEX)) {
		NL_SET_ERR_MSG(info->extack, "The ifindex of the device is missing");
		return ERR_PTR(-EINVAL);
	}
	tdev = topoopt_netns_get(genl_info_net(info),
				 nla_get_u32(info->attrs[TOPOOPT_A_DEVICE_IFINDEX]),
				 tracker, info->extack);
	if (IS_ERR(tdev))
		NL_SET_BAD_ATTR(info->extack,
				info->attrs[TOPOOPT_A_DEVICE_IFINDEX]);
	return tdev;
}

int topoopt_netlink_takes(const struct nlattr *nest, u32 types,
			  struct netlink_ext_ack *extack)
{
	const struct nlattr *attr;
	int rem;

	nla_for_each_nested(attr, nest, rem) {
		if (types & BIT(nla_type(attr)))
			continue;
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "The request does not take this attribute");
		return -EINVAL;
	}
	return 0;
}

int topoopt_netlink_call(struct genl_info *info, topoopt_netlink_fn_t *fn)
{
	netdevice_tracker tracker;
	struct topoopt_dev *tdev;
	int err;

	tdev = topoopt_netlink_dev(info, &tracker);
	if (IS_ERR(tdev))
		return PTR_ERR(tdev);

	mutex_lock(&tdev->lock);
	if (READ_ONCE(tdev->gone)) {
		NL_SET_ERR_MSG(info->extack, "The device is being removed");
		err = -ENODEV;
	} else {
		err = fn(tdev, info);
	}
	mutex_unlock(&tdev->lock);
	netdev_put(tdev->dev, &tracker);
	return err;
}

struct topoopt_dev *topoopt_netlink_dump_dev(struct netlink_callback *cb,
					     struct nlattr **attr,
					     netdevice_tracker *tracker)
{
	/* The core has validated them; where it keeps them differs. */
	nla_parse(attr, TOPOOPT_A_DEVICE_MAX, nlmsg_attrdata(cb->nlh, GENL_HDRLEN),
		  nlmsg_attrlen(cb->nlh, GENL_HDRLEN), NULL, NULL);
	if (!attr[TOPOOPT_A_DEVICE_IFINDEX]) {
		NL_SET_ERR_MSG(cb->extack, "The ifindex of the device is missing");
		return ERR_PTR(-EINVAL);
	}
	return topoopt_netns_get(sock_net(cb->skb->sk),
				 nla_get_u32(attr[TOPOOPT_A_DEVICE_IFINDEX]),
				 tracker, cb->extack);
}

struct sk_buff *topoopt_netlink_answer(struct topoopt_dev *tdev,
				       struct genl_info *info, void **header)
{
	struct sk_buff *skb = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);

	if (!skb)
		return NULL;
	/* Both fit into an empty message. */
	*header = genlmsg_put_reply(skb, info, &topoopt_nl_family, 0,
				    info->genlhdr->cmd);
	nla_put_u32(skb, TOPOOPT_A_DEVICE_IFINDEX, tdev->dev->ifindex);
	return skb;
}

int topoopt_netlink_reply(struct sk_buff *skb, void *header,
			  struct genl_info *info)
{
	genlmsg_end(skb, header);
	return genlmsg_reply(skb, info);
}

int topoopt_netlink_put_generation(struct sk_buff *skb, u64 generation)
{
	return nla_put_u64_64bit(skb, TOPOOPT_A_DEVICE_GENERATION, generation,
				 TOPOOPT_A_DEVICE_PAD);
}

int topoopt_netlink_put_counters(struct sk_buff *skb, int type,
				 const u64 sum[TOPOOPT_COUNTERS])
{
	struct nlattr *nest = nla_nest_start(skb, type);
	unsigned int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < TOPOOPT_COUNTERS; i++)
		if (nla_put_u64_64bit(skb,
				      TOPOOPT_A_COUNTERS_RELAY_RX_PACKETS + i,
				      sum[i], TOPOOPT_A_COUNTERS_PAD))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int topoopt_netlink_put_xdp(struct sk_buff *skb, const struct topoopt_port *port)
{
	u32 error = READ_ONCE(port->xdp_error);

	if ((READ_ONCE(port->xdp) && nla_put_flag(skb, TOPOOPT_A_PORT_XDP_RECEIVE)) ||
	    (READ_ONCE(port->xdp_ifindex) && nla_put_flag(skb, TOPOOPT_A_PORT_XDP_TRANSMIT)) ||
	    (error && nla_put_u32(skb, TOPOOPT_A_PORT_XDP_ERROR, error)) ||
	    nla_put_u32(skb, TOPOOPT_A_PORT_XDP_CLASSES, READ_ONCE(port->xdp_classes)))
		return -EMSGSIZE;
	return 0;
}

int topoopt_netlink_put_port(struct sk_buff *skb,
			     const struct topoopt_port *port)
{
	const struct net_device *tx = rcu_dereference_rtnl(port->tx);
	u64 sum[TOPOOPT_COUNTERS];
	struct nlattr *nest;

	nest = nla_nest_start(skb, TOPOOPT_A_DEVICE_PORT);
	if (!nest ||
	    nla_put_u32(skb, TOPOOPT_A_PORT_IFINDEX, port->ifindex) ||
	    nla_put_string(skb, TOPOOPT_A_PORT_IFNAME, port->dev->name))
		return -EMSGSIZE;
	if (tx != port->dev &&
	    (nla_put_u32(skb, TOPOOPT_A_PORT_TX_IFINDEX, tx->ifindex) ||
	     nla_put_string(skb, TOPOOPT_A_PORT_TX_IFNAME, tx->name)))
		return -EMSGSIZE;
	if (topoopt_port_live(port) && nla_put_flag(skb, TOPOOPT_A_PORT_LIVE))
		return -EMSGSIZE;
	if (rcu_access_pointer(port->tdev->ports[port->slot]) != port &&
	    nla_put_flag(skb, TOPOOPT_A_PORT_LEFT))
		return -EMSGSIZE;
	if (topoopt_netlink_put_xdp(skb, port))
		return -EMSGSIZE;
	topoopt_stats_port(port, sum);
	if (topoopt_netlink_put_counters(skb, TOPOOPT_A_PORT_COUNTERS, sum))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

int topoopt_netlink_put_peer(struct sk_buff *skb, const struct topoopt_peer *peer)
{
	struct nlattr *nest = nla_nest_start(skb, TOPOOPT_A_DEVICE_PEER);

	if (!nest || nla_put_u32(skb, TOPOOPT_A_PEER_PORT, peer->ifindex) ||
	    nla_put(skb, TOPOOPT_A_PEER_MAC, ETH_ALEN, peer->mac) ||
	    nla_put_u32(skb, TOPOOPT_A_PEER_INDEX, peer->index) ||
	    nla_put_string(skb, TOPOOPT_A_PEER_SERVER, peer->server) ||
	    nla_put_string(skb, TOPOOPT_A_PEER_SERVER_PORT, peer->port) ||
	    (peer->takes & TOPOOPT_PEER_TRANSIT && nla_put_flag(skb, TOPOOPT_A_PEER_TRANSIT)) ||
	    (peer->takes & TOPOOPT_PEER_LOCAL && nla_put_flag(skb, TOPOOPT_A_PEER_LOCAL)) ||
	    nla_put_u32(skb, TOPOOPT_A_PEER_REASON, peer->reason) ||
	    nla_put_u64_64bit(skb, TOPOOPT_A_PEER_RECEIVED, peer->received,
			      TOPOOPT_A_PEER_PAD) ||
	    nla_put_u64_64bit(skb, TOPOOPT_A_PEER_MISSING, peer->missing,
			      TOPOOPT_A_PEER_PAD))
		goto err;
	if (peer->received && peer->last.table &&
	    nla_put_u64_64bit(skb, TOPOOPT_A_PEER_GENERATION, peer->last.generation,
			      TOPOOPT_A_PEER_PAD))
		goto err;
	if (peer->received && nla_put_u32(skb, TOPOOPT_A_PEER_SILENCE,
					  div_u64(ktime_get_ns() - peer->heard_at,
						  NSEC_PER_MSEC)))
		goto err;
	if (peer->last.largest && nla_put_u32(skb, TOPOOPT_A_PEER_LARGEST, peer->last.largest))
		goto err;
	if (peer->reason == TOPOOPT_CHECK_REASON_STRANGER &&
	    (nla_put_string(skb, TOPOOPT_A_PEER_STRANGER, peer->stranger_server) ||
	     nla_put_string(skb, TOPOOPT_A_PEER_STRANGER_PORT, peer->stranger_port)))
		goto err;
	nla_nest_end(skb, nest);
	return 0;

err:
	nla_nest_cancel(skb, nest);
	return -EMSGSIZE;
}

static int topoopt_netlink_put_nexthop(struct sk_buff *skb,
				       const struct topoopt_dev *tdev,
				       const struct topoopt_nexthop *nexthop,
				       const struct topoopt_liveness *liveness)
{
	struct nlattr *nest = nla_nest_start(skb, TOPOOPT_A_GROUP_NEXTHOP);

	if (!nest ||
	    nla_put_u32(skb, TOPOOPT_A_NEXTHOP_PORT, nexthop->ifindex) ||
	    nla_put(skb, TOPOOPT_A_NEXTHOP_MAC, ETH_ALEN, nexthop->mac) ||
	    (nexthop->ingress ?
	     nla_put_u32(skb, TOPOOPT_A_NEXTHOP_INGRESS, nexthop->ingress) :
	     nla_put_u16(skb, TOPOOPT_A_NEXTHOP_WEIGHT, nexthop->weight)) ||
	    (nexthop->backup && nla_put_flag(skb, TOPOOPT_A_NEXTHOP_BACKUP)) ||
	    (topoopt_nexthop_works(nexthop, liveness, tdev->slot_ifindex) &&
	     nla_put_flag(skb, TOPOOPT_A_NEXTHOP_LIVE)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

int topoopt_netlink_put_group(struct sk_buff *skb,
			      const struct topoopt_dev *tdev,
			      const struct topoopt_group *group,
			      const struct topoopt_liveness *liveness)
{
	struct nlattr *nest = nla_nest_start(skb, TOPOOPT_A_DEVICE_GROUP);
	unsigned int i;

	if (!nest || nla_put_u32(skb, TOPOOPT_A_GROUP_ID, group->id))
		goto err;
	for (i = 0; i < group->primaries + group->backups + group->alternates; i++)
		if (topoopt_netlink_put_nexthop(skb, tdev, &group->nexthop[i], liveness))
			goto err;
	if (topoopt_group_on_backup(group, liveness, tdev->slot_ifindex) &&
	    nla_put_flag(skb, TOPOOPT_A_GROUP_BACKUP_IN_USE))
		goto err;
	nla_nest_end(skb, nest);
	return 0;

err:
	nla_nest_cancel(skb, nest);
	return -EMSGSIZE;
}
