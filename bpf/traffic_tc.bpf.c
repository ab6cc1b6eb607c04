// SPDX-License-Identifier: GPL-2.0
/*
 * Traffic counters at tc, for where the module's accounting point is not
 * available. Same records as traffic.bpf.c:
 *
 *	traffic_egress	on what a port transmits through: packets relayed (the
 *			packet still names its ingress interface) or originated
 *	traffic_ingress	on a port: packets that end here. Those for other
 *			servers, and for another port of this one, are counted
 *			where they leave.
 *
 * The map of addresses comes from the plan.
 */

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/pkt_cls.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <stdbool.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "traffic_count.bpf.h"

#define ROCE_PORT 4791
#define IP_OFFSET_MASK 0x1fff

/* enum topoopt_traffic_class */
enum { CLASS_ROCE, CLASS_TCP, CLASS_OTHER };

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);	/* set by the loader */
	__type(key, struct traffic_address);
	__type(value, struct traffic_owner);
} traffic_servers_by_address SEC(".maps");

const volatile __u32 traffic_self;	/* index of this server */

/*
 * What a packet is counted under, the bytes that each segment repeats, and those
 * that no segment has: see topoopt_flow_jumbo().
 */
struct packet {
	__u32 src, dst;
	__u32 port;	/* see struct traffic_owner */
	__u32 class;
	__u32 headers;
	__u32 jumbo;
};

static __always_inline struct traffic_owner owner_of(const struct traffic_address *address)
{
	const struct traffic_owner *owner;

	owner = bpf_map_lookup_elem(&traffic_servers_by_address, address);
	return owner ? *owner : (struct traffic_owner){ .server = TRAFFIC_SERVER_NONE };
}

static __always_inline struct traffic_owner owner_of_v4(__be32 address)
{
	struct traffic_address mapped = {
		.word = { 0, 0, bpf_htonl(0xffff), address }
	};

	return owner_of(&mapped);
}

static __always_inline void parse_l4(struct __sk_buff *skb, __u32 offset,
				     __u8 protocol, struct packet *packet)
{
	struct tcphdr tcp;
	struct udphdr udp;

	packet->headers = offset;
	if (protocol == IPPROTO_TCP) {
		packet->class = CLASS_TCP;
		if (!bpf_skb_load_bytes(skb, offset, &tcp, sizeof(tcp)))
			packet->headers += tcp.doff * 4;
	} else if (protocol == IPPROTO_UDP) {
		packet->headers += sizeof(udp);
		if (!bpf_skb_load_bytes(skb, offset, &udp, sizeof(udp)) &&
		    udp.dest == bpf_htons(ROCE_PORT))
			packet->class = CLASS_ROCE;
	}
}

static __always_inline void parse(struct __sk_buff *skb, struct packet *packet)
{
	__u32 offset = sizeof(struct ethhdr);
	struct traffic_address address;
	struct traffic_owner dst;
	struct ipv6hdr ip6;
	struct iphdr ip;
	__be16 protocol;

	packet->src = TRAFFIC_SERVER_NONE;
	packet->dst = TRAFFIC_SERVER_NONE;
	packet->port = 0;
	packet->class = CLASS_OTHER;
	packet->headers = offset;
	packet->jumbo = 0;
	if (bpf_skb_load_bytes(skb, offsetof(struct ethhdr, h_proto), &protocol,
			       sizeof(protocol)))
		return;
	if (protocol == bpf_htons(ETH_P_8021Q)) {
		if (bpf_skb_load_bytes(skb, offset + 2, &protocol,
				       sizeof(protocol)))
			return;
		offset += 4;
	}
	if (protocol == bpf_htons(ETH_P_IP)) {
		if (bpf_skb_load_bytes(skb, offset, &ip, sizeof(ip)))
			return;
		packet->src = owner_of_v4(ip.saddr).server;
		dst = owner_of_v4(ip.daddr);
		packet->dst = dst.server;
		packet->port = dst.port;
		if (!(ip.frag_off & bpf_htons(IP_OFFSET_MASK)))
			parse_l4(skb, offset + ip.ihl * 4, ip.protocol, packet);
	} else if (protocol == bpf_htons(ETH_P_IPV6)) {
		if (bpf_skb_load_bytes(skb, offset, &ip6, sizeof(ip6)))
			return;
		__builtin_memcpy(&address, &ip6.saddr, sizeof(address));
		packet->src = owner_of(&address).server;
		__builtin_memcpy(&address, &ip6.daddr, sizeof(address));
		dst = owner_of(&address);
		packet->dst = dst.server;
		packet->port = dst.port;
		offset += sizeof(ip6);
		if (skb->gso_size && !ip6.payload_len && ip6.nexthdr == IPPROTO_HOPOPTS &&
		    !bpf_skb_load_bytes(skb, offset, &ip6.nexthdr, sizeof(ip6.nexthdr))) {
			packet->jumbo = 8;
			offset += packet->jumbo;
		}
		parse_l4(skb, offset, ip6.nexthdr, packet);
	} else if (protocol == bpf_htons(ETH_P_CFM)) {
		packet->class = TRAFFIC_CLASS_CHECK;
	}
}

static __always_inline void count(struct __sk_buff *skb, __u32 in, __u32 out,
				  const struct packet *packet)
{
	struct traffic_cell cell = {
		.key = traffic_key(in, out, packet->src, packet->dst,
				   packet->class),
	};
	__u32 headers = packet->headers, len = skb->len, segments = 1;

	/* A tag that the NIC strips and inserts is on the wire all the same. */
	if (skb->vlan_present) {
		headers += 4;
		len += 4;
	}
	if (skb->gso_size && len > headers)
		segments = (len - headers + skb->gso_size - 1) / skb->gso_size;
	cell.value.packets = segments;
	cell.value.bytes = len + (__u64)(segments - 1) * headers -
			   (__u64)segments * packet->jumbo;
	traffic_count(&cell);
}

SEC("tc")
int traffic_egress(struct __sk_buff *skb)
{
	struct packet packet;

	parse(skb, &packet);
	count(skb, skb->ingress_ifindex, skb->ifindex, &packet);
	return TC_ACT_UNSPEC;
}

SEC("tc")
int traffic_ingress(struct __sk_buff *skb)
{
	struct packet packet;

	parse(skb, &packet);
	if (packet.class == CLASS_ROCE && packet.port && packet.port != skb->ifindex)
		return TC_ACT_UNSPEC;
	if (packet.dst == traffic_self || packet.dst == TRAFFIC_SERVER_NONE)
		count(skb, skb->ifindex, 0, &packet);
	return TC_ACT_UNSPEC;
}

char LICENSE[] SEC("license") = "GPL";
