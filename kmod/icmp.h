/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOPOOPT_ICMP_H
#define TOPOOPT_ICMP_H

#include <linux/types.h>

struct sk_buff;
struct topoopt_dev;
struct topoopt_flow;

/*
 * Tell the sender why its packet was not forwarded. The answer leaves as from
 * the topoopt device, so that its source is the node address wherever the
 * route to the sender does not say otherwise: traceroute shows servers. The
 * packet stays the caller's, who must drop it: @skb is good for nothing else.
 */

/* TTL or hop limit spent. */
void topoopt_icmp_expired(struct topoopt_dev *tdev, struct sk_buff *skb,
			  const struct topoopt_flow *flow);

/* Larger than the egress MTU; sent without DF too, as we never fragment. */
void topoopt_icmp_too_big(struct topoopt_dev *tdev, struct sk_buff *skb,
			  const struct topoopt_flow *flow, u32 mtu);

/* No route, or no port of the route works. */
void topoopt_icmp_unreachable(struct topoopt_dev *tdev, struct sk_buff *skb,
			      const struct topoopt_flow *flow);

#endif
