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
static __always_inline bool topoopt_fast_plain4(const struct sk_buff *skb,
						unsigned int transport)
{
	const struct iphdr *ip = (const struct iphdr *)skb->data;

	return skb_headlen(skb) >= sizeof(*ip) + transport &&
	       *(const u8 *)ip == 0x45 && ip->ttl > 1 &&
	       ntohs(ip->tot_len) == skb->len &&
	       !topoopt_flow_scoped4(ip->daddr) &&
	       !topoopt_flow_scoped4(ip->saddr) &&
	       !ip_fast_csum(ip, 5);
}

static __always_inline bool topoopt_fast_plain6(const struct sk_buff *skb,
						unsigned int transport)
{
	const struct ipv6hdr *ip = (const struct ipv6hdr *)skb->data;

	return skb_headlen(skb) >= sizeof(*ip) + transport &&
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
					     struct sk_buff *skb, u32 bytes)
{
	struct net_device *dev = rcu_dereference(out->tx);
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
 * What is accounted of a packet whose transport header is there.
 * Return: 0 when topoopt_flow_class() has to look for that.
 */
static __always_inline u64 topoopt_fast_ports(const struct topoopt_port *in,
					      const struct topoopt_port *out,
					      const struct sk_buff *skb, bool v6)
{
	const struct ipv6hdr *ip6 = (const struct ipv6hdr *)skb->data;
	const struct iphdr *ip4 = (const struct iphdr *)skb->data;
	const struct udphdr *udp = v6 ? (const void *)(ip6 + 1) :
					(const void *)(ip4 + 1);
	u8 proto = v6 ? ip6->nexthdr : ip4->protocol;

	if (unlikely(v6 ? ipv6_ext_hdr(proto) : ip_is_fragment(ip4)))
		return 0;
	if (likely(proto == IPPROTO_UDP && udp->dest == htons(TOPOOPT_FLOW_ROCE_PORT)))
		return topoopt_account_ports(in->ifindex, out->ifindex,
					     TOPOOPT_TRAFFIC_CLASS_ROCE);
	if (proto == IPPROTO_TCP)
		return topoopt_account_ports(in->ifindex, out->ifindex,
					     TOPOOPT_TRAFFIC_CLASS_TCP);
	return topoopt_account_ports(in->ifindex, out->ifindex,
				     TOPOOPT_TRAFFIC_CLASS_OTHER);
}

/*
 * The last source that was looked up, of IPv4 and of IPv6: packets come in
 * trains.
 */
struct topoopt_fast_source {
	u64 table;	/* id */
	u64 key[2];
	u32 server;
};

static DEFINE_PER_CPU(struct topoopt_fast_source, topoopt_fast_sources[2]);

static noinline u32 topoopt_fast_look_up(const struct topoopt_table *table,
					 const struct sk_buff *skb, bool v6)
{
	const struct ipv6hdr *ip6 = (const struct ipv6hdr *)skb->data;
	const struct iphdr *ip4 = (const struct iphdr *)skb->data;
	const struct topoopt_slot *slot;

	slot = v6 ? topoopt_fast_lookup6(table, &ip6->saddr) :
		    topoopt_fast_lookup4(table, ip4->saddr);
	if (likely(slot->target))
		return slot->server;
	return v6 ? topoopt_table_server6(table, &ip6->saddr) :
		    topoopt_table_server4(table, ip4->saddr);
}

/* The server that a packet comes from. */
static __always_inline u32 topoopt_fast_server(const struct topoopt_table *table,
					       const struct sk_buff *skb, bool v6)
{
	const struct ipv6hdr *ip6 = (const struct ipv6hdr *)skb->data;
	const struct iphdr *ip4 = (const struct iphdr *)skb->data;
	struct topoopt_fast_source *last = this_cpu_ptr(&topoopt_fast_sources[v6]);
	u64 key0 = v6 ? topoopt_tuple_half(&ip6->saddr, 0) :
			(__force u32)ip4->saddr;
	u64 key1 = v6 ? topoopt_tuple_half(&ip6->saddr, 1) : 0;

	if (unlikely(last->table != table->id || last->key[0] != key0 ||
		     (v6 && last->key[1] != key1))) {
		last->server = topoopt_fast_look_up(table, skb, v6);
		last->table = table->id;
		last->key[0] = key0;
		last->key[1] = key1;
	}
	return last->server;
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
	u32 bytes;
	int err;

	/* To count it, ports have to be there. */
	if (unlikely(!(v6 ? topoopt_fast_plain6(skb, account ? sizeof(struct udphdr) : 0) :
			    topoopt_fast_plain4(skb, account ? sizeof(struct udphdr) : 0))))
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

	if (account) {
		ports = topoopt_fast_ports(in, out, skb, v6);
		if (unlikely(!ports))
			return false;
		pair = topoopt_account_pair(topoopt_fast_server(table, skb, v6),
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

/* Two of them, so that what counting takes costs nothing where nobody counts. */
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
 * @pskb: see topoopt_relay_receive(), which gets all packets but plain ones
 */
rx_handler_result_t topoopt_fast_receive(struct sk_buff **pskb)
{
	return topoopt_account_enabled() ? topoopt_fast_account(pskb) :
					   topoopt_fast_quiet(pskb);
}
