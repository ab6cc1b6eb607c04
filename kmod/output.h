/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOPOOPT_OUTPUT_H
#define TOPOOPT_OUTPUT_H

#include <linux/etherdevice.h>
#include <linux/skbuff.h>

#include "nesting.h"
#include "table.h"
#include "topoopt.h"

struct topoopt_flow;

/* Where a packet goes; valid in the RCU section it was selected in. */
struct topoopt_output {
	const struct topoopt_nexthop *nexthop;
	struct topoopt_port *port;
	struct net_device *dev;
};

/* What decides now which next hops packets for a server may take; under RCU. */
static inline struct topoopt_liveness
topoopt_output_liveness(const struct topoopt_dev *tdev, const struct topoopt_table *table,
			u32 server)
{
	return (struct topoopt_liveness) {
		.light = READ_ONCE(tdev->light),
		.live = topoopt_port_live_slots(tdev),
		.peers = topoopt_table_peers(table),
		.server = server,
	};
}

/**
 * topoopt_output_select() - next hop for a packet
 * @tdev: topoopt device
 * @in: port that the packet arrived at, NULL when this server originated it
 * @table: that the route is from
 * @route: with a group
 * @hash: of its flow, see topoopt_group_needs_hash()
 * @out: filled
 *
 * Under rcu_read_lock(). The alternate for @in, if there is one and it works; else a
 * primary, else a backup.
 *
 * Return: false when none works.
 */
bool topoopt_output_select(const struct topoopt_dev *tdev,
			   const struct topoopt_port *in,
			   const struct topoopt_table *table,
			   const struct topoopt_route *route, u32 hash,
			   struct topoopt_output *out);

/* Counts packets that did not take a primary. */
static inline void topoopt_output_count_detour(const struct topoopt_output *out,
					       u32 packets)
{
	if (unlikely(out->nexthop->ingress))
		topoopt_stats_add(out->port->stats, TOPOOPT_ALTERNATE_PACKETS,
				  packets);
	else if (unlikely(out->nexthop->backup))
		topoopt_stats_add(out->port->stats, TOPOOPT_BACKUP_PACKETS,
				  packets);
}

/* Whether the driver of @dev sends what XDP redirects, @frags: in several pieces. */
static __always_inline bool topoopt_output_xdp(const struct net_device *dev, bool frags)
{
#ifdef TOPOOPT_HAVE_XDP_FEATURES
	xdp_features_t need = NETDEV_XDP_ACT_NDO_XMIT |
			      (frags ? NETDEV_XDP_ACT_NDO_XMIT_SG : 0);

	return (READ_ONCE(dev->xdp_features) & need) == need;
#else
	return !frags && dev->netdev_ops->ndo_xdp_xmit;
#endif
}

/**
 * topoopt_output_forward() - send a packet along a route
 * @tdev: topoopt device
 * @in: port the packet is relayed from, NULL when this server originated it
 * @table: that the route is from
 * @route: of type unicast
 * @skb: packet, consumed; data as topoopt_flow_parse() found it, room for the
 *	MAC header before it
 * @flow: of the packet
 *
 * Selects the next hop, checks the MTU, decrements the TTL of a relayed packet,
 * queues it and counts it. Answers a packet that cannot be sent with ICMP.
 *
 * Return: 0, or the error that the sender may be told.
 */
int topoopt_output_forward(struct topoopt_dev *tdev,
			   const struct topoopt_port *in,
			   const struct topoopt_table *table,
			   const struct topoopt_route *route,
			   struct sk_buff *skb, struct topoopt_flow *flow);

/* MAC addresses of a frame that goes to a next hop through @dev. */
static __always_inline void topoopt_output_macs(struct ethhdr *eth,
						const struct topoopt_nexthop *nexthop,
						const struct net_device *dev)
{
	/* One store of eight bytes; the source address overwrites the last two. */
	put_unaligned(*(const u64 *)nexthop->mac, (u64 *)eth);
	ether_addr_copy(eth->h_source, dev->dev_addr);
}

/**
 * topoopt_output_queue() - give a packet its MAC header and queue it
 * @skb: packet, consumed; room for the MAC header before data
 * @dev: egress device
 * @nexthop: where it goes
 *
 * Return: 0, -ENOBUFS when the queue dropped it, -ELOOP.
 */
static __always_inline int topoopt_output_queue(struct sk_buff *skb,
						struct net_device *dev,
						const struct topoopt_nexthop *nexthop)
{
	struct ethhdr *eth = __skb_push(skb, ETH_HLEN);
	struct topoopt_nesting nesting;
	int err;

	skb_reset_mac_header(skb);
	topoopt_output_macs(eth, nexthop, dev);
	skb->dev = dev;

	if (unlikely(!topoopt_nesting_enter(&nesting))) {
		kfree_skb_reason(skb, SKB_DROP_REASON_RECURSION_LIMIT);
		return -ELOOP;
	}
	err = dev_queue_xmit(skb);
	topoopt_nesting_leave(&nesting);
	return net_xmit_eval(err) ? -ENOBUFS : 0;
}

/*
 * Drops with a counter. Each counter has core reasons that no other has, so that
 * dropwatch tells them apart; names of our own would need a subsystem in the core's
 * list, whose numbers are all taken. See Documentation/observe.md.
 */
static inline void topoopt_output_drop(struct topoopt_stats __percpu *stats,
				       struct sk_buff *skb,
				       enum topoopt_counter counter,
				       enum skb_drop_reason reason)
{
	topoopt_stats_add(stats, counter, skb_shinfo(skb)->gso_segs ?: 1);
	kfree_skb_reason(skb, reason);
}

#endif
