// SPDX-License-Identifier: GPL-2.0
/* Events, for those who joined the multicast group. */

#include "netlink.h"
#include "netlink_policy.h"
#include "output.h"
#include "peers.h"
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

void topoopt_notify_groups(const struct topoopt_dev *tdev)
{
	const struct topoopt_table *table = rcu_dereference(tdev->table);
	struct topoopt_liveness liveness;
	struct topoopt_group *group;
	struct sk_buff *skb = NULL;
	void *header = NULL;
	bool wanted;
	u32 i;

	lockdep_assert_held(&tdev->live_lock);
	if (!table)
		return;
	wanted = topoopt_notify_wanted(tdev);
	liveness = topoopt_output_liveness(tdev, table, TOPOOPT_SERVER_NONE);
	for (i = 0; i < topoopt_table_groups(table); i++) {
		group = topoopt_table_group(table, i);
		if (topoopt_group_on_backup(group, &liveness, tdev->slot_ifindex) ==
		    group->backup_told)
			continue;
		group->backup_told = !group->backup_told;
		if (!wanted)
			continue;
		if (skb && !topoopt_netlink_put_group(skb, tdev, group, &liveness))
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
		topoopt_netlink_put_group(skb, tdev, group, &liveness);
	}
	if (skb)
		topoopt_notify_send(tdev, skb, header, GFP_ATOMIC);
}

static void topoopt_notify_table(const struct topoopt_dev *tdev,
				 const struct topoopt_table *table)
{
	struct sk_buff *skb;
	void *header;

	if (!topoopt_notify_wanted(tdev))
		return;
	skb = topoopt_notify_begin(tdev, TOPOOPT_CMD_COMMIT_NTF, GFP_ATOMIC,
				   &header);
	if (!skb)
		return;
	topoopt_netlink_put_generation(skb, topoopt_table_generation(table));
	nla_put_u32(skb, TOPOOPT_A_DEVICE_ROUTES, topoopt_table_routes(table));
	nla_put_u32(skb, TOPOOPT_A_DEVICE_GROUPS, topoopt_table_groups(table));
	topoopt_notify_send(tdev, skb, header, GFP_ATOMIC);
}

void topoopt_notify_commit(struct topoopt_dev *tdev)
{
	rcu_read_lock();
	topoopt_notify_table(tdev, rcu_dereference(tdev->table));
	spin_lock_bh(&tdev->live_lock);
	topoopt_notify_groups(tdev);
	spin_unlock_bh(&tdev->live_lock);
	rcu_read_unlock();
}

void topoopt_notify_port(const struct topoopt_dev *tdev, const struct topoopt_port *port,
			 gfp_t gfp)
{
	struct sk_buff *skb;
	void *header;

	if (!topoopt_notify_wanted(tdev))
		return;
	skb = topoopt_notify_begin(tdev, TOPOOPT_CMD_PORT_NTF, gfp, &header);
	if (!skb)
		return;
	if (topoopt_netlink_put_port(skb, port))
		nlmsg_free(skb);
	else
		topoopt_notify_send(tdev, skb, header, gfp);
}

bool topoopt_notify_peers(const struct topoopt_dev *tdev, struct topoopt_peer *peer, u32 count)
{
	const struct topoopt_peer *end = peer + count;
	bool wanted = topoopt_notify_wanted(tdev), news = false;
	struct sk_buff *skb = NULL;
	void *header;

	for (; peer < end; peer++) {
		if (!peer->untold)
			continue;
		news = true;
		if (wanted && (!skb || topoopt_netlink_put_peer(skb, peer))) {
			/* The first, or the message is full. */
			if (skb)
				topoopt_notify_send(tdev, skb, header, GFP_ATOMIC);
			skb = topoopt_notify_begin(tdev, TOPOOPT_CMD_PEER_NTF, GFP_ATOMIC,
						   &header);
			if (!skb)
				return true;	/* and tell them later */
			topoopt_netlink_put_peer(skb, peer);
		}
		peer->untold = false;
	}
	if (skb)
		topoopt_notify_send(tdev, skb, header, GFP_ATOMIC);
	return news;
}
