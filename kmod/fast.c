// SPDX-License-Identifier: GPL-2.0
/*
 * The fast path, for nearly all packets of a fabric: an unfragmented IP packet that
 * nobody else holds, a route that depends on the destination alone, a port that
 * works. It does not touch the packet before it knows all of this, so that
 * relay.c gets every other packet as it came.
 *
 * Each step ends in a tail call of the next one: only the last one, which queues the
 * packet, saves registers.
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
	/* data_race(): as good as READ_ONCE() for a u16, in fewer instructions. */
	return skb->head + dev->hard_header_len + data_race(dev->needed_headroom) <= skb->data &&
	       topoopt_fastpath_works(dev) && skb->len <= READ_ONCE(dev->mtu);
}

/*
 * Changes what one hop changes in a packet, as topoopt_output_hop() does.
 * Return: the bytes of its frame.
 */
static __always_inline u32 topoopt_fast_hop(struct sk_buff *skb, bool v6)
{
	struct ipv6hdr *ip6 = (struct ipv6hdr *)skb->data;
	struct iphdr *ip4 = (struct iphdr *)skb->data;
	u32 bytes = ETH_HLEN + skb->len;

	skb_forward_csum(skb);
	if (unlikely(skb_vlan_tag_present(skb))) {
		skb->priority = skb_vlan_tag_get_prio(skb);
		bytes += VLAN_HLEN;
	} else {
		skb->priority = (v6 ? ipv6_get_dsfield(ip6) : ipv4_get_dsfield(ip4)) >> 5;
	}
	skb_clear_tstamp(skb);
	if (v6)
		ip6->hop_limit--;
	else
		topoopt_fastpath_hop4(ip4);
	return bytes;
}

/* Counts a packet that the queue dropped; out of line, off the path of all others. */
static noinline void topoopt_fast_refused(const struct topoopt_port *out)
{
	topoopt_stats_add(out->stats, TOPOOPT_DROP_TX, 1);
}

/* Sends a packet to its first choice of next hop, if the port works. */
static __always_inline rx_handler_result_t
topoopt_fast_send(struct sk_buff **pskb, const struct topoopt_port *in,
		  const struct topoopt_nexthop *nexthop, u64 pair, bool v6, bool account)
{
	const struct topoopt_dev *tdev = in->tdev;
	const struct topoopt_port *out;
	struct sk_buff *skb = *pskb;
	u64 ports = 0;
	struct net_device *dev;
	u32 class, bytes;
	int err;

	out = rcu_dereference(tdev->ports[nexthop->slot]);
	if (unlikely(!out || READ_ONCE(out->relay_ifindex) != nexthop->ifindex))
		goto other;
	dev = rcu_dereference(out->tx);
	if (unlikely(!topoopt_fast_takes(dev, skb)))
		goto other;
	if (account) {
		/* The UDP header is there, see topoopt_fast_relay(). */
		if (unlikely(!topoopt_fastpath_class(skb->data, TOPOOPT_FAST_UDP(v6), v6,
						     &class)))
			goto other;
		ports = topoopt_account_ports(in->ifindex, out->ifindex, class);
	}

	bytes = topoopt_fast_hop(skb, v6);
	topoopt_stats_add_bytes(in->stats, TOPOOPT_RELAY_RX_PACKETS, 1, bytes);
	err = topoopt_output_queue(skb, dev, nexthop);
	if (unlikely(err)) {
		topoopt_fast_refused(out);
		return RX_HANDLER_CONSUMED;
	}
	topoopt_stats_add_bytes(out->stats, TOPOOPT_RELAY_TX_PACKETS, 1, bytes);
	if (account)
		topoopt_account_run(tdev, ports, pair, 1, bytes);
	return RX_HANDLER_CONSUMED;

other:
	return topoopt_relay_receive(pskb);
}

static noinline rx_handler_result_t
topoopt_fast_quiet4(struct sk_buff **pskb, const struct topoopt_port *in,
		    const struct topoopt_nexthop *nexthop)
{
	return topoopt_fast_send(pskb, in, nexthop, 0, false, false);
}

static noinline rx_handler_result_t
topoopt_fast_quiet6(struct sk_buff **pskb, const struct topoopt_port *in,
		    const struct topoopt_nexthop *nexthop)
{
	return topoopt_fast_send(pskb, in, nexthop, 0, true, false);
}

static noinline rx_handler_result_t
topoopt_fast_account4(struct sk_buff **pskb, const struct topoopt_port *in,
		      const struct topoopt_nexthop *nexthop, u64 pair)
{
	return topoopt_fast_send(pskb, in, nexthop, pair, false, true);
}

static noinline rx_handler_result_t
topoopt_fast_account6(struct sk_buff **pskb, const struct topoopt_port *in,
		      const struct topoopt_nexthop *nexthop, u64 pair)
{
	return topoopt_fast_send(pskb, in, nexthop, pair, true, true);
}

/* Looks up the source, which is not that of the last packet. */
static noinline rx_handler_result_t
topoopt_fast_source(struct sk_buff **pskb, const struct topoopt_port *in,
		    const struct topoopt_nexthop *nexthop, const struct topoopt_slot *slot,
		    bool v6)
{
	u32 source = topoopt_fastpath_source_find(rcu_dereference(in->tdev->table),
						  (*pskb)->data, v6);
	u64 pair = topoopt_account_pair(source, slot->server);

	return v6 ? topoopt_fast_account6(pskb, in, nexthop, pair) :
		    topoopt_fast_account4(pskb, in, nexthop, pair);
}

static __always_inline rx_handler_result_t
topoopt_fast_nexthop(struct sk_buff **pskb, const struct topoopt_port *in,
		     const struct topoopt_nexthop *nexthop, const struct topoopt_slot *slot,
		     bool v6, bool account)
{
	u32 source;
	u64 pair;

	if (!account)
		return v6 ? topoopt_fast_quiet6(pskb, in, nexthop) :
			    topoopt_fast_quiet4(pskb, in, nexthop);
	/* To carry the table here costs more. A newer one is as good. */
	if (unlikely(!topoopt_fastpath_source_last(rcu_dereference(in->tdev->table),
						   (*pskb)->data, v6, &source)))
		return topoopt_fast_source(pskb, in, nexthop, slot, v6);
	pair = topoopt_account_pair(source, slot->server);
	return v6 ? topoopt_fast_account6(pskb, in, nexthop, pair) :
		    topoopt_fast_account4(pskb, in, nexthop, pair);
}

/* Chooses one of several next hops, unless an alternate takes the packet. */
static __always_inline rx_handler_result_t
topoopt_fast_choose(struct sk_buff **pskb, const struct topoopt_port *in,
		    const struct topoopt_group *group, const struct topoopt_slot *slot,
		    bool v6, bool account)
{
	const struct topoopt_nexthop *nexthop;
	const struct sk_buff *skb = *pskb;

	if (unlikely(!topoopt_fastpath_choose(in, group, skb->data, skb_headlen(skb), v6,
					      &nexthop)))
		return topoopt_relay_receive(pskb);
	return topoopt_fast_nexthop(pskb, in, nexthop, slot, v6, account);
}

static noinline rx_handler_result_t
topoopt_fast_choose4(struct sk_buff **pskb, const struct topoopt_port *in,
		     const struct topoopt_group *group, const struct topoopt_slot *slot,
		     bool account)
{
	return topoopt_fast_choose(pskb, in, group, slot, false, account);
}

static noinline rx_handler_result_t
topoopt_fast_choose6(struct sk_buff **pskb, const struct topoopt_port *in,
		     const struct topoopt_group *group, const struct topoopt_slot *slot,
		     bool account)
{
	return topoopt_fast_choose(pskb, in, group, slot, true, account);
}

static __always_inline rx_handler_result_t
topoopt_fast_relay(struct sk_buff **pskb, const struct topoopt_port *in,
		   const struct topoopt_table *table, bool v6, bool account)
{
	unsigned int transport = account ? sizeof(struct udphdr) : 0;
	const struct sk_buff *skb = *pskb;
	const struct topoopt_group *group;
	const struct topoopt_slot *slot;

	if (unlikely(!(v6 ? topoopt_fast_valid6(skb, transport) :
			    topoopt_fast_valid4(skb, transport))))
		return topoopt_relay_receive(pskb);
	slot = v6 ? topoopt_fastpath_lookup6(table, &((struct ipv6hdr *)skb->data)->daddr) :
		    topoopt_fastpath_lookup4(table, ((struct iphdr *)skb->data)->daddr);
	if (unlikely(!topoopt_fastpath_group(slot, &group)))
		return topoopt_relay_receive(pskb);
	if (likely(group->direct))
		return topoopt_fast_nexthop(pskb, in, group->nexthop, slot, v6, account);
	return v6 ? topoopt_fast_choose6(pskb, in, group, slot, account) :
		    topoopt_fast_choose4(pskb, in, group, slot, account);
}

/* What is not IPv4. */
static noinline rx_handler_result_t
topoopt_fast_relay6(struct sk_buff **pskb, const struct topoopt_port *in,
		    const struct topoopt_table *table, bool account)
{
	if ((*pskb)->protocol != htons(ETH_P_IPV6))
		return topoopt_relay_receive(pskb);
	return topoopt_fast_relay(pskb, in, table, true, account);
}

static __always_inline rx_handler_result_t
topoopt_fast_pass(struct sk_buff **pskb, bool account)
{
	const struct topoopt_table *table;
	const struct topoopt_port *port;
	struct sk_buff *skb = *pskb;

	port = rcu_dereference(skb->dev->rx_handler_data);
	table = rcu_dereference(port->tdev->table);
	if (unlikely(skb->pkt_type != PACKET_HOST || !table || skb_shared(skb) ||
		     skb->cloned || skb->destructor || skb_is_gso(skb) ||
		     trace_topoopt_relay_enabled()))
		return topoopt_relay_receive(pskb);
	if (unlikely(skb->protocol != htons(ETH_P_IP)))
		return topoopt_fast_relay6(pskb, port, table, account);
	return topoopt_fast_relay(pskb, port, table, false, account);
}

/* A variant of its own, so that accounting costs nothing where nobody counts. */
static noinline rx_handler_result_t topoopt_fast_receive_account(struct sk_buff **pskb)
{
	return topoopt_fast_pass(pskb, true);
}

/**
 * topoopt_fast_receive() - rx_handler of a port
 * @pskb: see topoopt_relay_receive(), which gets what the fast path does not take
 */
rx_handler_result_t topoopt_fast_receive(struct sk_buff **pskb)
{
	return topoopt_account_enabled() ? topoopt_fast_receive_account(pskb) :
					   topoopt_fast_pass(pskb, false);
}
