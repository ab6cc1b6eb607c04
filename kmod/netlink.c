// SPDX-License-Identifier: GPL-2.0
/* The generic netlink family: devices and ports. */

#include <linux/netlink.h>
#include <linux/notifier.h>
#include <net/net_namespace.h>
#include <net/sock.h>

#include "account.h"
#include "netlink.h"
#include "table.h"

static const struct genl_multicast_group topoopt_netlink_groups[] = {
	[TOPOOPT_NLGRP_EVENTS] = { .name = TOPOOPT_MCGRP_EVENTS },
};

struct genl_family topoopt_netlink_family __ro_after_init = {
	.name		= TOPOOPT_FAMILY_NAME,
	.version	= TOPOOPT_FAMILY_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.ops		= topoopt_nl_ops,
	.n_ops		= ARRAY_SIZE(topoopt_nl_ops),
	.resv_start_op	= TOPOOPT_CMD_DEV_GET,
	.mcgrps		= topoopt_netlink_groups,
	.n_mcgrps	= ARRAY_SIZE(topoopt_netlink_groups),
};

static struct topoopt_dev *topoopt_netlink_dev(struct genl_info *info,
					       netdevice_tracker *tracker)
{
	struct topoopt_dev *tdev;

	if (GENL_REQ_ATTR_CHECK(info, TOPOOPT_A_DEVICE_IFINDEX)) {
		NL_SET_ERR_MSG(info->extack, "The ifindex of the device is missing");
		return ERR_PTR(-EINVAL);
	}
	tdev = topoopt_device_get(genl_info_net(info),
				  nla_get_u32(info->attrs[TOPOOPT_A_DEVICE_IFINDEX]),
				  tracker, info->extack);
	if (IS_ERR(tdev))
		NL_SET_BAD_ATTR(info->extack,
				info->attrs[TOPOOPT_A_DEVICE_IFINDEX]);
	return tdev;
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
	topoopt_device_put(tdev, &tracker);
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
	return topoopt_device_get(sock_net(cb->skb->sk),
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
	*header = genlmsg_put_reply(skb, info, &topoopt_netlink_family, 0,
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

/* @type is an attribute of the device or of a port. */
static int topoopt_netlink_put_counters(struct sk_buff *skb, int type,
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

/* Devices */

static int topoopt_netlink_put_device(struct sk_buff *skb,
				      struct topoopt_dev *tdev)
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
			      TOPOOPT_A_DEVICE_PAD))
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

static int topoopt_netlink_get_device(struct topoopt_dev *tdev,
				      struct genl_info *info)
{
	struct sk_buff *skb;
	void *header;
	int err;

	skb = topoopt_netlink_answer(tdev, info, &header);
	if (!skb)
		return -ENOMEM;
	err = topoopt_netlink_put_device(skb, tdev);
	if (err) {
		nlmsg_free(skb);
		return err;
	}
	return topoopt_netlink_reply(skb, header, info);
}

int topoopt_nl_dev_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return topoopt_netlink_call(info, topoopt_netlink_get_device);
}

/* The topoopt device with the lowest ifindex above @after, held, or NULL. */
static struct topoopt_dev *topoopt_netlink_next_dev(struct net *net, int after,
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

	while (!full &&
	       (tdev = topoopt_netlink_next_dev(net, cb->args[0], &tracker))) {
		mutex_lock(&tdev->lock);
		header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
				     cb->nlh->nlmsg_seq, &topoopt_netlink_family,
				     NLM_F_MULTI, TOPOOPT_CMD_DEV_GET);
		full = !header ||
		       nla_put_u32(skb, TOPOOPT_A_DEVICE_IFINDEX,
				   tdev->dev->ifindex) ||
		       topoopt_netlink_put_device(skb, tdev);
		mutex_unlock(&tdev->lock);
		if (!full) {
			genlmsg_end(skb, header);
			cb->args[0] = tdev->dev->ifindex;
		} else if (header) {
			genlmsg_cancel(skb, header);
		}
		topoopt_device_put(tdev, &tracker);
	}
	return skb->len;
}

/* Ports */

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
	if (!topoopt_port_find(port->tdev, port->ifindex) &&
	    nla_put_flag(skb, TOPOOPT_A_PORT_LEFT))
		return -EMSGSIZE;
	topoopt_stats_port(port, sum);
	if (topoopt_netlink_put_counters(skb, TOPOOPT_A_PORT_COUNTERS, sum))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* The port attribute of a request, parsed; its ifindex is there. */
static int topoopt_netlink_parse_port(struct genl_info *info,
				      struct nlattr **attr)
{
	struct nlattr *port = info->attrs[TOPOOPT_A_DEVICE_PORT];

	if (GENL_REQ_ATTR_CHECK(info, TOPOOPT_A_DEVICE_PORT)) {
		NL_SET_ERR_MSG(info->extack, "The port is missing");
		return -EINVAL;
	}
	nla_parse_nested(attr, TOPOOPT_A_PORT_MAX, port, NULL, NULL);
	if (NL_REQ_ATTR_CHECK(info->extack, port, attr, TOPOOPT_A_PORT_IFINDEX)) {
		NL_SET_ERR_MSG(info->extack, "The ifindex of the port is missing");
		return -EINVAL;
	}
	return 0;
}

static int topoopt_netlink_get_port(struct topoopt_dev *tdev,
				    struct genl_info *info)
{
	struct nlattr *attr[TOPOOPT_A_PORT_MAX + 1];
	const struct topoopt_port *port;
	struct sk_buff *skb;
	void *header;
	int err;

	err = topoopt_netlink_parse_port(info, attr);
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
	return topoopt_netlink_call(info, topoopt_netlink_get_port);
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
	if (attr[TOPOOPT_A_DEVICE_PORT]) {
		NL_SET_ERR_MSG_ATTR(cb->extack, attr[TOPOOPT_A_DEVICE_PORT],
				    "A dump is of all ports");
		topoopt_device_put(tdev, &tracker);
		return -EINVAL;
	}

	rcu_read_lock();
	for (; cb->args[0] < TOPOOPT_MAX_PORTS; cb->args[0]++) {
		port = rcu_dereference(tdev->ports[cb->args[0]]);
		if (!port)
			continue;
		header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
				     cb->nlh->nlmsg_seq, &topoopt_netlink_family,
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
		genlmsg_end(skb, header);
	}
	rcu_read_unlock();
	topoopt_device_put(tdev, &tracker);
	return skb->len;
}

int topoopt_nl_port_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *attr[TOPOOPT_A_PORT_MAX + 1];
	netdevice_tracker tracker;
	struct topoopt_dev *tdev;
	int err;

	err = topoopt_netlink_parse_port(info, attr);
	if (err)
		return err;
	if (NL_REQ_ATTR_CHECK(info->extack, info->attrs[TOPOOPT_A_DEVICE_PORT],
			      attr, TOPOOPT_A_PORT_TX_IFINDEX)) {
		NL_SET_ERR_MSG(info->extack,
			       "The tx-ifindex of the port is missing");
		return -EINVAL;
	}

	tdev = topoopt_netlink_dev(info, &tracker);
	if (IS_ERR(tdev))
		return PTR_ERR(tdev);
	rtnl_lock();
	err = topoopt_port_set_tx(tdev, nla_get_u32(attr[TOPOOPT_A_PORT_IFINDEX]),
				  nla_get_u32(attr[TOPOOPT_A_PORT_TX_IFINDEX]),
				  info->extack);
	rtnl_unlock();
	topoopt_device_put(tdev, &tracker);
	return err;
}

/* Sockets */

static int topoopt_netlink_event(struct notifier_block *block,
				 unsigned long event, void *data)
{
	const struct netlink_notify *notify = data;
	netdevice_tracker tracker;
	struct topoopt_dev *tdev;
	int ifindex = 0;

	if (event != NETLINK_URELEASE || notify->protocol != NETLINK_GENERIC ||
	    (!topoopt_stage_owned() && !topoopt_account_owned()))
		return NOTIFY_DONE;
	while ((tdev = topoopt_netlink_next_dev(notify->net, ifindex,
						&tracker))) {
		ifindex = tdev->dev->ifindex;
		mutex_lock(&tdev->lock);
		topoopt_stage_disown(tdev, notify->portid);
		topoopt_account_disown(tdev, notify->portid);
		mutex_unlock(&tdev->lock);
		topoopt_device_put(tdev, &tracker);
	}
	return NOTIFY_DONE;
}

static struct notifier_block topoopt_netlink_notifier = {
	.notifier_call = topoopt_netlink_event,
};

/* Life */

void topoopt_netlink_device_exit(struct topoopt_dev *tdev)
{
	struct topoopt_table *table;

	/* Whoever builds a table now stops: RTNL is held, and all wait for it. */
	WRITE_ONCE(tdev->gone, true);
	mutex_lock(&tdev->lock);
	topoopt_stage_free(tdev->stage);
	tdev->stage = NULL;
	topoopt_account_exit(tdev);
	table = rcu_replace_pointer(tdev->table, NULL,
				    lockdep_is_held(&tdev->lock));
	mutex_unlock(&tdev->lock);
	topoopt_table_free_rcu(table);
}

int __init topoopt_netlink_init(void)
{
	int err;

	err = topoopt_table_init();
	if (err)
		return err;
	err = netlink_register_notifier(&topoopt_netlink_notifier);
	if (err)
		goto err_table;
	err = genl_register_family(&topoopt_netlink_family);
	if (err)
		goto err_notifier;
	return 0;

err_notifier:
	netlink_unregister_notifier(&topoopt_netlink_notifier);
err_table:
	topoopt_table_exit();
	return err;
}

void topoopt_netlink_exit(void)
{
	genl_unregister_family(&topoopt_netlink_family);
	netlink_unregister_notifier(&topoopt_netlink_notifier);
	topoopt_table_exit();
}
