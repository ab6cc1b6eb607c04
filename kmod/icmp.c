// SPDX-License-Identifier: GPL-2.0
/* Answers to packets that cannot be relayed or sent. */

#include <linux/icmpv6.h>
#include <net/addrconf.h>
#include <net/icmp.h>
#include <net/l3mdev.h>
#include <net/route.h>

#include "flow.h"
#include "icmp.h"
#include "topoopt.h"

/*
 * icmp_send() finds the namespace through the packet's dst and does nothing
 * without one. A route to the sender serves: unlike an input route it does
 * not depend on forwarding or rp_filter being set just so.
 */
static void topoopt_icmp_send4(struct topoopt_dev *tdev, struct sk_buff *skb,
			       int type, int code, __be32 info)
{
	if (!skb_dst(skb)) {
		struct flowi4 fl4 = {
			.daddr = ip_hdr(skb)->saddr,
			.flowi4_oif = l3mdev_master_ifindex_rcu(tdev->dev),
		};
		struct rtable *rt;

		rt = ip_route_output_key(dev_net(tdev->dev), &fl4);
		if (IS_ERR(rt))
			return;
		skb_dst_set(skb, &rt->dst);
	}
	icmp_ndo_send(skb, type, code, info);
}

static void topoopt_icmp_send6(struct topoopt_dev *tdev, struct sk_buff *skb,
			       u8 type, u8 code, u32 info)
{
	/* No IPv6 on the device, perhaps none in the kernel at all. */
	if (!__in6_dev_get(tdev->dev))
		return;
	icmpv6_ndo_send(skb, type, code, info);
}

static void topoopt_icmp_prepare(struct topoopt_dev *tdev, struct sk_buff *skb,
				 const struct topoopt_flow *flow)
{
	__skb_pull(skb, flow->nhoff);
	skb_reset_network_header(skb);
	skb->dev = tdev->dev;
}

void topoopt_icmp_expired(struct topoopt_dev *tdev, struct sk_buff *skb,
			  const struct topoopt_flow *flow)
{
	topoopt_icmp_prepare(tdev, skb, flow);
	if (flow->ipv6)
		topoopt_icmp_send6(tdev, skb, ICMPV6_TIME_EXCEED,
				   ICMPV6_EXC_HOPLIMIT, 0);
	else
		topoopt_icmp_send4(tdev, skb, ICMP_TIME_EXCEEDED, ICMP_EXC_TTL, 0);
}

void topoopt_icmp_too_big(struct topoopt_dev *tdev, struct sk_buff *skb,
			  const struct topoopt_flow *flow, u32 mtu)
{
	topoopt_icmp_prepare(tdev, skb, flow);
	if (flow->ipv6)
		topoopt_icmp_send6(tdev, skb, ICMPV6_PKT_TOOBIG, 0,
				   max_t(u32, mtu, IPV6_MIN_MTU));
	else
		topoopt_icmp_send4(tdev, skb, ICMP_DEST_UNREACH,
				   ICMP_FRAG_NEEDED, htonl(mtu));
}

void topoopt_icmp_unreachable(struct topoopt_dev *tdev, struct sk_buff *skb,
			      const struct topoopt_flow *flow)
{
	topoopt_icmp_prepare(tdev, skb, flow);
	if (flow->ipv6)
		topoopt_icmp_send6(tdev, skb, ICMPV6_DEST_UNREACH,
				   ICMPV6_ADDR_UNREACH, 0);
	else
		topoopt_icmp_send4(tdev, skb, ICMP_DEST_UNREACH,
				   ICMP_HOST_UNREACH, 0);
}
