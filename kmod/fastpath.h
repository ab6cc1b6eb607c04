/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOPOOPT_FASTPATH_H
#define TOPOOPT_FASTPATH_H

/*
 * The fast path of fast.c and xdp.c: checks, lookup and choice of the next hop for
 * nearly all packets of a fabric. These are complete and valid, their route depends
 * on the destination alone, and its port works.
 */

#include <linux/overflow.h>
#include <linux/percpu.h>
#include <net/ip.h>

#include "flow.h"
#include "nesting.h"
#include "table.h"
#include "topoopt.h"
#include "tuple.h"

/* Ports and queue pair are read only when all of them are linear. */
#define TOPOOPT_FASTPATH_TRANSPORT					\
	((int)(sizeof(struct udphdr) + sizeof(struct topoopt_flow_bth)))

/* @sum + @word with end-around carry: the same mod 0xffff. */
static __always_inline u64 topoopt_fastpath_add(u64 sum, u64 word)
{
	bool carry = check_add_overflow(sum, word, &sum);

	return sum + carry;
}

/*
 * Whether the checksum of an unfragmented packet is right: the words add up to a
 * multiple of 0xffff. ip_fast_csum(), made for headers of any length, costs more than
 * all other checks.
 */
static __always_inline bool topoopt_fastpath_csum4(const struct iphdr *ip)
{
	u64 sum = get_unaligned((const u64 *)ip);

	/* No carry: the highest byte is 0, of the fragment offset, or of the first 0x45. */
	sum += (__force u32)ip->daddr;
	return topoopt_fastpath_add(sum, get_unaligned((const u64 *)ip + 1)) % 0xffff == 0;
}

/*
 * The checks of topoopt_flow_parse(), _validate(), _scoped() and _alert(), after
 * the first byte and for an unfragmented packet. The caller holds @len against the MTU.
 * Destinations that stay on their link have no slot that is TOPOOPT_TARGET_ALONE.
 */
static __always_inline bool topoopt_fastpath_whole4(const struct iphdr *ip, u32 len)
{
	return ip->ttl > 1 && ip->tot_len == htons(len) &&
	       !topoopt_flow_scoped4(ip->saddr) && topoopt_fastpath_csum4(ip);
}

static __always_inline bool topoopt_fastpath_valid4(const struct iphdr *ip, u32 len)
{
	return !ip_is_fragment(ip) && topoopt_fastpath_whole4(ip, len);
}

static __always_inline bool topoopt_fastpath_valid6(const struct ipv6hdr *ip, u32 len)
{
	return ip->hop_limit > 1 && ip->nexthdr != NEXTHDR_HOP &&
	       ntohs(ip->payload_len) + sizeof(*ip) == len &&
	       !topoopt_flow_scoped6(&ip->saddr);
}

/* ip_decrease_ttl(), with the same result. */
static __always_inline void topoopt_fastpath_hop4(struct iphdr *ip)
{
	u32 check = (__force u32)ip->check + (__force u32)htons(0x0100);

	check += (check + 1) >> 16;
	ip->check = (__force __sum16)check;
	ip->ttl--;
}

/* The slot of an address, which may be empty. */
static __always_inline const struct topoopt_slot *
topoopt_fastpath_lookup4(const struct topoopt_table *table, __be32 addr)
{
	const struct topoopt_tuple *tuple = table->family[false].dst.begin;
	u32 key = (__force u32)addr & (u32)tuple->mask[0];

	return topoopt_tuple_search(tuple, key, 0, false);
}

static __always_inline const struct topoopt_slot *
topoopt_fastpath_lookup6(const struct topoopt_table *table,
			 const struct in6_addr *addr)
{
	const struct topoopt_tuple *tuple = table->family[true].dst.begin;

	return topoopt_tuple_search(tuple,
				    topoopt_tuple_half(addr, 0) & tuple->mask[0],
				    topoopt_tuple_half(addr, 1) & tuple->mask[1],
				    true);
}

/*
 * The group of a unicast route that depends on the destination alone. Return: false when
 * the slot is empty or leads to anything else; a pointer alone would be tested once more.
 */
static __always_inline bool topoopt_fastpath_group(const struct topoopt_slot *slot,
						   const struct topoopt_group **group)
{
	unsigned long target = slot->target ^ TOPOOPT_TARGET_ALONE;

	*group = (void *)target;
	return !(target & TOPOOPT_TARGET_FLAGS);
}

/* Whether there are extension headers before the payload, that of fragments included. */
static __always_inline bool topoopt_fastpath_extended(u8 proto, bool v6)
{
	return v6 && proto != IPPROTO_UDP && proto != IPPROTO_TCP && ipv6_ext_hdr(proto);
}

/*
 * As topoopt_flow_hash(), for a valid packet whose first @head bytes are at @ip.
 * Return: false when only topoopt_flow_hash() can tell.
 */
static __always_inline bool topoopt_fastpath_hash(const void *ip, int head, bool v6,
						  u32 seed, u32 *hash)
{
	const struct ipv6hdr *ip6 = ip;
	const struct iphdr *ip4 = ip;
	u8 proto = v6 ? ip6->nexthdr : ip4->protocol;
	int hlen = v6 ? sizeof(*ip6) : sizeof(*ip4);
	const struct udphdr *udp;
	u32 ports = 0, qp = 0;

	if (topoopt_fastpath_extended(proto, v6))
		return false;
	udp = ip + hlen;
	if (likely(proto == IPPROTO_UDP || proto == IPPROTO_TCP)) {
		if (unlikely(head < hlen + TOPOOPT_FASTPATH_TRANSPORT))
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

/*
 * The first choice of next hop for a flow, of a group that is not direct; its port need
 * not work. Return: false for packets that an alternate takes, and when only
 * topoopt_flow_hash() can tell.
 */
static __always_inline bool
topoopt_fastpath_choose(const struct topoopt_port *in, const struct topoopt_group *group,
			const void *ip, int head, bool v6,
			const struct topoopt_nexthop **nexthop)
{
	u32 hash = 0;

	if (unlikely(group->alternate_slots & in->bit))
		return false;
	if (unlikely(group->primaries > 1 &&
		     !topoopt_fastpath_hash(ip, head, v6, in->tdev->hash_seed, &hash)))
		return false;
	*nexthop = group->primaries > 1 ? topoopt_group_first(group, hash) : group->nexthop;
	return true;
}

/* netif_running() && netif_carrier_ok(), in one load */
static __always_inline bool topoopt_fastpath_works(const struct net_device *dev)
{
	unsigned long works = BIT(__LINK_STATE_START);

	return (READ_ONCE(dev->state) & (works | BIT(__LINK_STATE_NOCARRIER))) == works;
}

/* As topoopt_flow_class(), for a valid packet. Return: false when only that one can tell. */
static __always_inline bool topoopt_fastpath_class(const void *ip, int head, bool v6,
						   u32 *class)
{
	const struct ipv6hdr *ip6 = ip;
	const struct iphdr *ip4 = ip;
	u8 proto = v6 ? ip6->nexthdr : ip4->protocol;
	int hlen = v6 ? sizeof(*ip6) : sizeof(*ip4);
	const struct udphdr *udp = ip + hlen;

	*class = TOPOOPT_TRAFFIC_CLASS_ROCE;
	if (likely(proto == IPPROTO_UDP)) {
		if (unlikely(head < hlen + (int)sizeof(*udp)))
			return false;
		if (likely(udp->dest == htons(TOPOOPT_FLOW_ROCE_PORT)))
			return true;
	} else if (unlikely(topoopt_fastpath_extended(proto, v6))) {
		return false;
	}
	*class = proto == IPPROTO_TCP ? TOPOOPT_TRAFFIC_CLASS_TCP :
					TOPOOPT_TRAFFIC_CLASS_OTHER;
	return true;
}

/*
 * Caches the last source looked up, of IPv4 and of IPv6: packets come in
 * trains. Unused where another packet may change it meanwhile.
 */
struct topoopt_fastpath_last {
	u64 table;	/* id */
	u64 key[2];
	u32 server;
};

DECLARE_PER_CPU(struct topoopt_fastpath_last, topoopt_fastpath_lasts[2]);

/* Looks the source up and caches it. */
u32 topoopt_fastpath_source_find(const struct topoopt_table *table, const void *ip, bool v6);

static __always_inline u64 topoopt_fastpath_source_key(const void *ip, unsigned int half,
						       bool v6)
{
	if (v6)
		return topoopt_tuple_half(&((const struct ipv6hdr *)ip)->saddr, half);
	return half ? 0 : (__force u32)((const struct iphdr *)ip)->saddr;
}

/*
 * The server that owns the source address, if the last packet had that one. Return:
 * false when topoopt_fastpath_source_find() has to tell; where it is called, registers
 * are saved.
 */
static __always_inline bool topoopt_fastpath_source_last(const struct topoopt_table *table,
							 const void *ip, bool v6,
							 u32 *server)
{
	const struct topoopt_fastpath_last *last = this_cpu_ptr(&topoopt_fastpath_lasts[v6]);

	*server = last->server;
	return !TOPOOPT_BH_PREEMPTIBLE && last->table == table->id &&
	       last->key[0] == topoopt_fastpath_source_key(ip, 0, v6) &&
	       (!v6 || last->key[1] == topoopt_fastpath_source_key(ip, 1, v6));
}

static __always_inline u32 topoopt_fastpath_source(const struct topoopt_table *table,
						   const void *ip, bool v6)
{
	u32 server;

	if (unlikely(!topoopt_fastpath_source_last(table, ip, v6, &server)))
		return topoopt_fastpath_source_find(table, ip, v6);
	return server;
}

#endif
