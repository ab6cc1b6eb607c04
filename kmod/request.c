// SPDX-License-Identifier: GPL-2.0
/* Requests about the module, devices, their ports and their programs; sockets that close. */

#include <linux/netlink.h>
#include <linux/notifier.h>
#include <net/net_namespace.h>
#include <net/sock.h>

#include "account.h"
#include "continuity.h"
#include "netlink.h"
#include "netlink_policy.h"
#include "table.h"

/* The module */

#define TOPOOPT_REQUEST_FEATURES	BIT(TOPOOPT_FEATURE_CHECKS)

int topoopt_nl_module_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct sk_buff *reply;
	void *header;

	/* The core refuses no attribute where the request has no policy. */
	if (nlmsg_attrlen(info->nlhdr, GENL_HDRLEN)) {
		NL_SET_ERR_MSG(info->extack, "The request takes no attributes");
		return -EINVAL;
	}
	reply = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (!reply)
		return -ENOMEM;
	/* All of this fits into an empty message. */
	header = genlmsg_put_reply(reply, info, &topoopt_nl_family, 0,
				   info->genlhdr->cmd);
	nla_put_string(reply, TOPOOPT_A_DEVICE_VERSION, TOPOOPT_VERSION);
	nla_put_u32(reply, TOPOOPT_A_DEVICE_FEATURES, TOPOOPT_REQUEST_FEATURES);
	return topoopt_netlink_reply(reply, header, info);
}

/* Devices */

/* How a table is checked, if it is; the key for those who may set it. */
static int topoopt_request_put_check(struct sk_buff *skb, const struct topoopt_peers *peers,
				     bool with_key)
{
	struct nlattr *nest;

	if (!peers || READ_ONCE(peers->answers))
		return 0;
	nest = nla_nest_start(skb, TOPOOPT_A_DEVICE_CHECK);
	if (!nest || nla_put_u32(skb, TOPOOPT_A_CHECK_INTERVAL, peers->interval) ||
	    nla_put_u64_64bit(skb, TOPOOPT_A_CHECK_FABRIC, peers->fabric, TOPOOPT_A_CHECK_PAD) ||
	    nla_put_u32(skb, TOPOOPT_A_CHECK_GRACE, peers->grace_ms) ||
	    nla_put_string(skb, TOPOOPT_A_CHECK_SERVER, peers->server) ||
	    (with_key && nla_put(skb, TOPOOPT_A_CHECK_KEY, sizeof(peers->key), &peers->key)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int topoopt_request_put_device(struct sk_buff *skb,
				      struct topoopt_dev *tdev, bool with_key)
{
	const struct topoopt_table *table;
	u64 sum[TOPOOPT_COUNTERS];

	table = rcu_dereference_protected(tdev->table,
					  lockdep_is_held(&tdev->lock));
	if (nla_put_string(skb, TOPOOPT_A_DEVICE_IFNAME, tdev->dev->name) ||
	    topoopt_netlink_put_generation(skb, tdev->generation) ||
	    nla_put_u32(skb, TOPOOPT_A_DEVICE_ROUTES,
			table ? topoopt_table_routes(table) : 0) ||
	    nla_put_u32(skb, TOPOOPT_A_DEVICE_GROUPS,
			table ? topoopt_table_groups(table) : 0) ||
	    nla_put_u64_64bit(skb, TOPOOPT_A_DEVICE_MEMORY,
			      table ? topoopt_table_memory(table) : 0,
			      TOPOOPT_A_DEVICE_PAD) ||
	    (table &&
	     topoopt_request_put_check(skb, topoopt_table_peers(table), with_key)))
		return -EMSGSIZE;

	if (tdev->stage &&
	    (nla_put_u32(skb, TOPOOPT_A_DEVICE_STAGED_ROUTES,
			 topoopt_stage_count_routes(tdev->stage)) ||
	     nla_put_u32(skb, TOPOOPT_A_DEVICE_STAGED_GROUPS,
			 topoopt_stage_count_groups(tdev->stage)) ||
	     (topoopt_stage_table(tdev->stage) &&
	      nla_put_flag(skb, TOPOOPT_A_DEVICE_STAGED_PREPARED))))
		return -EMSGSIZE;

	topoopt_stats_device(tdev, sum);
	return topoopt_netlink_put_counters(skb, TOPOOPT_A_DEVICE_COUNTERS, sum);
}

static int topoopt_request_get_device(struct topoopt_dev *tdev,
				      struct genl_info *info)
{
	struct sk_buff *skb;
	void *header;
	int err;

	skb = topoopt_netlink_answer(tdev, info, &header);
	if (!skb)
		return -ENOMEM;
	err = topoopt_request_put_device(skb, tdev, info->user_ptr[0]);
	if (err) {
		nlmsg_free(skb);
		return err;
	}
	return topoopt_netlink_reply(skb, header, info);
}

int topoopt_nl_dev_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct net *net = genl_info_net(info);

	if (netlink_ns_capable(skb, net->user_ns, CAP_NET_ADMIN))
		info->user_ptr[0] = net;
	return topoopt_netlink_call(info, topoopt_request_get_device);
}

/* The topoopt device with the lowest ifindex above @after, held, or NULL. */
static struct topoopt_dev *topoopt_request_next_dev(struct net *net, int after,
						    netdevice_tracker *tracker)
{
	struct net_device *dev, *next = NULL;

	rcu_read_lock();
	for_each_netdev_rcu(net, dev)
		if (dev->ifindex > after && topoopt_device_is(dev) &&
		    (!next || dev->ifindex < next->ifindex))
			next = dev;
	if (next)
		netdev_hold(next, tracker, GFP_ATOMIC);
	rcu_read_unlock();
	return next ? netdev_priv(next) : NULL;
}

int topoopt_nl_dev_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct net *net = sock_net(skb->sk);
	netdevice_tracker tracker;
	struct topoopt_dev *tdev;
	bool full = false;
	void *header;

	/* Where a dump takes nothing and so has no policy, kernels as 6.12 take all. */
	if (nlmsg_attrlen(cb->nlh, GENL_HDRLEN)) {
		NL_SET_ERR_MSG(cb->extack, "The dump takes no attributes");
		return -EINVAL;
	}
	while (!full) {
		cb->seq = READ_ONCE(net->dev_base_seq);
		tdev = topoopt_request_next_dev(net, cb->args[0], &tracker);
		if (!tdev)
			break;
		mutex_lock(&tdev->lock);
		header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
				     cb->nlh->nlmsg_seq, &topoopt_nl_family,
				     NLM_F_MULTI, TOPOOPT_CMD_DEV_GET);
		full = !header ||
		       nla_put_u32(skb, TOPOOPT_A_DEVICE_IFINDEX,
				   tdev->dev->ifindex) ||
		       topoopt_request_put_device(skb, tdev, false);
		mutex_unlock(&tdev->lock);
		if (!full) {
			genl_dump_check_consistent(cb, header);
			genlmsg_end(skb, header);
			cb->args[0] = tdev->dev->ifindex;
		} else if (header) {
			genlmsg_cancel(skb, header);
		}
		netdev_put(tdev->dev, &tracker);
	}
	return skb->len;
}

/* Ports */

/* The port attribute of a request that takes @types, parsed; its ifindex is there. */
static int topoopt_request_parse_port(struct genl_info *info, u32 types,
				      struct nlattr **attr)
{
	struct nlattr *port = info->attrs[TOPOOPT_A_DEVICE_PORT];
	int err;

	if (GENL_REQ_ATTR_CHECK(info, TOPOOPT_A_DEVICE_PORT)) {
		NL_SET_ERR_MSG(info->extack, "The port is missing");
		return -EINVAL;
	}
	err = topoopt_netlink_takes(port, types, info->extack);
	if (err)
		return err;
	nla_parse_nested(attr, TOPOOPT_A_PORT_MAX, port, NULL, NULL);
	if (NL_REQ_ATTR_CHECK(info->extack, port, attr, TOPOOPT_A_PORT_IFINDEX)) {
		NL_SET_ERR_MSG(info->extack, "The ifindex of the port is missing");
		return -EINVAL;
	}
	return 0;
}

static int topoopt_request_get_port(struct topoopt_dev *tdev,
				    struct genl_info *info)
{
	struct nlattr *attr[TOPOOPT_A_PORT_MAX + 1];
	const struct topoopt_port *port;
	struct sk_buff *skb;
	void *header;
	int err;

	err = topoopt_request_parse_port(info, BIT(TOPOOPT_A_PORT_IFINDEX), attr);
	if (err)
		return err;
	skb = topoopt_netlink_answer(tdev, info, &header);
	if (!skb)
		return -ENOMEM;

	rcu_read_lock();
	port = topoopt_port_find(tdev, nla_get_u32(attr[TOPOOPT_A_PORT_IFINDEX]));
	if (port) {
		err = topoopt_netlink_put_port(skb, port);
	} else {
		NL_SET_ERR_MSG_ATTR(info->extack, attr[TOPOOPT_A_PORT_IFINDEX],
				    "Not a port of the device");
		err = -ENODEV;
	}
	rcu_read_unlock();
	if (err) {
		nlmsg_free(skb);
		return err;
	}
	return topoopt_netlink_reply(skb, header, info);
}

int topoopt_nl_port_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return topoopt_netlink_call(info, topoopt_request_get_port);
}

/*
 * The dump sequence of the ports. Read before each port and after the last one: no
 * lock keeps the ports of a message together.
 */
static u32 topoopt_request_port_seq(const struct topoopt_dev *tdev)
{
	u32 seq;

	smp_rmb();	/* pairs with topoopt_liveness_update() */
	seq = READ_ONCE(tdev->port_seq);
	smp_rmb();	/* the port is read after it */
	return seq;
}

int topoopt_nl_port_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nlattr *attr[TOPOOPT_A_DEVICE_MAX + 1];
	const struct topoopt_port *port;
	netdevice_tracker tracker;
	struct topoopt_dev *tdev;
	bool full = false;
	void *header;

	tdev = topoopt_netlink_dump_dev(cb, attr, &tracker);
	if (IS_ERR(tdev))
		return PTR_ERR(tdev);

	rcu_read_lock();
	for (;; cb->args[0]++) {
		cb->seq = topoopt_request_port_seq(tdev);
		if (cb->args[0] == TOPOOPT_MAX_PORTS)
			break;
		port = rcu_dereference(tdev->ports[cb->args[0]]);
		if (!port)
			continue;
		header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
				     cb->nlh->nlmsg_seq, &topoopt_nl_family,
				     NLM_F_MULTI, TOPOOPT_CMD_PORT_GET);
		full = !header ||
		       nla_put_u32(skb, TOPOOPT_A_DEVICE_IFINDEX,
				   tdev->dev->ifindex) ||
		       topoopt_netlink_put_port(skb, port);
		if (full) {
			if (header)
				genlmsg_cancel(skb, header);
			break;
		}
		/* A message that was cancelled would take the mark with it. */
		genl_dump_check_consistent(cb, header);
		genlmsg_end(skb, header);
	}
	rcu_read_unlock();
	netdev_put(tdev->dev, &tracker);
	return skb->len;
}

#define TOPOOPT_REQUEST_PORT_SET					\
	(BIT(TOPOOPT_A_PORT_IFINDEX) | BIT(TOPOOPT_A_PORT_TX_IFINDEX) |	\
	 BIT(TOPOOPT_A_PORT_XDP_CLASSES))

/* What @attr says of the port; a request that fails changes nothing. Under RTNL. */
static int topoopt_request_set_port(struct topoopt_dev *tdev, struct nlattr **attr,
				    struct netlink_ext_ack *extack)
{
	const struct nlattr *ifindex = attr[TOPOOPT_A_PORT_IFINDEX];
	struct topoopt_port *port;
	int err = 0;

	port = topoopt_port_find(tdev, nla_get_u32(ifindex));
	if (!port) {
		NL_SET_ERR_MSG_ATTR(extack, ifindex, "No such port");
		return -ENODEV;
	}
	if (attr[TOPOOPT_A_PORT_TX_IFINDEX])
		err = topoopt_port_set_tx(port,
					  nla_get_u32(attr[TOPOOPT_A_PORT_TX_IFINDEX]),
					  extack);
	if (!err && attr[TOPOOPT_A_PORT_XDP_CLASSES])
		topoopt_port_set_xdp_classes(port,
					     nla_get_u32(attr[TOPOOPT_A_PORT_XDP_CLASSES]));
	return err;
}

int topoopt_nl_port_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *attr[TOPOOPT_A_PORT_MAX + 1];
	netdevice_tracker tracker;
	struct topoopt_dev *tdev;
	int err;

	err = topoopt_request_parse_port(info, TOPOOPT_REQUEST_PORT_SET, attr);
	if (err)
		return err;
	if (!attr[TOPOOPT_A_PORT_XDP_CLASSES] &&
	    NL_REQ_ATTR_CHECK(info->extack, info->attrs[TOPOOPT_A_DEVICE_PORT],
			      attr, TOPOOPT_A_PORT_TX_IFINDEX)) {
		NL_SET_ERR_MSG(info->extack,
			       "Neither tx-ifindex nor xdp-classes of the port is there");
		return -EINVAL;
	}

	tdev = topoopt_netlink_dev(info, &tracker);
	if (IS_ERR(tdev))
		return PTR_ERR(tdev);
	rtnl_lock();
	err = topoopt_request_set_port(tdev, attr, info->extack);
	rtnl_unlock();
	netdev_put(tdev->dev, &tracker);
	return err;
}

/* Programs */

int topoopt_nl_account_doit(struct sk_buff *skb, struct genl_info *info)
{
	return topoopt_netlink_call(info, topoopt_account_add);
}

/* Sockets */

static int topoopt_request_event(struct notifier_block *block,
				 unsigned long event, void *data)
{
	const struct netlink_notify *notify = data;
	netdevice_tracker tracker;
	struct topoopt_dev *tdev;
	int ifindex = 0;

	if (event != NETLINK_URELEASE || notify->protocol != NETLINK_GENERIC ||
	    (!topoopt_stage_owned() && !topoopt_account_owned()))
		return NOTIFY_DONE;
	while ((tdev = topoopt_request_next_dev(notify->net, ifindex,
						&tracker))) {
		ifindex = tdev->dev->ifindex;
		mutex_lock(&tdev->lock);
		topoopt_stage_disown(tdev, notify->portid);
		topoopt_account_disown(tdev, notify->portid);
		mutex_unlock(&tdev->lock);
		netdev_put(tdev->dev, &tracker);
	}
	return NOTIFY_DONE;
}

struct notifier_block topoopt_request_notifier = {
	.notifier_call = topoopt_request_event,
};
