// SPDX-License-Identifier: GPL-2.0
/*
 * The fast path for XDP programs: as fast.c, for a frame that never becomes an skb.
 * It writes nothing before it is sure to relay the frame; what it cannot relay, or
 * must not without a queue, it leaves to fast.c and relay.c as it came.
 */

#include <linux/filter.h>
#include <linux/if_vlan.h>
#include <net/xdp.h>

#include "account.h"
#include "fastpath.h"
#include "kfunc.h"
#include "output.h"

/* XDP runs with bottom halves off, which is an RCU section too. */
#define topoopt_xdp_dereference(p)	rcu_dereference_bh_check(p, rcu_read_lock_held())

/* Bytes that must be linear: all headers that IPv4 needs, VLAN tag included. */
#define TOPOOPT_XDP_HEAD4	(VLAN_ETH_HLEN + sizeof(struct iphdr) + sizeof(struct udphdr))

/* The same for IPv6, from its header on. */
#define TOPOOPT_XDP_HEAD6	((int)(sizeof(struct ipv6hdr) + sizeof(struct udphdr)))

/* All that is ever looked at: Ethernet with tag, IPv6, UDP or TCP, queue pair. */
#define TOPOOPT_XDP_HEADERS						\
	(VLAN_ETH_HLEN + sizeof(struct ipv6hdr) + TOPOOPT_FASTPATH_TRANSPORT)

/*
 * Make the first @len bytes of a frame linear, as bpf_xdp_pull_data() does from 6.18
 * on. Frames above a page arrive at mlx5 with nothing in the linear part, and it sends
 * none with less than 18 bytes there (en/xdp.c, MLX5E_XDP_MIN_INLINE). The caller has
 * seen more bytes than @len in the linear part and the first frag.
 *
 * Return: false when they have no room there.
 */
static __always_inline bool topoopt_xdp_pull(struct xdp_buff *xdp, unsigned int len)
{
	struct skb_shared_info *info;
	skb_frag_t *frag;
	int more;

	more = xdp->data + len - xdp->data_end;
	if (likely(more <= 0))
		return true;
	info = xdp_get_shared_info_from_buff(xdp);
	frag = &info->frags[0];
	/* A frag of AF_XDP is no page that goes with the frame. */
	if (xdp->data + len > xdp_data_hard_end(xdp) ||
	    xdp->rxq->mem.type == MEM_TYPE_XSK_BUFF_POOL)
		return false;
	memcpy(xdp->data_end, skb_frag_address(frag), more);
	xdp->data_end += more;
	skb_frag_off_add(frag, more);
	skb_frag_size_sub(frag, more);
	info->xdp_frags_size -= more;
	return true;
}

/* Return: ifindex to redirect to. */
static __always_inline u32 topoopt_xdp_write(struct xdp_buff *xdp,
					     const struct topoopt_port *in,
					     const struct topoopt_port *out,
					     const struct net_device *tx,
					     const struct topoopt_nexthop *nexthop,
					     void *ip, bool v6,
					     enum topoopt_counter counter, u32 bytes)
{
	struct ethhdr *eth = xdp->data;

	if (v6)
		((struct ipv6hdr *)ip)->hop_limit--;
	else
		topoopt_fastpath_hop4(ip);
	topoopt_output_macs(eth, nexthop, tx);
	topoopt_stats_add_two(in->stats, counter, 1, TOPOOPT_RELAY_RX_BYTES, bytes);
	topoopt_stats_add_bytes(out->stats, TOPOOPT_RELAY_TX_PACKETS, 1, bytes);
	return tx->ifindex;
}

/*
 * Everything that XDP may relay. The IP header is @nhoff bytes into the frame; @ip is
 * it, or a copy, of @head bytes. Return: as topoopt_xdp_relay().
 */
static __always_inline u32 topoopt_xdp_any(struct xdp_buff *xdp,
					   const struct topoopt_port *in, const void *ip,
					   int head, unsigned int nhoff, u32 flags, bool v6)
{
	const struct topoopt_table *table = topoopt_xdp_dereference(in->tdev->table);
	u32 bytes = xdp_get_buff_len(xdp);
	int len = bytes - nhoff;
	const struct ipv6hdr *ip6 = ip;
	const struct iphdr *ip4 = ip;
	struct topoopt_output output;
	struct topoopt_route route;
	u32 hash, class;
	bool found;

	if (v6 ? head < TOPOOPT_XDP_HEAD6 || !topoopt_fastpath_valid6(ip, len) ||
		 topoopt_flow_scoped6(&ip6->daddr) :
		 !topoopt_fastpath_valid4(ip, len) || topoopt_flow_scoped4(ip4->daddr))
		return 0;
	if (!topoopt_fastpath_class(ip, head, v6, &class) || !(flags & BIT(class)) ||
	    !topoopt_fastpath_hash(ip, head, v6, in->tdev->hash_seed, &hash))
		return 0;
	found = table &&
		(v6 ? topoopt_table_lookup6(table, &ip6->daddr, &ip6->saddr, &route) :
		      topoopt_table_lookup4(table, ip4->daddr, ip4->saddr, &route));
	if (!found || route.type != TOPOOPT_ROUTE_TYPE_UNICAST)
		return 0;
	rcu_read_lock();
	found = topoopt_output_select(in->tdev, in, table, &route, hash, &output);
	rcu_read_unlock();
	if (!found || len > READ_ONCE(output.dev->mtu))
		return 0;
	if (!topoopt_output_xdp(output.dev, xdp_buff_has_frags(xdp)) &&
	    !(flags & TOPOOPT_XDP_GENERIC))
		return 0;
	if (!(READ_ONCE(output.port->xdp_classes) & BIT(class)))
		return 0;
	if (READ_ONCE(output.port->xdp_error) && !(flags & TOPOOPT_XDP_LOSSY))
		return 0;
	if (!topoopt_xdp_pull(xdp, nhoff + (v6 ? sizeof(*ip6) : sizeof(*ip4))))
		return 0;

	if (topoopt_account_enabled())
		topoopt_account(in->tdev, in, output.port,
				topoopt_fastpath_source(table, ip, v6), route.server,
				class, 1, bytes);
	topoopt_output_count_detour(&output, 1);
	return topoopt_xdp_write(xdp, in, output.port, output.dev, output.nexthop,
				 xdp->data + nhoff, v6,
				 flags & TOPOOPT_XDP_GENERIC ?
				 TOPOOPT_RELAY_XDP_GENERIC_PACKETS :
				 TOPOOPT_RELAY_XDP_PACKETS, bytes);
}

/* EtherType, and the first byte after it. */
static __always_inline bool topoopt_xdp_is4(const void *ip)
{
	return (*(const __be32 *)(ip - 2) & htonl(0xffffff00)) ==
	       htonl(ETH_P_IP << 16 | 0x45 << 8);
}

static __always_inline bool topoopt_xdp_is6(const void *ip)
{
	return (*(const __be32 *)(ip - 2) & htonl(0xfffff000)) ==
	       htonl((u32)ETH_P_IPV6 << 16 | 0x6 << 12);
}

static __always_inline bool topoopt_xdp_has_vlans(const struct net_device *dev)
{
#if IS_ENABLED(CONFIG_VLAN_8021Q)
	return rcu_access_pointer(dev->vlan_info);
#else
	return false;
#endif
}

/* Whether a tagged frame is for a VLAN device, which gets it. */
static bool topoopt_xdp_for_vlan(const struct net_device *dev, const struct vlan_ethhdr *eth)
{
#if IS_ENABLED(CONFIG_VLAN_8021Q)
	bool device;

	if (likely(!topoopt_xdp_has_vlans(dev)))
		return false;
	rcu_read_lock();
	device = __vlan_find_dev_deep_rcu((struct net_device *)dev, eth->h_vlan_proto,
					  ntohs(eth->h_vlan_TCI) & VLAN_VID_MASK);
	rcu_read_unlock();
	return device;
#else
	return false;
#endif
}

/*
 * From the start of a frame, or from a copy of it of @len bytes, nothing checked yet
 * but that headers of IPv4 are there.
 */
static __always_inline u32 topoopt_xdp_start(struct xdp_buff *xdp,
					     const struct topoopt_port *in, const void *start,
					     unsigned int len, u32 flags)
{
	const struct net_device *dev = xdp->rxq->dev;
	const struct ethhdr *eth = start;
	unsigned int nhoff = ETH_HLEN;
	const void *ip;

	if (!ether_addr_equal_64bits(eth->h_dest, dev->dev_addr))
		return 0;
	if (eth_type_vlan(eth->h_proto)) {
		if (topoopt_xdp_for_vlan(dev, start))
			return 0;
		nhoff += VLAN_HLEN;
	}
	ip = start + nhoff;
	if (topoopt_xdp_is4(ip))
		return topoopt_xdp_any(xdp, in, ip, len - nhoff, nhoff, flags, false);
	if (topoopt_xdp_is6(ip))
		return topoopt_xdp_any(xdp, in, ip, len - nhoff, nhoff, flags, true);
	return 0;
}

/*
 * A frame whose headers are not all in the linear part. Nothing moves before it is sure
 * that the frame is relayed: not all drivers that pass a frame on to the stack let a
 * program do that.
 */
static noinline u32 topoopt_xdp_scattered(struct xdp_buff *xdp,
					  const struct topoopt_port *in, u32 flags)
{
	unsigned int linear = xdp->data_end - xdp->data, more;
	u8 start[TOPOOPT_XDP_HEADERS] __aligned(8);
	const skb_frag_t *frag;

	frag = &xdp_get_shared_info_from_buff(xdp)->frags[0];
	more = min_t(unsigned int, skb_frag_size(frag), sizeof(start) - linear);
	if (linear + more < TOPOOPT_XDP_HEAD4)
		return 0;
	memcpy(start, xdp->data, linear);
	memcpy(start + linear, skb_frag_address(frag), more);
	return topoopt_xdp_start(xdp, in, start, linear + more, flags);
}

/* Any frame. */
static noinline u32 topoopt_xdp_frame(struct xdp_buff *xdp, const struct topoopt_port *in,
				      u32 flags)
{
	unsigned int linear = xdp->data_end - xdp->data;

	if (flags & TOPOOPT_XDP_GENERIC ? !READ_ONCE(in->xdp_generic) : !READ_ONCE(in->xdp))
		return 0;
	flags |= TOPOOPT_XDP_ROCE;	/* which every program relays */
	if (xdp_buff_has_frags(xdp) && linear < TOPOOPT_XDP_HEADERS)
		return topoopt_xdp_scattered(xdp, in, flags);
	if (linear < TOPOOPT_XDP_HEAD4)
		return 0;
	return topoopt_xdp_start(xdp, in, xdp->data, linear, flags);
}

/*
 * The common case: unfragmented RoCEv2, a route that depends on the destination alone,
 * its first choice of port. All other frames go to topoopt_xdp_frame(). What calls
 * functions is out of line and called last, so that no step saves registers for it.
 */

static __always_inline u32 topoopt_xdp_send(struct xdp_buff *xdp,
					    const struct topoopt_port *in,
					    const struct topoopt_nexthop *nexthop,
					    const struct topoopt_slot *slot, void *ip,
					    u32 flags, bool v6, bool account)
{
	const struct topoopt_port *out;
	const struct net_device *tx;
	u32 bytes, ifindex, src;

	/*
	 * What the checks have read is in the cache: to read it again costs less than to
	 * save a register for it.
	 */
	barrier();
	out = topoopt_xdp_dereference(in->tdev->ports[nexthop->slot]);
	if (unlikely(!out || READ_ONCE(out->xdp_ifindex) != nexthop->ifindex))
		goto other;
	tx = topoopt_xdp_dereference(out->tx);
	if (unlikely(!topoopt_fastpath_works(tx) || xdp->data_end > ip + READ_ONCE(tx->mtu)))
		goto other;

	bytes = xdp->data_end - xdp->data;
	ifindex = topoopt_xdp_write(xdp, in, out, tx, nexthop, ip, v6,
				    TOPOOPT_RELAY_XDP_PACKETS, bytes);
	if (account) {
		/* To carry the table here costs more. A newer one is as good. */
		src = topoopt_fastpath_source(topoopt_xdp_dereference(in->tdev->table), ip,
					      v6);
		topoopt_account_run(in->tdev,
				    topoopt_account_ports(in->ifindex, out->ifindex,
							  TOPOOPT_TRAFFIC_CLASS_ROCE),
				    topoopt_account_pair(src, slot->server), 1, bytes);
	}
	return ifindex;

other:
	return topoopt_xdp_frame(xdp, in, flags);
}

static noinline u32 topoopt_xdp_account4(struct xdp_buff *xdp, const struct topoopt_port *in,
					 const struct topoopt_nexthop *nexthop,
					 const struct topoopt_slot *slot, void *ip, u32 flags)
{
	return topoopt_xdp_send(xdp, in, nexthop, slot, ip, flags, false, true);
}

static noinline u32 topoopt_xdp_account6(struct xdp_buff *xdp, const struct topoopt_port *in,
					 const struct topoopt_nexthop *nexthop,
					 const struct topoopt_slot *slot, void *ip, u32 flags)
{
	return topoopt_xdp_send(xdp, in, nexthop, slot, ip, flags, true, true);
}

static __always_inline u32 topoopt_xdp_nexthop(struct xdp_buff *xdp,
					       const struct topoopt_port *in,
					       const struct topoopt_nexthop *nexthop,
					       const struct topoopt_slot *slot, void *ip,
					       u32 flags, bool v6)
{
	if (topoopt_account_enabled())
		return v6 ? topoopt_xdp_account6(xdp, in, nexthop, slot, ip, flags) :
			    topoopt_xdp_account4(xdp, in, nexthop, slot, ip, flags);
	return topoopt_xdp_send(xdp, in, nexthop, slot, ip, flags, v6, false);
}

/* Chooses one of several next hops, unless an alternate takes the frame. */
static __always_inline u32 topoopt_xdp_choose(struct xdp_buff *xdp,
					      const struct topoopt_port *in,
					      const struct topoopt_group *group,
					      const struct topoopt_slot *slot, void *ip,
					      u32 flags, bool v6)
{
	const struct topoopt_nexthop *nexthop;

	if (unlikely(!topoopt_fastpath_choose(in, group, ip, xdp->data_end - ip, v6,
					      &nexthop)))
		return topoopt_xdp_frame(xdp, in, flags);
	return topoopt_xdp_nexthop(xdp, in, nexthop, slot, ip, flags, v6);
}

static noinline u32 topoopt_xdp_choose4(struct xdp_buff *xdp, const struct topoopt_port *in,
					const struct topoopt_group *group,
					const struct topoopt_slot *slot, void *ip, u32 flags)
{
	return topoopt_xdp_choose(xdp, in, group, slot, ip, flags, false);
}

static noinline u32 topoopt_xdp_choose6(struct xdp_buff *xdp, const struct topoopt_port *in,
					const struct topoopt_group *group,
					const struct topoopt_slot *slot, void *ip, u32 flags)
{
	return topoopt_xdp_choose(xdp, in, group, slot, ip, flags, true);
}

static __always_inline u32 topoopt_xdp_route(struct xdp_buff *xdp,
					     const struct topoopt_port *in,
					     const struct topoopt_slot *slot, void *ip,
					     u32 flags, bool v6)
{
	const struct topoopt_group *group;

	if (unlikely(!topoopt_fastpath_group(slot, &group)))
		return topoopt_xdp_frame(xdp, in, flags);
	if (likely(group->direct))
		return topoopt_xdp_nexthop(xdp, in, group->nexthop, slot, ip, flags, v6);
	return v6 ? topoopt_xdp_choose6(xdp, in, group, slot, ip, flags) :
		    topoopt_xdp_choose4(xdp, in, group, slot, ip, flags);
}

static __always_inline u32 topoopt_xdp_roce4(struct xdp_buff *xdp,
					     const struct topoopt_port *in,
					     const struct topoopt_table *table, void *ip,
					     u32 flags)
{
	/* fragment, TTL and protocol: UDP, no fragment, DF or not */
	const __be32 *word = ip + offsetof(struct iphdr, frag_off);
	const struct udphdr *udp = ip + sizeof(struct iphdr);
	const struct iphdr *ip4 = ip;

	if (unlikely((*word & htonl(0x3fff00ff)) != htonl(IPPROTO_UDP) ||
		     udp->dest != htons(TOPOOPT_FLOW_ROCE_PORT) ||
		     xdp_buff_has_frags(xdp)))
		return topoopt_xdp_frame(xdp, in, flags);
	if (unlikely(!topoopt_fastpath_whole4(ip4, xdp->data_end - ip)))
		return topoopt_xdp_frame(xdp, in, flags);
	return topoopt_xdp_route(xdp, in, topoopt_fastpath_lookup4(table, ip4->daddr), ip,
				 flags, false);
}

/* What is not IPv4. */
static noinline u32 topoopt_xdp_roce6(struct xdp_buff *xdp, const struct topoopt_port *in,
				      const struct topoopt_table *table, void *ip, u32 flags)
{
	const struct udphdr *udp = ip + sizeof(struct ipv6hdr);
	const struct ipv6hdr *ip6 = ip;

	if (!topoopt_xdp_is6(ip))
		return 0;
	if (unlikely(xdp->data_end - ip < TOPOOPT_XDP_HEAD6 ||
		     ip6->nexthdr != IPPROTO_UDP ||
		     udp->dest != htons(TOPOOPT_FLOW_ROCE_PORT) ||
		     xdp_buff_has_frags(xdp)))
		return topoopt_xdp_frame(xdp, in, flags);
	if (unlikely(!topoopt_fastpath_valid6(ip6, xdp->data_end - ip)))
		return 0;
	return topoopt_xdp_route(xdp, in, topoopt_fastpath_lookup6(table, &ip6->daddr), ip,
				 flags, true);
}

__bpf_kfunc_start_defs();

/**
 * topoopt_xdp_relay() - make a frame ready for its next hop
 * @ctx: context of the XDP program
 * @flags: TOPOOPT_XDP_*
 *
 * Takes a frame that arrived at a port, with or without VLAN tag, that is
 * unfragmented RoCEv2 or of one of the classes in @flags. It needs a route to
 * another server through a port that works, whose driver sends what XDP redirects
 * and has dropped nothing so far. Decrements the TTL, writes the MAC addresses and
 * counts the frame on both ports, as the relay does with an skb and with the same
 * next hop. The program has to redirect the frame to the ifindex returned.
 *
 * Return: ifindex to redirect to; or 0, the frame is as it was: return XDP_PASS.
 */
__bpf_kfunc u32 topoopt_xdp_relay(struct xdp_md *ctx, u32 flags)
{
	struct xdp_buff *xdp = (struct xdp_buff *)ctx;
	const struct net_device *dev = xdp->rxq->dev;
	const struct topoopt_table *table;
	const struct topoopt_port *in;
	struct ethhdr *eth;
	void *ip;

	if (unlikely(!topoopt_port_receives(dev)))
		return 0;
	in = topoopt_xdp_dereference(dev->rx_handler_data);
	table = topoopt_xdp_dereference(in->tdev->table);
	if (unlikely(!table || trace_topoopt_relay_enabled()))
		return 0;
	/* data_race(): while it changes, either path may take the packet. */
	if (unlikely(!data_race(in->xdp) || flags & TOPOOPT_XDP_GENERIC ||
		     xdp->data + TOPOOPT_XDP_HEAD4 > xdp->data_end))
		return topoopt_xdp_frame(xdp, in, flags);
	eth = xdp->data;
	if (unlikely(!ether_addr_equal_64bits(eth->h_dest, dev->dev_addr)))
		return topoopt_xdp_frame(xdp, in, flags);
	ip = eth + 1;
	if (!topoopt_xdp_is4(ip)) {
		if (eth_type_vlan(eth->h_proto)) {
			ip += VLAN_HLEN;
			/* 8021q adds VLAN 0 to every NIC that filters. */
			if (unlikely(topoopt_xdp_has_vlans(dev)))
				return topoopt_xdp_frame(xdp, in, flags);
		}
		if (!topoopt_xdp_is4(ip))
			return topoopt_xdp_roce6(xdp, in, table, ip, flags);
	}
	return topoopt_xdp_roce4(xdp, in, table, ip, flags);
}

__bpf_kfunc_end_defs();
