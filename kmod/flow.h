/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOPOOPT_FLOW_H
#define TOPOOPT_FLOW_H

#include <linux/etherdevice.h>	/* get_unaligned(); its own header moved */
#include <linux/hash.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>

struct topoopt_route;
struct topoopt_table;

#define TOPOOPT_FLOW_ROCE_PORT	4791

/* InfiniBand base transport header; the queue pair is in 24 bits of the second word. */
struct topoopt_flow_bth {
	__be32 opcode;
	__be32 qp;
	__be32 psn;
};

/**
 * struct topoopt_flow - what the relay knows of a packet
 * @len: length of the IP packet in bytes, as its header says
 * @nhoff: offset of the IP header from skb->data: 0, or VLAN_HLEN after an
 *	in-band VLAN tag
 * @hlen: length of the IP header, of IPv6 the fixed part
 * @proto: protocol of the IP header (IPv6: its next header); transport
 *	protocol once @transport is set
 * @ipv6: IPv6, else IPv4
 * @transport: topoopt_flow_transport() has run, the rest is valid
 * @thoff: offset of the transport header from skb->data
 * @sport: source port of TCP and UDP, else 0; 0 in fragments
 * @dport: destination port, likewise
 * @qp: RoCEv2 destination queue pair, else 0
 */
struct topoopt_flow {
	u32 len;
	u16 nhoff;
	u8 hlen;
	u8 proto;
	bool ipv6;
	bool transport;
	u16 thoff;
	__be16 sport;
	__be16 dport;
	u32 qp;
};

/**
 * topoopt_flow_parse() - find the IP header of a packet
 * @skb: packet, not shared; data at the network header or at an in-band VLAN
 *	tag; may be reallocated
 * @protocol: EtherType of what is at skb->data
 * @flow: filled
 *
 * Return: false when it is no IP packet, or the header is not one.
 */
bool topoopt_flow_parse(struct sk_buff *skb, __be16 protocol,
			struct topoopt_flow *flow);

/* Fills what depends on the transport header; fragments have none. */
void topoopt_flow_transport(const struct sk_buff *skb,
			    struct topoopt_flow *flow);

bool topoopt_flow_lookup(const struct topoopt_table *table,
			 const struct sk_buff *skb,
			 const struct topoopt_flow *flow,
			 struct topoopt_route *route);

/* Index of the server that owns the source, TOPOOPT_SERVER_NONE if none. */
u32 topoopt_flow_source(const struct topoopt_table *table,
			const struct sk_buff *skb,
			const struct topoopt_flow *flow);

/*
 * Multicast, loopback, link-local or unspecified addresses: such a packet
 * never leaves its link, whatever the table says.
 */
static inline bool topoopt_flow_scoped4(__be32 addr)
{
	u32 a = ntohl(addr);

	/* 1/8 to 126/8 have no exception: most fabrics end here. */
	if (likely((u8)(*(const u8 *)&addr - 1) < 126))
		return false;
	/* 0/8, 127/8, 169.254/16, 224/4 and above */
	return a >= 0xe0000000 || a >> 24 == 127 || a < 0x01000000 ||
	       a >> 16 == 0xa9fe;
}

/* ff00::/8, fe80::/10 and, with :: and ::1, all that begins with 64 zeros */
static inline bool topoopt_flow_scoped6(const struct in6_addr *addr)
{
	return addr->s6_addr[0] == 0xff ||
	       (addr->s6_addr32[0] & htonl(0xffc00000)) == htonl(0xfe800000) ||
	       !(addr->s6_addr32[0] | addr->s6_addr32[1]);
}

bool topoopt_flow_scoped(const struct sk_buff *skb,
			 const struct topoopt_flow *flow);

/* Whether IPv4 or IPv6 hop-by-hop options ask routers to process the packet. */
bool topoopt_flow_alert(struct sk_buff *skb, const struct topoopt_flow *flow);

/**
 * topoopt_flow_validate() - checks that every router has to make
 * @skb: packet; cut to the length in its header; may be reallocated
 * @flow: of the packet
 *
 * Return: why it must be dropped: a wrong length or checksum; or
 * SKB_NOT_DROPPED_YET.
 */
enum skb_drop_reason topoopt_flow_validate(struct sk_buff *skb,
					   const struct topoopt_flow *flow);

/*
 * A flow hash is stirred together from a seed and 64 bit words, the last of
 * them made of the transport header, and finished. Two multiplications of a
 * word and a shift between them bring every bit to the upper half.
 */
static __always_inline u64 topoopt_flow_stir(u64 hash, u64 word)
{
	hash = (hash + word) * GOLDEN_RATIO_64;
	return hash ^ hash >> 32;
}

static __always_inline u64 topoopt_flow_stir4(u64 hash, const struct iphdr *ip)
{
	return topoopt_flow_stir(hash, (u64)(__force u32)ip->daddr << 32 |
				       (__force u32)ip->saddr);
}

static __always_inline u64 topoopt_flow_stir6(u64 hash, const struct ipv6hdr *ip)
{
	unsigned int i;

	for (i = 0; i < 4; i++)
		hash = topoopt_flow_stir(hash, get_unaligned((const u64 *)&ip->saddr + i));
	return hash;
}

/* @ports: source and destination as in the header */
static __always_inline u32 topoopt_flow_finish(u64 hash, u8 proto, u32 ports, u32 qp)
{
	hash = topoopt_flow_stir(hash, (u64)((u32)proto << 24 | qp) << 32 | ports);
	return (hash * GOLDEN_RATIO_64) >> 32;
}

/*
 * Hash over addresses, protocol, ports and RoCEv2 queue pair: packets of one
 * flow, fragments among themselves, agree.
 */
u32 topoopt_flow_hash(const struct sk_buff *skb, struct topoopt_flow *flow,
		      u32 seed);

/*
 * Bytes that every segment of a GSO packet lacks: the jumbo payload option (RFC
 * 2675) and its hop-by-hop header, which older kernels (6.12, not 7.2) insert into
 * IPv6 aggregates above 64 KiB and remove when they take them apart.
 */
u32 topoopt_flow_jumbo(const struct sk_buff *skb, const struct topoopt_flow *flow);

/**
 * topoopt_flow_wire() - packets and bytes on the wire
 * @skb: packet, GSO or not
 * @flow: of the packet
 * @bytes: frames without FCS, VLAN tags and the headers of every GSO segment
 *	included; no padding
 *
 * Return: packets.
 */
u32 topoopt_flow_wire(const struct sk_buff *skb, struct topoopt_flow *flow,
		      u32 *bytes);

/* enum topoopt_traffic_class */
u8 topoopt_flow_class(const struct sk_buff *skb, struct topoopt_flow *flow);

static inline struct iphdr *topoopt_flow_ip4(const struct sk_buff *skb,
					     const struct topoopt_flow *flow)
{
	return (struct iphdr *)(skb->data + flow->nhoff);
}

static inline struct ipv6hdr *topoopt_flow_ip6(const struct sk_buff *skb,
					       const struct topoopt_flow *flow)
{
	return (struct ipv6hdr *)(skb->data + flow->nhoff);
}

#endif
