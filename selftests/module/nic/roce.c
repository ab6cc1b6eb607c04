// SPDX-License-Identifier: GPL-2.0
/*
 * What the transport engine of an RDMA function does with RoCEv2: it takes what is for the
 * function's address, and drops what is for none of its GIDs. Here rdma_rxe is the engine for
 * its own, which therefore goes up the stack.
 */

#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/addrconf.h>
#include <net/ip.h>

#include "nic.h"

#define NIC_ROCE_PORT	4791

/* Destination of a packet. */
struct nic_roce_address {
	bool ipv6;
	union {
		__be32 v4;
		struct in6_addr v6;
	};
};

/* Whether a device has an address. Nonzero ends a walk. */
static int nic_roce_has(struct net_device *dev, struct netdev_nested_priv *data)
{
	const struct nic_roce_address *to = data->data;
	const struct in_ifaddr *address;
	struct in_device *in_dev;

	if (to->ipv6)
		return ipv6_chk_addr(dev_net(dev), &to->v6, dev, 1);
	in_dev = __in_dev_get_rcu(dev);
	if (!in_dev)
		return 0;
	in_dev_for_each_ifa_rcu(address, in_dev)
		if (address->ifa_local == to->v4)
			return 1;
	return 0;
}

/* Find the destination of a RoCEv2 packet; false for other frames. */
static bool nic_roce_parse(const struct sk_buff *skb, struct nic_roce_address *to)
{
	__be16 protocol = eth_hdr(skb)->h_proto;
	int at = ETH_HLEN;
	union {
		struct vlan_hdr vlan;
		struct iphdr v4;
		struct ipv6hdr v6;
		struct udphdr udp;
	} copy;
	const struct udphdr *udp;

	if (protocol == htons(ETH_P_8021Q)) {
		const struct vlan_hdr *tag = skb_header_pointer(skb, at, sizeof(*tag), &copy);

		if (!tag)
			return false;
		protocol = tag->h_vlan_encapsulated_proto;
		at += VLAN_HLEN;
	}
	if (protocol == htons(ETH_P_IP)) {
		const struct iphdr *ip = skb_header_pointer(skb, at, sizeof(*ip), &copy);

		if (!ip || ip->protocol != IPPROTO_UDP || ip->frag_off & htons(IP_OFFSET))
			return false;
		to->ipv6 = false;
		to->v4 = ip->daddr;
		at += ip->ihl * 4;
	} else if (protocol == htons(ETH_P_IPV6)) {
		const struct ipv6hdr *ip = skb_header_pointer(skb, at, sizeof(*ip), &copy);

		if (!ip || ip->nexthdr != IPPROTO_UDP)
			return false;
		to->ipv6 = true;
		to->v6 = ip->daddr;
		at += sizeof(*ip);
	} else {
		return false;
	}
	udp = skb_header_pointer(skb, at, sizeof(*udp), &copy);
	return udp && udp->dest == htons(NIC_ROCE_PORT);
}

/* Whether a frame is unicast RoCEv2 to an address that the function has no GID for. Under RCU. */
bool nic_roce_foreign(struct nic_function *f, const struct sk_buff *skb)
{
	struct nic_roce_address to;
	struct netdev_nested_priv data = { .data = &to };

	if (is_multicast_ether_addr(eth_hdr(skb)->h_dest) || !nic_roce_parse(skb, &to))
		return false;
	return !nic_roce_has(f->dev, &data) &&
	       !netdev_walk_all_upper_dev_rcu(f->dev, nic_roce_has, &data);
}
