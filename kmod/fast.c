// SPDX-License-Identifier: GPL-2.0
/*
 * The fast path, for nearly all packets of a fabric: a complete IP packet that
 * nobody else holds, a route that depends on the destination alone, a port that
 * works. It does not touch the packet before it knows all of this, so that
 * relay.c gets every other packet as it came.
 */

#include <net/dsfield.h>
#include <net/ip.h>

#include "account.h"
#include "fastpath.h"
#include "flow.h"
#include "output.h"

/* Up to the end of a UDP header. */
#define TOPOOPT_FAST_UDP(v6)						\
	((int)(((v6) ? sizeof(struct ipv6hdr) : sizeof(struct iphdr)) +	\
	       sizeof(struct udphdr)))

/* @transport: bytes after the header that must be linear, too. */
static __always_inline bool topoopt_fast_valid4(const struct sk_buff *skb,
						unsigned int transport)
{
	const struct iphdr *ip = (const struct iphdr *)skb->data;

	return skb_headlen(skb) >= sizeof(*ip) + transport &&
	       *(const u8 *)ip == 0x45 && topoopt_fastpath_valid4(ip, skb->len);
}

static __always_inline bool topoopt_fast_valid6(const struct sk_buff *skb,
						unsigned int transport)
{
	const struct ipv6hdr *ip = (const struct ipv6hdr *)skb->data;

	return skb_headlen(skb) >= sizeof(*ip) + transport &&
	       ip->version == 6 && topoopt_fastpath_valid6(ip, skb->len);
}

/* Whether a device works and takes the packet as it is. */
static __always_inline bool topoopt_fast_takes(const struct net_device *dev,
					       const struct sk_buff *skb)
{
	return topoopt_fastpath_works(dev) && skb->len <= READ_ONCE(dev->mtu) &&
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
		topoopt_fastpath_hop4(ip4);
	skb_clear_tstamp(skb);
	if (unlikely(skb->destructor))
		skb_orphan(skb);
}

static __always_inline u32 topoopt_fast_bytes(const struct sk_buff *skb)
{
	return ETH_HLEN + (skb_vlan_tag_present(skb) ? VLAN_HLEN : 0) + skb->len;
}

static __always_inline int topoopt_fast_send(const struct topoopt_port *in,
					     const struct topoopt_port *out,
					     const struct topoopt_nexthop *nexthop,
					     struct sk_buff *skb, u32 bytes)
{
	struct net_device *dev = rcu_dereference(out->tx);
	int err;

	topoopt_stats_add_bytes(in->stats, TOPOOPT_RELAY_RX_PACKETS, 1, bytes);
	err = topoopt_output_queue(skb, dev, nexthop);
	if (unlikely(err))
		topoopt_stats_add(out->stats, TOPOOPT_DROP_TX, 1);
	else
		topoopt_stats_add_bytes(out->stats, TOPOOPT_RELAY_TX_PACKETS, 1,
					bytes);
	return err;
}

/* Return: false when the packet is left as it came. */
static __always_inline bool topoopt_fast_relay(const struct topoopt_port *in,
					       const struct topoopt_table *table,
					       struct sk_buff *skb, bool v6,
					       bool account)
{
	const struct topoopt_nexthop *nexthop;
	const struct topoopt_slot *slot;
	const struct topoopt_port *out;
	u64 ports = 0, pair = 0;
	u32 class, bytes;
	int err;

	if (unlikely(!(v6 ? topoopt_fast_valid6(skb, account ? sizeof(struct udphdr) : 0) :
			    topoopt_fast_valid4(skb, account ? sizeof(struct udphdr) : 0))))
		return false;
	slot = v6 ? topoopt_fastpath_lookup6(table, &((struct ipv6hdr *)skb->data)->daddr) :
		    topoopt_fastpath_lookup4(table, ((struct iphdr *)skb->data)->daddr);
	/* Unicast, which is 0, and for all sources. */
	if (unlikely((slot->target & TOPOOPT_TARGET_FLAGS) != TOPOOPT_TARGET_ALONE))
		return false;
	if (unlikely(!topoopt_fastpath_nexthop(in,
					       (void *)(slot->target & ~TOPOOPT_TARGET_FLAGS),
					       skb->data, skb_headlen(skb), v6, &nexthop)))
		return false;
	out = rcu_dereference(in->tdev->ports[nexthop->slot]);
	if (unlikely(!out || out->ifindex != nexthop->ifindex))
		return false;
	if (unlikely(!topoopt_fast_takes(rcu_dereference(out->tx), skb)))
		return false;

	if (account) {
		/* The UDP header is there, see above. */
		if (unlikely(!topoopt_fastpath_class(skb->data, TOPOOPT_FAST_UDP(v6), v6,
						     &class)))
			return false;
		ports = topoopt_account_ports(in->ifindex, out->ifindex, class);
		pair = topoopt_account_pair(topoopt_fastpath_source(table, skb->data, v6),
					    slot->server);
	}
	topoopt_fast_hop(skb, v6);
	bytes = topoopt_fast_bytes(skb);
	err = topoopt_fast_send(in, out, nexthop, skb, bytes);
	if (account && likely(!err))
		topoopt_account_run(in->tdev, ports, pair, 1, bytes);
	return true;
}

static __always_inline rx_handler_result_t
topoopt_fast_pass(struct sk_buff **pskb, bool account)
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
	    likely(topoopt_fast_relay(port, table, skb, false, account)))
		return RX_HANDLER_CONSUMED;
	if (skb->protocol == htons(ETH_P_IPV6) &&
	    likely(topoopt_fast_relay(port, table, skb, true, account)))
		return RX_HANDLER_CONSUMED;
	return topoopt_relay_receive(pskb);
}

/* Two variants, so that accounting costs nothing where nobody counts. */
static noinline rx_handler_result_t topoopt_fast_account(struct sk_buff **pskb)
{
	return topoopt_fast_pass(pskb, true);
}

static noinline rx_handler_result_t topoopt_fast_quiet(struct sk_buff **pskb)
{
	return topoopt_fast_pass(pskb, false);
}

/**
 * topoopt_fast_receive() - rx_handler of a port
 * @pskb: see topoopt_relay_receive(), which gets what the fast path does not take
 */
rx_handler_result_t topoopt_fast_receive(struct sk_buff **pskb)
{
	return topoopt_account_enabled() ? topoopt_fast_account(pskb) :
					   topoopt_fast_quiet(pskb);
}
