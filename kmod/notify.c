// SPDX-License-Identifier: GPL-2.0
/* Events, for those who joined the multicast group. */

#include "netlink.h"
#include "netlink_policy.h"
#include "table.h"

static bool topoopt_notify_wanted(const struct topoopt_dev *tdev)
{
	return genl_has_listeners(&topoopt_nl_family, dev_net(tdev->dev),
				  TOPOOPT_NLGRP_EVENTS);
}

/* Start of a message about the device; NULL without memory. */
static struct sk_buff *topoopt_notify_begin(const struct topoopt_dev *tdev,
					    u8 cmd, gfp_t gfp, void **header)
{
	struct sk_buff *skb = genlmsg_new(NLMSG_GOODSIZE, gfp);

	if (!skb)
		return NULL;
	/* All of this fits into an empty message. */
	*header = genlmsg_put(skb, 0, 0, &topoopt_nl_family, 0, cmd);
	nla_put_u32(skb, TOPOOPT_A_DEVICE_IFINDEX, tdev->dev->ifindex);
	nla_put_string(skb, TOPOOPT_A_DEVICE_IFNAME, tdev->dev->name);
	return skb;
}

static void topoopt_notify_send(const struct topoopt_dev *tdev,
				struct sk_buff *skb, void *header, gfp_t gfp)
{
	genlmsg_end(skb, header);
	genlmsg_multicast_netns(&topoopt_nl_family, dev_net(tdev->dev),
				skb, 0, TOPOOPT_NLGRP_EVENTS, gfp);
}

/*
 * Report the groups that switched to their backups, or back to their primaries.
 * Under RCU.
 */
static void topoopt_notify_groups(const struct topoopt_dev *tdev,
				  const struct topoopt_table *table,
				  u64 live_before, u64 live_now)
{
	const struct topoopt_group *group;
	struct sk_buff *skb = NULL;
	void *header = NULL;
	u32 i;

	for (i = 0; i < topoopt_table_groups(table); i++) {
		group = topoopt_table_group(table, i);
		if (topoopt_group_on_backup(group, live_before, tdev->slot_ifindex) ==
		    topoopt_group_on_backup(group, live_now, tdev->slot_ifindex))
			continue;
		if (skb && !topoopt_netlink_put_group(skb, tdev, group, live_now))
			continue;

		/* The first, or the message is full. */
		if (skb)
			topoopt_notify_send(tdev, skb, header, GFP_ATOMIC);
		skb = topoopt_notify_begin(tdev, TOPOOPT_CMD_GROUP_NTF,
					   GFP_ATOMIC, &header);
		if (!skb)
			return;
		topoopt_netlink_put_generation(skb,
					       topoopt_table_generation(table));
		topoopt_netlink_put_group(skb, tdev, group, live_now);
	}
	if (skb)
		topoopt_notify_send(tdev, skb, header, GFP_ATOMIC);
}

void topoopt_notify_commit(struct topoopt_dev *tdev)
{
	const struct topoopt_table *table;
	struct sk_buff *skb;
	void *header;

	if (!topoopt_notify_wanted(tdev))
		return;
	rcu_read_lock();
	table = rcu_dereference(tdev->table);
	skb = topoopt_notify_begin(tdev, TOPOOPT_CMD_COMMIT_NTF, GFP_ATOMIC,
				   &header);
	if (skb) {
		topoopt_netlink_put_generation(skb,
					       topoopt_table_generation(table));
		nla_put_u32(skb, TOPOOPT_A_DEVICE_ROUTES,
			    topoopt_table_routes(table));
		nla_put_u32(skb, TOPOOPT_A_DEVICE_GROUPS,
			    topoopt_table_groups(table));
		topoopt_notify_send(tdev, skb, header, GFP_ATOMIC);
	}

	/*
	 * Pairs with topoopt_notify_port(): a port that dies now finds
	 * the new table there, or the new table finds it dead here.
	 */
	smp_mb();
	/* Where nothing is live, none is on its backups. */
	topoopt_notify_groups(tdev, table, 0, topoopt_port_live_slots(tdev));
	rcu_read_unlock();
}

void topoopt_notify_port(struct topoopt_dev *tdev,
			 const struct topoopt_port *port,
			 u64 live_before, u64 live_now, gfp_t gfp)
{
	const struct topoopt_table *table;
	struct sk_buff *skb;
	void *header;

	if (!topoopt_notify_wanted(tdev))
		return;
	skb = topoopt_notify_begin(tdev, TOPOOPT_CMD_PORT_NTF, gfp, &header);
	if (skb) {
		if (topoopt_netlink_put_port(skb, port))
			nlmsg_free(skb);
		else
			topoopt_notify_send(tdev, skb, header, gfp);
	}

	smp_mb();	/* see topoopt_notify_commit() */
	rcu_read_lock();
	table = rcu_dereference(tdev->table);
	if (table)
		topoopt_notify_groups(tdev, table, live_before, live_now);
	rcu_read_unlock();
}

void topoopt_notify_peer(const struct topoopt_dev *tdev, const struct topoopt_peer *peer)
{
	struct sk_buff *skb;
	void *header;

	if (!topoopt_notify_wanted(tdev))
		return;
	skb = topoopt_notify_begin(tdev, TOPOOPT_CMD_PEER_NTF, GFP_ATOMIC, &header);
	if (!skb)
		return;
	if (topoopt_netlink_put_peer(skb, peer))
		nlmsg_free(skb);
	else
		topoopt_notify_send(tdev, skb, header, GFP_ATOMIC);
}
