// SPDX-License-Identifier: GPL-2.0
/* What this server sends through the topoopt device. */

#include <linux/etherdevice.h>

#include "flow.h"
#include "icmp.h"
#include "output.h"
#include "table.h"
#include "topoopt.h"

/* Consumes the packet. Return: 0, or the error that a sender may be told. */
static int topoopt_xmit_route(struct topoopt_dev *tdev, struct sk_buff *skb)
{
	const struct topoopt_table *table = rcu_dereference(tdev->table);
	struct topoopt_route route;
	struct topoopt_flow flow;

	if (unlikely(!pskb_may_pull(skb, ETH_HLEN)))
		goto malformed;
	skb_reset_mac_header(skb);
	__skb_pull(skb, ETH_HLEN);
	if (unlikely(!topoopt_flow_parse(skb, eth_hdr(skb)->h_proto, &flow)))
		goto malformed;

	/* The stack itself sends multicast and the like: no error to report. */
	if (unlikely(topoopt_flow_scoped(skb, &flow))) {
		topoopt_output_drop(tdev->stats, skb, TOPOOPT_MISS_PACKETS,
				    SKB_DROP_REASON_IP_OUTNOROUTES);
		return 0;
	}
	if (unlikely(!table || !topoopt_flow_lookup(table, skb, &flow, &route) ||
		     route.type != TOPOOPT_ROUTE_TYPE_UNICAST)) {
		topoopt_icmp_unreachable(tdev, skb, &flow);
		topoopt_output_drop(tdev->stats, skb, TOPOOPT_MISS_PACKETS,
				    SKB_DROP_REASON_IP_OUTNOROUTES);
		return -EHOSTUNREACH;
	}
	return topoopt_output_forward(tdev, NULL, table, &route, skb, &flow);

malformed:
	topoopt_output_drop(tdev->stats, skb, TOPOOPT_DROP_HEADER,
			    SKB_DROP_REASON_INVALID_PROTO);
	return 0;
}

/**
 * topoopt_xmit_start() - ndo_start_xmit of the topoopt device
 * @skb: packet with a MAC header, whose addresses do not matter
 * @dev: topoopt device
 *
 * Answers a packet without a next hop with ICMP and returns the error: UDP and raw
 * senders learn of it from their system call.
 */
netdev_tx_t topoopt_xmit_start(struct sk_buff *skb, struct net_device *dev)
{
	int err;

	rcu_read_lock();
	err = topoopt_xmit_route(netdev_priv(dev), skb);
	rcu_read_unlock();
	return err ?: NETDEV_TX_OK;
}
