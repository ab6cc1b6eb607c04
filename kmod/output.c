// SPDX-License-Identifier: GPL-2.0
/* Egress, for relayed and for originated packets. */

#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/tcp.h>
#include <net/dsfield.h>
#include <net/gso.h>
#include <net/ip.h>
#include <net/route.h>

#include "account.h"
#include "flow.h"
#include "icmp.h"
#include "output.h"
#include "table.h"
#include "trace.h"

/*
 * The bitmap of live ports says what the notifier was told, which for carrier can be a
 * second late; the device itself knows at once. Another NIC may also have taken the slot
 * since the table was built.
 */
static bool topoopt_output_works(const struct topoopt_dev *tdev,
				 struct topoopt_output *out)
{
	out->port = rcu_dereference(tdev->ports[out->nexthop->slot]);
	if (unlikely(!out->port || out->port->ifindex != out->nexthop->ifindex))
		return false;
	out->dev = rcu_dereference(out->port->tx);
	return likely(netif_running(out->dev) && netif_carrier_ok(out->dev));
}

bool topoopt_output_select(const struct topoopt_dev *tdev,
			   const struct topoopt_port *in,
			   const struct topoopt_table *table,
			   const struct topoopt_route *route, u32 hash,
			   struct topoopt_output *out)
{
	const struct topoopt_group *group = route->group;
	struct topoopt_liveness liveness = topoopt_output_liveness(tdev, table, route->server);

	if (unlikely(in && group->alternate_slots & in->bit)) {
		out->nexthop = topoopt_group_alternate(group, in->ifindex);
		if (out->nexthop && topoopt_nexthop_usable(out->nexthop, &liveness) &&
		    topoopt_output_works(tdev, out))
			return true;
	}
	while ((out->nexthop = topoopt_group_select(group, &liveness, hash))) {
		if (likely(topoopt_output_works(tdev, out)))
			return true;
		liveness.light &= ~BIT_ULL(out->nexthop->slot);
		liveness.live &= liveness.light;
	}
	return false;
}

/*
 * Counts and drops a packet without a next hop. Neighbours that continuity checks
 * distrust are told from ports without light.
 */
static void topoopt_output_unreachable(const struct topoopt_dev *tdev,
				       struct topoopt_stats __percpu *stats,
				       const struct topoopt_group *group,
				       struct sk_buff *skb)
{
	u64 distrusted = READ_ONCE(tdev->light) & ~READ_ONCE(tdev->live);

	if ((group->primary_slots | group->backup_slots) & distrusted)
		topoopt_output_drop(stats, skb, TOPOOPT_DROP_SILENT,
				    SKB_DROP_REASON_NEIGH_FAILED);
	else
		topoopt_output_drop(stats, skb, TOPOOPT_DROP_NO_PORT,
				    SKB_DROP_REASON_DEV_READY);
}

/*
 * GSO packets fit when their segments do. To know, the kernel reads the TCP header,
 * which in an aggregate of a virtual machine may be in page fragments.
 * Return: 0, -EMSGSIZE, -EINVAL without such a header.
 */
static int topoopt_output_fits(struct sk_buff *skb, struct topoopt_flow *flow,
			       u32 mtu)
{
	if (likely(skb->len - flow->nhoff <= mtu))
		return 0;
	if (!skb_is_gso(skb))
		return -EMSGSIZE;
	topoopt_flow_transport(skb, flow);
	if (skb_is_gso_tcp(skb) &&
	    !pskb_may_pull(skb, flow->thoff + sizeof(struct tcphdr)))
		return -EINVAL;
	skb_set_network_header(skb, flow->nhoff);
	skb_set_transport_header(skb, flow->thoff);
	mtu += topoopt_flow_jumbo(skb, flow);
	return skb_gso_validate_network_len(skb, mtu) ? 0 : -EMSGSIZE;
}

/*
 * Priority of the PFC class that a packet is in: its PCP. Without a tag, the
 * class selector bits of its DSCP: the map that NICs with PFC trust DSCP by.
 * (The kernel's own map from the TOS field to a priority predates DSCP and
 * folds CS3 into best effort.)
 */
static u32 topoopt_output_priority(const struct sk_buff *skb,
				   const struct topoopt_flow *flow)
{
	if (skb_vlan_tag_present(skb))
		return skb_vlan_tag_get_prio(skb);
	if (unlikely(flow->nhoff))
		return ntohs(((struct vlan_hdr *)skb->data)->h_vlan_TCI) >>
		       VLAN_PRIO_SHIFT;
	if (likely(!flow->ipv6))
		return ipv4_get_dsfield(topoopt_flow_ip4(skb, flow)) >> 5;
	return ipv6_get_dsfield(topoopt_flow_ip6(skb, flow)) >> 5;
}

/*
 * Whether somebody chose a priority for a packet that this server sends: SO_PRIORITY,
 * a cgroup, tc. What IP_TOS makes of a TOS field is no choice of its own; the same
 * number by SO_PRIORITY cannot be told from it.
 */
static bool topoopt_output_chosen(const struct sk_buff *skb,
				  const struct topoopt_flow *flow)
{
	if (!skb->priority || flow->ipv6)
		return skb->priority;
	return skb->priority != rt_tos2priority(topoopt_flow_ip4(skb, flow)->tos);
}

/*
 * Whether the packet has its priority from the VLAN device that it came in by, which
 * took the tag: once its ingress map has an entry, the tag's priority counts.
 */
static bool topoopt_output_mapped(const struct topoopt_port *in)
{
#if IS_ENABLED(CONFIG_VLAN_8021Q)
	return unlikely(in->vlan) &&
	       READ_ONCE(vlan_dev_priv(in->dev)->nr_ingress_mappings);
#else
	return false;
#endif
}

/* What one hop changes in a relayed packet, its MAC header aside. */
static void topoopt_output_hop(const struct topoopt_port *in, struct sk_buff *skb,
			       const struct topoopt_flow *flow)
{
	skb_forward_csum(skb);
	if (likely(!flow->ipv6))
		ip_decrease_ttl(topoopt_flow_ip4(skb, flow));
	else
		topoopt_flow_ip6(skb, flow)->hop_limit--;
	skb_set_network_header(skb, flow->nhoff);
	if (likely(!topoopt_output_mapped(in)))
		skb->priority = topoopt_output_priority(skb, flow);
	skb_clear_tstamp(skb);
	skb_orphan(skb);
}

int topoopt_output_forward(struct topoopt_dev *tdev,
			   const struct topoopt_port *in,
			   const struct topoopt_table *table,
			   const struct topoopt_route *route,
			   struct sk_buff *skb, struct topoopt_flow *flow)
{
	struct topoopt_stats __percpu *stats = in ? in->stats : tdev->stats;
	u32 hash = 0, mtu, packets, bytes, src = 0, class = 0;
	struct topoopt_output out;
	bool account;
	int err;

	if (topoopt_group_needs_hash(route->group))
		hash = topoopt_flow_hash(skb, flow, tdev->hash_seed);
	if (unlikely(!topoopt_output_select(tdev, in, table, route, hash, &out))) {
		topoopt_icmp_unreachable(tdev, skb, flow);
		topoopt_output_unreachable(tdev, stats, route->group, skb);
		return -EHOSTUNREACH;
	}
	mtu = READ_ONCE(out.dev->mtu);
	err = topoopt_output_fits(skb, flow, mtu);
	if (unlikely(err == -EINVAL)) {
		topoopt_output_drop(stats, skb, TOPOOPT_DROP_HEADER,
				    SKB_DROP_REASON_PKT_TOO_SMALL);
		return err;
	}
	if (unlikely(err)) {
		topoopt_icmp_too_big(tdev, skb, flow, mtu);
		topoopt_output_drop(stats, skb, TOPOOPT_DROP_MTU,
				    SKB_DROP_REASON_PKT_TOO_BIG);
		return err;
	}
	/* Only a relay writes the IP header, which a clone may share. */
	err = in ? skb_cow(skb, LL_RESERVED_SPACE(out.dev)) :
		   skb_cow_head(skb, LL_RESERVED_SPACE(out.dev));
	if (unlikely(err)) {
		topoopt_output_drop(stats, skb, TOPOOPT_DROP_NOMEM,
				    SKB_DROP_REASON_NOMEM);
		return err;
	}

	/* The packet is gone when it is time to count it. */
	packets = topoopt_flow_wire(skb, flow, &bytes);
	account = topoopt_account_enabled();
	if (account) {
		src = topoopt_flow_source(table, skb, flow);
		class = topoopt_flow_class(skb, flow);
	}
	if (in) {
		if (trace_topoopt_relay_enabled()) {
			topoopt_flow_transport(skb, flow);
			trace_topoopt_relay(tdev->dev, in->dev, out.dev, skb,
					    flow, out.nexthop);
		}
		topoopt_output_hop(in, skb, flow);
		topoopt_stats_add_bytes(stats, TOPOOPT_RELAY_RX_PACKETS,
					packets, bytes);
	} else if (!topoopt_output_chosen(skb, flow)) {
		skb->priority = topoopt_output_priority(skb, flow);
	}

	err = topoopt_output_queue(skb, out.dev, out.nexthop);
	if (unlikely(err)) {
		topoopt_stats_add(out.port->stats, TOPOOPT_DROP_TX, packets);
		return err;
	}
	topoopt_stats_add_bytes(out.port->stats, TOPOOPT_RELAY_TX_PACKETS,
				packets, bytes);
	topoopt_output_count_detour(&out, packets);
	if (!in)
		dev_sw_netstats_tx_add(tdev->dev, packets, bytes);
	if (account)
		topoopt_account(tdev, in, out.port, src, route->server, class,
				packets, bytes);
	return 0;
}
