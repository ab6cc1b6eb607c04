// SPDX-License-Identifier: GPL-2.0
/*
 * Lookups for XDP and tc programs that forward themselves: the route that the relay
 * would take. They write nothing and count nothing.
 */

#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/module.h>
#include <linux/skbuff.h>
#include <net/sch_generic.h>
#include <net/xdp.h>

#include "fastpath.h"
#include "kfunc.h"
#include "output.h"

/* The port that a device is, or NULL; under RCU. */
static const struct topoopt_port *topoopt_kfunc_port(const struct net_device *dev)
{
	if (!topoopt_port_receives(dev))
		return NULL;
	return rcu_dereference(dev->rx_handler_data);
}

static int topoopt_kfunc_nexthop(const struct topoopt_dev *tdev,
				 const struct topoopt_port *in,
				 const struct topoopt_table *table,
				 const struct topoopt_route *route,
				 const void *ip, int head, bool v6,
				 struct topoopt_lookup *lookup)
{
	struct topoopt_output output;
	u32 hash = 0;

	if (topoopt_group_needs_hash(route->group) &&
	    !topoopt_fastpath_hash(ip, head, v6, tdev->hash_seed, &hash))
		return -EOPNOTSUPP;
	if (!topoopt_output_select(tdev, in, table, route, hash, &output))
		return -EHOSTUNREACH;
	lookup->port = output.port->ifindex;
	lookup->ifindex = output.dev->ifindex;
	lookup->mtu = READ_ONCE(output.dev->mtu);
	lookup->backup = output.nexthop->backup;
	lookup->alternate = !!output.nexthop->ingress;
	ether_addr_copy(lookup->dmac, output.nexthop->mac);
	ether_addr_copy(lookup->smac, output.dev->dev_addr);
	return TOPOOPT_VERDICT_RELAY;
}

static int topoopt_kfunc_route(const struct topoopt_dev *tdev,
			       const struct topoopt_port *in, const void *ip,
			       int head, struct topoopt_lookup *lookup)
{
	const struct topoopt_table *table = rcu_dereference(tdev->table);
	const struct ipv6hdr *ip6 = ip;
	const struct iphdr *ip4 = ip;
	struct topoopt_route route;
	bool v6, found;

	if (head < (int)sizeof(*ip4) || (ip4->version != 4 && ip4->version != 6))
		return -EPROTONOSUPPORT;
	v6 = ip4->version == 6;
	if (v6 && head < (int)sizeof(*ip6))
		return -EPROTONOSUPPORT;
	found = table &&
		(v6 ? topoopt_table_lookup6(table, &ip6->daddr, &ip6->saddr, &route) :
		      topoopt_table_lookup4(table, ip4->daddr, ip4->saddr, &route));
	if (!found)
		return TOPOOPT_VERDICT_MISS;
	lookup->server = route.server;
	switch (route.type) {
	case TOPOOPT_ROUTE_TYPE_UNICAST:
		return topoopt_kfunc_nexthop(tdev, in, table, &route, ip, head, v6,
					     lookup);
	case TOPOOPT_ROUTE_TYPE_NODE:
		return TOPOOPT_VERDICT_NODE;
	default:
		return TOPOOPT_VERDICT_LOCAL;
	}
}

/* @head: bytes in one piece from @data on; @ingress: the packet arrived at @dev */
static int topoopt_kfunc_lookup(const struct net_device *dev, bool ingress,
				const void *data, u32 head, u32 nhoff,
				struct topoopt_lookup *lookup, u32 size)
{
	const struct topoopt_port *port;
	int verdict = -ENODEV;

	if (size != sizeof(*lookup) || nhoff > head)
		return -EINVAL;
	memset(lookup, 0, size);
	lookup->server = TOPOOPT_SERVER_NONE;
	rcu_read_lock();
	port = topoopt_kfunc_port(dev);
	if (port)
		verdict = topoopt_kfunc_route(port->tdev, ingress ? port : NULL,
					      data + nhoff, head - nhoff, lookup);
	else if (topoopt_device_is(dev))
		verdict = topoopt_kfunc_route(netdev_priv(dev), NULL, data + nhoff,
					      head - nhoff, lookup);
	rcu_read_unlock();
	return verdict;
}

__bpf_kfunc_start_defs();

/**
 * topoopt_xdp_lookup() - route of a frame in the active table
 * @ctx: context of an XDP program
 * @nhoff: offset of the IP header from the start of the frame
 * @lookup: filled
 * @lookup__sz: its size
 *
 * Looks in the table of the topoopt device that the frame's device is a port of.
 * A packet of the same flow that arrives at the same port gets the same next hop
 * from the relay. The program has
 * to check whether the packet may be relayed (TTL, MTU, checksum).
 *
 * Return: enum topoopt_verdict; -ENODEV when the device is no port, -EINVAL,
 * -EPROTONOSUPPORT when there is no IP header at @nhoff, -EHOSTUNREACH when no
 * next hop is live, -EOPNOTSUPP when the choice depends on headers that do not
 * directly follow the IP header: leave the packet to the module.
 */
__bpf_kfunc int topoopt_xdp_lookup(struct xdp_md *ctx, u32 nhoff,
				   struct topoopt_lookup *lookup, u32 lookup__sz)
{
	const struct xdp_buff *xdp = (const struct xdp_buff *)ctx;

	return topoopt_kfunc_lookup(xdp->rxq->dev, true, xdp->data,
				    xdp->data_end - xdp->data, nhoff, lookup,
				    lookup__sz);
}

/**
 * topoopt_skb_lookup() - route of a packet in the active table
 * @ctx: context of a tc program
 * @nhoff: offset of the IP header from the start of the packet
 * @lookup: filled
 * @lookup__sz: its size
 *
 * As topoopt_xdp_lookup(); the device may also be the topoopt device itself.
 * Looks at the linear part of the packet only. Alternates are for packets that arrive,
 * so a program at the egress of a port gets none.
 *
 * Return: see topoopt_xdp_lookup().
 */
__bpf_kfunc int topoopt_skb_lookup(struct __sk_buff *ctx, u32 nhoff,
				   struct topoopt_lookup *lookup, u32 lookup__sz)
{
	const struct sk_buff *skb = (const struct sk_buff *)ctx;

	return topoopt_kfunc_lookup(skb->dev, skb_at_tc_ingress(skb), skb->data,
				    skb_headlen(skb), nhoff, lookup, lookup__sz);
}

__bpf_kfunc_end_defs();

BTF_KFUNCS_START(topoopt_kfunc_xdp_ids)
BTF_ID_FLAGS(func, topoopt_xdp_relay)
BTF_ID_FLAGS(func, topoopt_xdp_lookup)
BTF_KFUNCS_END(topoopt_kfunc_xdp_ids)

BTF_KFUNCS_START(topoopt_kfunc_tc_ids)
BTF_ID_FLAGS(func, topoopt_skb_lookup)
BTF_KFUNCS_END(topoopt_kfunc_tc_ids)

static const struct btf_kfunc_id_set topoopt_kfunc_xdp = {
	.owner = THIS_MODULE,
	.set = &topoopt_kfunc_xdp_ids,
};

static const struct btf_kfunc_id_set topoopt_kfunc_tc = {
	.owner = THIS_MODULE,
	.set = &topoopt_kfunc_tc_ids,
};

void topoopt_kfunc_init(void)
{
	/* Without module BTF, some kernels call it an error and some do not. */
	register_btf_kfunc_id_set(BPF_PROG_TYPE_XDP, &topoopt_kfunc_xdp);
	register_btf_kfunc_id_set(BPF_PROG_TYPE_SCHED_CLS, &topoopt_kfunc_tc);
}
