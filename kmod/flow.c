// SPDX-License-Identifier: GPL-2.0
/* Addresses, protocol and ports of a packet, and its flow hash. */

#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include "flow.h"
#include "table.h"

static bool topoopt_flow_parse4(struct sk_buff *skb, struct topoopt_flow *flow)
{
	const struct iphdr *iph;

	if (unlikely(!pskb_may_pull(skb, flow->nhoff + sizeof(*iph))))
		return false;
	iph = topoopt_flow_ip4(skb, flow);
	if (unlikely(iph->version != 4 || iph->ihl < 5))
		return false;

	flow->ipv6 = false;
	flow->hlen = iph->ihl * 4;
	flow->proto = iph->protocol;
	flow->len = ntohs(iph->tot_len);
	/* A GRO aggregate above 64 KiB has no length of its own. */
	if (unlikely(!flow->len && skb_is_gso(skb)))
		flow->len = skb->len - flow->nhoff;
	return true;
}

static bool topoopt_flow_parse6(struct sk_buff *skb, struct topoopt_flow *flow)
{
	const struct ipv6hdr *iph;

	if (unlikely(!pskb_may_pull(skb, flow->nhoff + sizeof(*iph))))
		return false;
	iph = topoopt_flow_ip6(skb, flow);
	if (unlikely(iph->version != 6))
		return false;

	flow->ipv6 = true;
	flow->hlen = sizeof(*iph);
	flow->proto = iph->nexthdr;
	flow->len = sizeof(*iph) + ntohs(iph->payload_len);
	if (unlikely(!iph->payload_len && skb_is_gso(skb)))
		flow->len = skb->len - flow->nhoff;
	return true;
}

bool topoopt_flow_parse(struct sk_buff *skb, __be16 protocol,
			struct topoopt_flow *flow)
{
	flow->nhoff = 0;
	flow->transport = false;
	if (unlikely(eth_type_vlan(protocol))) {
		if (!pskb_may_pull(skb, VLAN_HLEN))
			return false;
		protocol = ((struct vlan_hdr *)skb->data)->h_vlan_encapsulated_proto;
		flow->nhoff = VLAN_HLEN;
	}

	switch (protocol) {
	case htons(ETH_P_IP):
		return topoopt_flow_parse4(skb, flow);
	case htons(ETH_P_IPV6):
		return topoopt_flow_parse6(skb, flow);
	default:
		return false;
	}
}

void topoopt_flow_transport(const struct sk_buff *skb, struct topoopt_flow *flow)
{
	const struct topoopt_flow_bth *bth;
	struct topoopt_flow_bth bth_copy;
	bool fragment = false;
	const __be16 *ports;
	__be16 copy[2];

	if (flow->transport)
		return;
	flow->transport = true;
	flow->thoff = flow->nhoff + flow->hlen;
	flow->sport = 0;
	flow->dport = 0;
	flow->qp = 0;

	if (!flow->ipv6) {
		fragment = ip_is_fragment(topoopt_flow_ip4(skb, flow));
	} else if (unlikely(ipv6_ext_hdr(flow->proto))) {
		__be16 frag_off;
		u8 nexthdr = flow->proto;
		int thoff;

		thoff = ipv6_skip_exthdr(skb, flow->thoff, &nexthdr, &frag_off);
		fragment = thoff < 0 || frag_off;
		if (!fragment) {
			flow->thoff = thoff;
			flow->proto = nexthdr;
		}
	}
	if (fragment || (flow->proto != IPPROTO_UDP && flow->proto != IPPROTO_TCP))
		return;

	ports = skb_header_pointer(skb, flow->thoff, sizeof(copy), copy);
	if (!ports)
		return;
	flow->sport = ports[0];
	flow->dport = ports[1];
	if (flow->proto != IPPROTO_UDP ||
	    flow->dport != htons(TOPOOPT_FLOW_ROCE_PORT))
		return;

	bth = skb_header_pointer(skb, flow->thoff + sizeof(struct udphdr),
				 sizeof(bth_copy), &bth_copy);
	if (bth)
		flow->qp = ntohl(bth->qp) & GENMASK(23, 0);
}

bool topoopt_flow_lookup(const struct topoopt_table *table,
			 const struct sk_buff *skb,
			 const struct topoopt_flow *flow,
			 struct topoopt_route *route)
{
	const struct ipv6hdr *ip6;
	const struct iphdr *ip4;

	if (likely(!flow->ipv6)) {
		ip4 = topoopt_flow_ip4(skb, flow);
		return topoopt_table_lookup4(table, ip4->daddr, ip4->saddr, route);
	}
	ip6 = topoopt_flow_ip6(skb, flow);
	return topoopt_table_lookup6(table, &ip6->daddr, &ip6->saddr, route);
}

u32 topoopt_flow_source(const struct topoopt_table *table,
			const struct sk_buff *skb,
			const struct topoopt_flow *flow)
{
	if (likely(!flow->ipv6))
		return topoopt_table_server4(table, topoopt_flow_ip4(skb, flow)->saddr);
	return topoopt_table_server6(table, &topoopt_flow_ip6(skb, flow)->saddr);
}

bool topoopt_flow_scoped(const struct sk_buff *skb,
			 const struct topoopt_flow *flow)
{
	if (likely(!flow->ipv6)) {
		const struct iphdr *iph = topoopt_flow_ip4(skb, flow);

		return topoopt_flow_scoped4(iph->daddr) ||
		       topoopt_flow_scoped4(iph->saddr);
	} else {
		const struct ipv6hdr *iph = topoopt_flow_ip6(skb, flow);

		return topoopt_flow_scoped6(&iph->daddr) ||
		       topoopt_flow_scoped6(&iph->saddr);
	}
}

/*
 * Router alert (RFC 2113) and source routes are for the stack. Record route
 * and timestamp pass unmodified, as through a switch.
 */
static bool topoopt_flow_alert4(struct sk_buff *skb,
				const struct topoopt_flow *flow)
{
	unsigned int pos, end = flow->nhoff + flow->hlen;

	if (!pskb_may_pull(skb, end))
		return false;
	for (pos = flow->nhoff + sizeof(struct iphdr); pos < end;) {
		const u8 *option = skb->data + pos;

		switch (option[0]) {
		case IPOPT_END:
			return false;
		case IPOPT_NOOP:
			pos++;
			continue;
		case IPOPT_RA:
		case IPOPT_LSRR:
		case IPOPT_SSRR:
			return true;
		}
		/* The stack tells the sender what is wrong with its options. */
		if (pos + 1 >= end || option[1] < 2 || pos + option[1] > end)
			return true;
		pos += option[1];
	}
	return false;
}

/*
 * Router alert (RFC 2711), and jumbograms other than the aggregates that GRO
 * makes, are for the stack.
 */
static bool topoopt_flow_alert6(struct sk_buff *skb,
				const struct topoopt_flow *flow)
{
	unsigned int pos = flow->nhoff + flow->hlen, end;
	unsigned int limit = flow->nhoff + flow->len;

	/* The stack drops options that end beyond the packet. */
	if (pos + 8 > limit || !pskb_may_pull(skb, pos + 8))
		return true;
	end = pos + (skb->data[pos + 1] + 1) * 8;
	if (end > limit || !pskb_may_pull(skb, end))
		return true;
	for (pos += 2; pos < end;) {
		const u8 *option = skb->data + pos;

		if (option[0] == IPV6_TLV_PAD1) {
			pos++;
			continue;
		}
		if (option[0] == IPV6_TLV_ROUTERALERT ||
		    (option[0] == IPV6_TLV_JUMBO && !skb_is_gso(skb)) ||
		    pos + 1 >= end || pos + 2 + option[1] > end)
			return true;
		pos += 2 + option[1];
	}
	return false;
}

bool topoopt_flow_alert(struct sk_buff *skb, const struct topoopt_flow *flow)
{
	if (likely(!flow->ipv6))
		return unlikely(flow->hlen > sizeof(struct iphdr)) &&
		       topoopt_flow_alert4(skb, flow);
	/* flow->proto is past the extension headers once these were walked. */
	return unlikely(topoopt_flow_ip6(skb, flow)->nexthdr == NEXTHDR_HOP) &&
	       topoopt_flow_alert6(skb, flow);
}

/* As ip_rcv_core() and ip6_rcv_core() do. */
enum skb_drop_reason topoopt_flow_validate(struct sk_buff *skb,
					   const struct topoopt_flow *flow)
{
	if (unlikely(flow->len < flow->hlen ||
		     flow->len > skb->len - flow->nhoff))
		return SKB_DROP_REASON_PKT_TOO_SMALL;
	if (likely(!flow->ipv6)) {
		if (!pskb_may_pull(skb, flow->nhoff + flow->hlen))
			return SKB_DROP_REASON_PKT_TOO_SMALL;
		if (ip_fast_csum(topoopt_flow_ip4(skb, flow), flow->hlen / 4))
			return SKB_DROP_REASON_IP_CSUM;
	}
	return pskb_trim_rcsum(skb, flow->nhoff + flow->len) ?
	       SKB_DROP_REASON_NOMEM : SKB_NOT_DROPPED_YET;
}

u32 topoopt_flow_hash(const struct sk_buff *skb, struct topoopt_flow *flow,
		      u32 seed)
{
	__be16 port[2];
	u64 hash;
	u32 ports;

	topoopt_flow_transport(skb, flow);
	if (likely(!flow->ipv6))
		hash = topoopt_flow_stir4(seed, topoopt_flow_ip4(skb, flow));
	else
		hash = topoopt_flow_stir6(seed, topoopt_flow_ip6(skb, flow));
	port[0] = flow->sport;
	port[1] = flow->dport;
	memcpy(&ports, port, sizeof(ports));
	return topoopt_flow_finish(hash, flow->proto, ports, flow->qp);
}

u32 topoopt_flow_jumbo(const struct sk_buff *skb, const struct topoopt_flow *flow)
{
	const struct ipv6hdr *iph;

	if (!flow->ipv6)
		return 0;
	iph = topoopt_flow_ip6(skb, flow);
	return !iph->payload_len && iph->nexthdr == NEXTHDR_HOP ? 8 : 0;
}

u32 topoopt_flow_wire(const struct sk_buff *skb, struct topoopt_flow *flow,
		      u32 *bytes)
{
	unsigned int link = ETH_HLEN + flow->nhoff;
	unsigned int header, segments;

	if (skb_vlan_tag_present(skb))
		link += VLAN_HLEN;
	*bytes = link + min(flow->len, skb->len - flow->nhoff);
	if (likely(!skb_is_gso(skb)))
		return 1;

	topoopt_flow_transport(skb, flow);
	header = flow->thoff - flow->nhoff;
	if (flow->proto == IPPROTO_TCP) {
		const struct tcphdr *th;
		struct tcphdr copy;

		th = skb_header_pointer(skb, flow->thoff, sizeof(copy), &copy);
		if (th)
			header += __tcp_hdrlen(th);
	} else if (flow->proto == IPPROTO_UDP) {
		header += sizeof(struct udphdr);
	}
	/* Not every source of GSO packets counts its segments. */
	segments = skb_shinfo(skb)->gso_segs ?:
		   DIV_ROUND_UP(flow->len - min(flow->len, header),
				skb_shinfo(skb)->gso_size);
	*bytes += (segments - 1) * (link + header);
	*bytes -= segments * topoopt_flow_jumbo(skb, flow);
	return segments;
}

u8 topoopt_flow_class(const struct sk_buff *skb, struct topoopt_flow *flow)
{
	topoopt_flow_transport(skb, flow);
	if (flow->proto == IPPROTO_TCP)
		return TOPOOPT_TRAFFIC_CLASS_TCP;
	if (flow->proto == IPPROTO_UDP &&
	    flow->dport == htons(TOPOOPT_FLOW_ROCE_PORT))
		return TOPOOPT_TRAFFIC_CLASS_ROCE;
	return TOPOOPT_TRAFFIC_CLASS_OTHER;
}
