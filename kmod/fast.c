// SPDX-License-Identifier: GPL-2.0
/*
 * What nearly all packets of a fabric need, in one pass and with no more than
 * that: a whole IP packet that nobody else holds, to a destination with a route
 * that no source qualifies, by a port that works. The packet is not touched
 * before all of this is known, so that anything else goes to relay.c as it came.
 */

#include <net/dsfield.h>
#include <net/ip.h>

#include "account.h"
#include "compat/compat.h"
#include "flow.h"
#include "output.h"
#include "table.h"
#include "topoopt.h"
#include "tuple.h"

/* Ports and queue pair are looked at when all of them are there. */
#define TOPOOPT_FAST_TRANSPORT	(sizeof(struct udphdr) + sizeof(struct topoopt_flow_bth))

/* The checks of topoopt_flow_parse(), _validate(), _scoped() and _alert(). */
static __always_inline bool topoopt_fast_plain4(const struct sk_buff *skb)
{
	const struct iphdr *ip = (const struct iphdr *)skb->data;

	return skb_headlen(skb) >= sizeof(*ip) &&
	       *(const u8 *)ip == 0x45 && ip->ttl > 1 &&
	       ntohs(ip->tot_len) == skb->len &&
	       !topoopt_flow_scoped4(ip->daddr) &&
	       !topoopt_flow_scoped4(ip->saddr) &&
	       !ip_fast_csum(ip, 5);
}

static __always_inline bool topoopt_fast_plain6(const struct sk_buff *skb)
{
	const struct ipv6hdr *ip = (const struct ipv6hdr *)skb->data;

	return skb_headlen(skb) >= sizeof(*ip) &&
	       ip->version == 6 && ip->hop_limit > 1 &&
	       ip->nexthdr != NEXTHDR_HOP &&
	       ntohs(ip->payload_len) + sizeof(*ip) == skb->len &&
	       !topoopt_flow_scoped6(&ip->daddr) &&
	       !topoopt_flow_scoped6(&ip->saddr);
}

/* The slot of an address, which may be empty. */
static __always_inline const struct topoopt_slot *
topoopt_fast_lookup4(const struct topoopt_table *table, __be32 addr)
{
	const struct topoopt_tuple *tuple = table->family[false].dst.begin;

	return topoopt_tuple_search(tuple, (__force u32)addr & tuple->mask[0], 0,
				    false);
}

static __always_inline const struct topoopt_slot *
topoopt_fast_lookup6(const struct topoopt_table *table,
		     const struct in6_addr *addr)
{
	const struct topoopt_tuple *tuple = table->family[true].dst.begin;

	return topoopt_tuple_search(tuple,
				    topoopt_tuple_half(addr, 0) & tuple->mask[0],
				    topoopt_tuple_half(addr, 1) & tuple->mask[1],
				    true);
}

/* As topoopt_flow_hash() does it. Return: false when that one has to. */
static __always_inline bool topoopt_fast_hash(const struct sk_buff *skb, bool v6,
					      u32 seed, u32 *hash)
{
	const struct ipv6hdr *ip6 = (const struct ipv6hdr *)skb->data;
	const struct iphdr *ip4 = (const struct iphdr *)skb->data;
	u8 proto = v6 ? ip6->nexthdr : ip4->protocol;
	const struct udphdr *udp;
	u32 ports = 0, qp = 0;

	if (v6 ? ipv6_ext_hdr(proto) : ip_is_fragment(ip4))
		return false;
	udp = (const void *)skb->data + (v6 ? sizeof(*ip6) : sizeof(*ip4));
	if (likely(proto == IPPROTO_UDP || proto == IPPROTO_TCP)) {
		if (unlikely((void *)udp + TOPOOPT_FAST_TRANSPORT >
			     (void *)skb->data + skb_headlen(skb)))
			return false;
		memcpy(&ports, udp, sizeof(ports));
		if (likely(proto == IPPROTO_UDP &&
			   udp->dest == htons(TOPOOPT_FLOW_ROCE_PORT)))
			qp = ntohl(((const struct topoopt_flow_bth *)(udp + 1))->qp) &
			     GENMASK(23, 0);
	}
	*hash = topoopt_flow_finish(v6 ? topoopt_flow_stir6(seed, ip6) :
					 topoopt_flow_stir4(seed, ip4),
				    proto, ports, qp);
	return true;
}

/* The next hop of a flow as long as its port is live, else NULL. */
static __always_inline const struct topoopt_nexthop *
topoopt_fast_nexthop(const struct topoopt_dev *tdev,
		     const struct topoopt_group *group,
		     const struct sk_buff *skb, bool v6)
{
	const struct topoopt_nexthop *nexthop = group->nexthop;
	u32 hash;

	if (group->primaries > 1) {
		if (unlikely(!topoopt_fast_hash(skb, v6, tdev->hash_seed, &hash)))
			return NULL;
		nexthop = topoopt_group_first(group, hash);
	}
	return READ_ONCE(tdev->live) & BIT_ULL(nexthop->slot) ? nexthop : NULL;
}

/* Whether a device works and takes the packet as it is. */
static __always_inline bool topoopt_fast_takes(const struct net_device *dev,
					       const struct sk_buff *skb)
{
	/* netif_running() && netif_carrier_ok(), in one load */
	unsigned long works = BIT(__LINK_STATE_START);
	unsigned long state = READ_ONCE(dev->state) &
			      (works | BIT(__LINK_STATE_NOCARRIER));

	return state == works && skb->len <= READ_ONCE(dev->mtu) &&
	       skb_headroom(skb) >= dev->hard_header_len +
				    READ_ONCE(dev->needed_headroom);
}

/* What one hop changes in a packet, as topoopt_output_hop(). */
static __always_inline void topoopt_fast_hop(struct sk_buff *skb, bool v6)
{
	struct ipv6hdr *ip6 = (struct ipv6hdr *)skb->data;
	struct iphdr *ip4 = (struct iphdr *)skb->data;

	skb_forward_csum(skb);
	if (skb_vlan_tag_present(skb))
		skb->priority = skb_vlan_tag_get_prio(skb);
	else
		skb->priority = (v6 ? ipv6_get_dsfield(ip6) : ipv4_get_dsfield(ip4)) >> 5;
	if (v6)
		ip6->hop_limit--;
	else
		ip_decrease_ttl(ip4);
	skb_clear_tstamp(skb);
	skb_orphan(skb);
}

static __always_inline u32 topoopt_fast_bytes(const struct sk_buff *skb)
{
	return ETH_HLEN + (skb_vlan_tag_present(skb) ? VLAN_HLEN : 0) + skb->len;
}

static __always_inline int topoopt_fast_send(const struct topoopt_port *in,
					     const struct topoopt_port *out,
					     const struct topoopt_nexthop *nexthop,
					     struct sk_buff *skb)
{
	struct net_device *dev = rcu_dereference(out->tx);
	u32 bytes = topoopt_fast_bytes(skb);
	int err;

	topoopt_stats_add_bytes(in->stats, TOPOOPT_RELAY_RX_PACKETS, 1, bytes);
	err = topoopt_output_queue(skb, dev, nexthop->mac);
	if (unlikely(err))
		topoopt_stats_add(out->stats, TOPOOPT_DROP_TX, 1);
	else
		topoopt_stats_add_bytes(out->stats, TOPOOPT_RELAY_TX_PACKETS, 1,
					bytes);
	return err;
}

/*
 * The same when somebody counts pairs. Return: false, with the packet as it
 * came, when its class takes more than a look.
 */
static noinline bool topoopt_fast_account(const struct topoopt_port *in,
					  const struct topoopt_port *out,
					  const struct topoopt_nexthop *nexthop,
					  const struct topoopt_table *table,
					  u32 dst, struct sk_buff *skb)
{
	const struct ipv6hdr *ip6 = (const struct ipv6hdr *)skb->data;
	const struct iphdr *ip4 = (const struct iphdr *)skb->data;
	u32 bytes = topoopt_fast_bytes(skb), class, src;
	bool v6 = skb->protocol == htons(ETH_P_IPV6);
	unsigned int hlen = v6 ? sizeof(*ip6) : sizeof(*ip4);
	u8 proto = v6 ? ip6->nexthdr : ip4->protocol;
	const struct topoopt_slot *slot;

	if (unlikely(v6 ? ipv6_ext_hdr(proto) : ip_is_fragment(ip4)) ||
	    unlikely(skb_headlen(skb) < hlen + sizeof(struct udphdr)))
		return false;
	class = TOPOOPT_TRAFFIC_CLASS_OTHER;
	if (proto == IPPROTO_TCP)
		class = TOPOOPT_TRAFFIC_CLASS_TCP;
	else if (proto == IPPROTO_UDP &&
		 ((const struct udphdr *)(skb->data + hlen))->dest ==
		 htons(TOPOOPT_FLOW_ROCE_PORT))
		class = TOPOOPT_TRAFFIC_CLASS_ROCE;

	slot = v6 ? topoopt_fast_lookup6(table, &ip6->saddr) :
		    topoopt_fast_lookup4(table, ip4->saddr);
	if (likely(slot->target))
		src = slot->server;
	else
		src = v6 ? topoopt_table_server6(table, &ip6->saddr) :
			   topoopt_table_server4(table, ip4->saddr);

	topoopt_fast_hop(skb, v6);
	if (likely(!topoopt_fast_send(in, out, nexthop, skb)))
		topoopt_account(in->tdev, in, out, src, dst, class, 1, bytes);
	return true;
}

/* Return: false when the packet is left as it came. */
static __always_inline bool topoopt_fast_relay(const struct topoopt_port *in,
					       const struct topoopt_table *table,
					       struct sk_buff *skb, bool v6)
{
	const struct topoopt_nexthop *nexthop;
	const struct topoopt_slot *slot;
	const struct topoopt_port *out;

	if (unlikely(!(v6 ? topoopt_fast_plain6(skb) : topoopt_fast_plain4(skb))))
		return false;
	slot = v6 ? topoopt_fast_lookup6(table, &((struct ipv6hdr *)skb->data)->daddr) :
		    topoopt_fast_lookup4(table, ((struct iphdr *)skb->data)->daddr);
	/* Unicast, which is 0, and for all sources. */
	if (unlikely((slot->target & TOPOOPT_TARGET_FLAGS) != TOPOOPT_TARGET_ALONE))
		return false;
	nexthop = topoopt_fast_nexthop(in->tdev,
				       (void *)(slot->target & ~TOPOOPT_TARGET_FLAGS),
				       skb, v6);
	if (unlikely(!nexthop))
		return false;
	out = rcu_dereference(in->tdev->ports[nexthop->slot]);
	if (unlikely(!out || out->ifindex != nexthop->ifindex))
		return false;
	if (unlikely(!topoopt_fast_takes(rcu_dereference(out->tx), skb)))
		return false;

	if (topoopt_account_enabled())
		return topoopt_fast_account(in, out, nexthop, table, slot->server,
					    skb);
	topoopt_fast_hop(skb, v6);
	topoopt_fast_send(in, out, nexthop, skb);
	return true;
}

/**
 * topoopt_fast_receive() - rx_handler of a port
 * @pskb: see topoopt_relay_receive(), which gets all packets but plain ones
 */
rx_handler_result_t topoopt_fast_receive(struct sk_buff **pskb)
{
	const struct topoopt_table *table;
	const struct topoopt_port *port;
	struct sk_buff *skb = *pskb;

	port = rcu_dereference(skb->dev->rx_handler_data);
	table = rcu_dereference(port->tdev->table);
	if (unlikely(skb->pkt_type != PACKET_HOST || !table ||
		     !netif_running(port->tdev->dev) || skb_shared(skb) ||
		     skb->cloned || skb_is_gso(skb) ||
		     trace_topoopt_relay_enabled()))
		return topoopt_relay_receive(pskb);

	if (likely(skb->protocol == htons(ETH_P_IP)) &&
	    likely(topoopt_fast_relay(port, table, skb, false)))
		return RX_HANDLER_CONSUMED;
	if (skb->protocol == htons(ETH_P_IPV6) &&
	    likely(topoopt_fast_relay(port, table, skb, true)))
		return RX_HANDLER_CONSUMED;
	return topoopt_relay_receive(pskb);
}
