/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOPOOPT_OUTPUT_H
#define TOPOOPT_OUTPUT_H

#include <linux/skbuff.h>

#include "topoopt.h"

struct topoopt_flow;
struct topoopt_route;
struct topoopt_table;

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
 * Selects the next hop, checks the MTU, takes one off the TTL of a relayed
 * packet, queues it and counts it. A packet that cannot go is answered with
 * ICMP.
 *
 * Return: 0, or the error that the sender may be told.
 */
int topoopt_output_forward(struct topoopt_dev *tdev,
			   const struct topoopt_port *in,
			   const struct topoopt_table *table,
			   const struct topoopt_route *route,
			   struct sk_buff *skb, struct topoopt_flow *flow);

static inline void topoopt_output_drop(struct topoopt_stats __percpu *stats,
				       struct sk_buff *skb,
				       enum topoopt_counter counter,
				       enum skb_drop_reason reason)
{
	topoopt_stats_add(stats, counter, skb_shinfo(skb)->gso_segs ?: 1);
	kfree_skb_reason(skb, reason);
}

#endif
