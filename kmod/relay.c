// SPDX-License-Identifier: GPL-2.0
/* The complete receive path: packets for this server, for another one, or not ours. */

#include "account.h"
#include "continuity.h"
#include "flow.h"
#include "icmp.h"
#include "output.h"
#include "table.h"
#include "topoopt.h"

/*
 * The ICRC of RoCEv2 covers the IP identification, which segmentation rewrites,
 * so an aggregate of RoCE packets cannot be segmented again. Nor can what LRO
 * merged.
 */
static bool topoopt_relay_inseparable(const struct sk_buff *skb,
				      struct topoopt_flow *flow)
{
	if (skb_warn_if_lro(skb))
		return true;
	return skb_shinfo(skb)->gso_type & (SKB_GSO_UDP_L4 | SKB_GSO_FRAGLIST) &&
	       topoopt_flow_class(skb, flow) == TOPOOPT_TRAFFIC_CLASS_ROCE;
}

static void topoopt_relay_unicast(const struct topoopt_port *port,
				  const struct topoopt_table *table,
				  const struct topoopt_route *route,
				  struct sk_buff *skb,
				  struct topoopt_flow *flow)
{
	enum skb_drop_reason reason;
	u8 ttl;

	reason = topoopt_flow_validate(skb, flow);
	if (unlikely(reason)) {
		topoopt_output_drop(port->stats, skb,
				    reason == SKB_DROP_REASON_NOMEM ?
				    TOPOOPT_DROP_NOMEM : TOPOOPT_DROP_HEADER, reason);
		return;
	}
	if (unlikely(skb_is_gso(skb) && topoopt_relay_inseparable(skb, flow))) {
		topoopt_output_drop(port->stats, skb, TOPOOPT_DROP_GSO,
				    SKB_DROP_REASON_SKB_GSO_SEG);
		return;
	}
	ttl = flow->ipv6 ? topoopt_flow_ip6(skb, flow)->hop_limit :
			   topoopt_flow_ip4(skb, flow)->ttl;
	if (unlikely(ttl <= 1)) {
		topoopt_icmp_expired(port->tdev, skb, flow);
		topoopt_output_drop(port->stats, skb, TOPOOPT_DROP_TTL,
				    SKB_DROP_REASON_IP_INHDR);
		return;
	}
	topoopt_output_forward(port->tdev, port, table, route, skb, flow);
}

/*
 * RoCEv2 for the address of another port: an RDMA NIC takes packets for its own
 * address only, and the NICs of a server do not pass packets to each other. So the
 * packet leaves through that port, and the neighbour there sends it back.
 */
static bool topoopt_relay_wrong_port(const struct topoopt_port *port,
				     const struct topoopt_route *route,
				     const struct sk_buff *skb,
				     struct topoopt_flow *flow)
{
	const struct topoopt_group *group = route->group;

	return group &&
	       !((group->primary_slots | group->backup_slots) & BIT_ULL(port->slot)) &&
	       topoopt_flow_class(skb, flow) == TOPOOPT_TRAFFIC_CLASS_ROCE;
}

/* What the topoopt device received, see topoopt_device_get_stats64(). */
static void topoopt_relay_count(struct net_device *dev, u32 packets, u32 bytes)
{
	struct pcpu_sw_netstats *tstats = this_cpu_ptr(dev->tstats);

	u64_stats_update_begin(&tstats->syncp);
	u64_stats_add(&tstats->rx_packets, packets);
	u64_stats_add(&tstats->rx_bytes, bytes);
	u64_stats_update_end(&tstats->syncp);
}

/* For this server: counted here, the stack does the rest. */
static void topoopt_relay_local(const struct topoopt_port *port,
				const struct topoopt_table *table,
				const struct topoopt_route *route,
				struct sk_buff *skb, struct topoopt_flow *flow)
{
	struct net_device *dev = port->tdev->dev;
	u32 packets, bytes;

	packets = topoopt_flow_wire(skb, flow, &bytes);
	topoopt_stats_add_bytes(port->stats, TOPOOPT_LOCAL_PACKETS, packets,
				bytes);
	if (topoopt_account_enabled())
		topoopt_account(port->tdev, port, NULL,
				topoopt_flow_source(table, skb, flow),
				route->server, topoopt_flow_class(skb, flow),
				packets, bytes);
	if (route->type == TOPOOPT_ROUTE_TYPE_NODE) {
		skb->dev = dev;
		topoopt_relay_count(dev, packets, bytes);
	}
}

/*
 * Not counted under any server, but accounted all the same, so that a comparison with
 * the counters of the NIC finds every frame that the kernel saw. @flow is NULL when the
 * packet was not parsed.
 */
static void topoopt_relay_account(const struct topoopt_port *port,
				  const struct sk_buff *skb, struct topoopt_flow *flow,
				  u32 class)
{
	u32 packets = 1, bytes = ETH_HLEN + skb->len;

	if (!topoopt_account_enabled())
		return;
	if (flow)
		packets = topoopt_flow_wire(skb, flow, &bytes);
	else if (skb_vlan_tag_present(skb))
		bytes += VLAN_HLEN;
	topoopt_account(port->tdev, port, NULL, TOPOOPT_SERVER_NONE,
			TOPOOPT_SERVER_NONE, class, packets, bytes);
}

/* Left to the stack. @flow is NULL when the packet was not parsed. */
static rx_handler_result_t topoopt_relay_pass(const struct topoopt_port *port,
					      const struct sk_buff *skb,
					      struct topoopt_flow *flow)
{
	topoopt_relay_account(port, skb, flow, TOPOOPT_TRAFFIC_CLASS_OTHER);
	return RX_HANDLER_PASS;
}

/* Checks of neighbours end here, whatever they say; the stack gets others' frames. */
static noinline rx_handler_result_t topoopt_relay_check(struct sk_buff **pskb,
							const struct topoopt_port *port)
{
	struct sk_buff *skb = skb_share_check(*pskb, GFP_ATOMIC);

	if (unlikely(!skb)) {
		topoopt_stats_add(port->stats, TOPOOPT_DROP_NOMEM, 1);
		return RX_HANDLER_CONSUMED;
	}
	*pskb = skb;
	if (!topoopt_continuity_receive(port, skb))
		return topoopt_relay_pass(port, skb, NULL);
	topoopt_relay_account(port, skb, NULL, TOPOOPT_ACCOUNT_CHECK);
	consume_skb(skb);
	return RX_HANDLER_CONSUMED;
}

/*
 * While the topoopt device is down, ports are NICs like others. What they would relay is
 * dropped: neighbours do not know yet.
 */
static noinline rx_handler_result_t topoopt_relay_down(const struct topoopt_port *port,
						       const struct topoopt_table *table,
						       struct sk_buff *skb)
{
	struct topoopt_route route;
	struct topoopt_flow flow;

	if (!topoopt_flow_parse(skb, skb->protocol, &flow) ||
	    !topoopt_flow_lookup(table, skb, &flow, &route) ||
	    route.type != TOPOOPT_ROUTE_TYPE_UNICAST || topoopt_flow_scoped(skb, &flow))
		return topoopt_relay_pass(port, skb, NULL);
	topoopt_output_drop(port->stats, skb, TOPOOPT_DROP_DOWN,
			    SKB_DROP_REASON_IP_INNOROUTES);
	return RX_HANDLER_CONSUMED;
}

/**
 * topoopt_relay_receive() - take a packet that arrived at a port
 * @pskb: packet, after GRO, taps and tc ingress; data at the network header,
 *	the outermost VLAN tag taken out
 *
 * Under RCU. Whatever is not IP, has no route, or must not leave its link goes
 * on to the stack untouched. So does everything that is not to be relayed while the
 * topoopt device is down.
 */
rx_handler_result_t topoopt_relay_receive(struct sk_buff **pskb)
{
	const struct topoopt_table *table;
	struct sk_buff *skb = *pskb;
	struct topoopt_route route;
	struct topoopt_port *port;
	struct topoopt_flow flow;

	port = rcu_dereference(skb->dev->rx_handler_data);
	table = rcu_dereference(port->tdev->table);
	if (unlikely(skb->protocol == htons(ETH_P_CFM)))
		return topoopt_relay_check(pskb, port);
	if (unlikely(skb->pkt_type != PACKET_HOST || !table))
		return topoopt_relay_pass(port, skb, NULL);

	skb = skb_share_check(skb, GFP_ATOMIC);
	if (unlikely(!skb)) {
		topoopt_stats_add(port->stats, TOPOOPT_DROP_NOMEM, 1);
		return RX_HANDLER_CONSUMED;
	}
	*pskb = skb;

	if (unlikely(!netif_running(port->tdev->dev)))
		return topoopt_relay_down(port, table, skb);
	if (unlikely(!topoopt_flow_parse(skb, skb->protocol, &flow)))
		return topoopt_relay_pass(port, skb, NULL);
	if (unlikely(!topoopt_flow_lookup(table, skb, &flow, &route))) {
		topoopt_stats_add(port->stats, TOPOOPT_MISS_PACKETS,
				  skb_shinfo(skb)->gso_segs ?: 1);
		return topoopt_relay_pass(port, skb, &flow);
	}

	switch (route.type) {
	case TOPOOPT_ROUTE_TYPE_LOCAL:
		if (likely(!topoopt_relay_wrong_port(port, &route, skb, &flow))) {
			topoopt_relay_local(port, table, &route, skb, &flow);
			return RX_HANDLER_PASS;
		}
		fallthrough;
	case TOPOOPT_ROUTE_TYPE_UNICAST:
		if (unlikely(topoopt_flow_scoped(skb, &flow) ||
			     topoopt_flow_alert(skb, &flow)))
			return topoopt_relay_pass(port, skb, &flow);
		topoopt_relay_unicast(port, table, &route, skb, &flow);
		return RX_HANDLER_CONSUMED;
	default:
		topoopt_relay_local(port, table, &route, skb, &flow);
		return RX_HANDLER_ANOTHER;
	}
}
