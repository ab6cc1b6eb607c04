/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM topoopt

#if !defined(TOPOOPT_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define TOPOOPT_TRACE_H

#include <linux/netdevice.h>
#include <linux/tracepoint.h>
#include <net/ipv6.h>

#include "peers.h"
#include "flow.h"
#include "table.h"

TRACE_DEFINE_ENUM(TOPOOPT_TRAFFIC_CLASS_ROCE);
TRACE_DEFINE_ENUM(TOPOOPT_TRAFFIC_CLASS_TCP);
TRACE_DEFINE_ENUM(TOPOOPT_TRAFFIC_CLASS_OTHER);

TRACE_DEFINE_ENUM(TOPOOPT_CHECK_REASON_HEARD);
TRACE_DEFINE_ENUM(TOPOOPT_CHECK_REASON_UNPROVEN);
TRACE_DEFINE_ENUM(TOPOOPT_CHECK_REASON_NO_TABLE);
TRACE_DEFINE_ENUM(TOPOOPT_CHECK_REASON_DOWN);
TRACE_DEFINE_ENUM(TOPOOPT_CHECK_REASON_SILENT);
TRACE_DEFINE_ENUM(TOPOOPT_CHECK_REASON_STRANGER);
TRACE_DEFINE_ENUM(TOPOOPT_CHECK_REASON_UNHEARD);
TRACE_DEFINE_ENUM(TOPOOPT_CHECK_REASON_FABRIC);
TRACE_DEFINE_ENUM(TOPOOPT_CHECK_REASON_RECOVERING);

#define topoopt_trace_class(class)					\
	__print_symbolic(class, { TOPOOPT_TRAFFIC_CLASS_ROCE, "roce" },	\
			 { TOPOOPT_TRAFFIC_CLASS_TCP, "tcp" },		\
			 { TOPOOPT_TRAFFIC_CLASS_OTHER, "other" },	\
			 { TOPOOPT_ACCOUNT_CHECK, "check" })

#define topoopt_trace_nexthop(kind)					\
	__print_symbolic(kind, { 0, "primary" }, { 1, "backup" },	\
			 { 2, "alternate" })

int topoopt_account_reg(void);
void topoopt_account_unreg(void);

/* The accounting point, see account.h; @args as for the programs there. */
TRACE_EVENT_FN(topoopt_account,
	TP_PROTO(const struct net_device *dev, const u64 *args),

	TP_ARGS(dev, args),

	TP_STRUCT__entry(
		__field(u64, bytes)
		__field(u32, dev)
		__field(u32, in)
		__field(u32, out)
		__field(u32, src)
		__field(u32, dst)
		__field(u32, class)
		__field(u32, packets)
	),

	TP_fast_assign(
		u64 ports = args[TOPOOPT_ACCOUNT_ARGUMENT_PORTS];
		u64 pair = args[TOPOOPT_ACCOUNT_ARGUMENT_PAIR];

		__entry->dev = dev->ifindex;
		__entry->in = ports & GENMASK(29, 0);
		__entry->out = ports >> 32;
		__entry->src = pair >> 32;
		__entry->dst = pair;
		__entry->class = ports >> 30 & 3;
		__entry->packets = args[TOPOOPT_ACCOUNT_ARGUMENT_PACKETS];
		__entry->bytes = args[TOPOOPT_ACCOUNT_ARGUMENT_BYTES];
	),

	TP_printk("dev=%u in=%u out=%u src=%d dst=%d class=%s packets=%u bytes=%llu",
		  __entry->dev, __entry->in, __entry->out, (int)__entry->src,
		  (int)__entry->dst, topoopt_trace_class(__entry->class),
		  __entry->packets, __entry->bytes),

	topoopt_account_reg, topoopt_account_unreg
);

/* A packet about to be queued for egress, TTL as received. */
TRACE_EVENT(topoopt_relay,
	TP_PROTO(const struct net_device *dev, const struct net_device *in,
		 const struct net_device *out, const struct sk_buff *skb,
		 const struct topoopt_flow *flow,
		 const struct topoopt_nexthop *nexthop),

	TP_ARGS(dev, in, out, skb, flow, nexthop),

	TP_STRUCT__entry(
		__array(char, dev, IFNAMSIZ)
		__array(char, in, IFNAMSIZ)
		__array(char, out, IFNAMSIZ)
		__array(u8, saddr, sizeof(struct in6_addr))
		__array(u8, daddr, sizeof(struct in6_addr))
		__field(u32, len)
		__field(u32, qp)
		__field(u16, sport)
		__field(u16, dport)
		__field(u8, proto)
		__field(u8, ttl)
		__field(u8, kind)
	),

	TP_fast_assign(
		const struct iphdr *ip4 = topoopt_flow_ip4(skb, flow);
		const struct ipv6hdr *ip6 = topoopt_flow_ip6(skb, flow);

		strscpy_pad(__entry->dev, dev->name, IFNAMSIZ);
		strscpy_pad(__entry->in, in->name, IFNAMSIZ);
		strscpy_pad(__entry->out, out->name, IFNAMSIZ);
		if (flow->ipv6) {
			memcpy(__entry->saddr, &ip6->saddr, sizeof(ip6->saddr));
			memcpy(__entry->daddr, &ip6->daddr, sizeof(ip6->daddr));
			__entry->ttl = ip6->hop_limit;
		} else {
			ipv6_addr_set_v4mapped(ip4->saddr,
					       (struct in6_addr *)__entry->saddr);
			ipv6_addr_set_v4mapped(ip4->daddr,
					       (struct in6_addr *)__entry->daddr);
			__entry->ttl = ip4->ttl;
		}
		__entry->len = flow->len;
		__entry->proto = flow->proto;
		__entry->sport = ntohs(flow->sport);
		__entry->dport = ntohs(flow->dport);
		__entry->qp = flow->qp;
		__entry->kind = nexthop->ingress ? 2 : nexthop->backup;
	),

	TP_printk("%s: %s -> %s src=%pI6c dst=%pI6c ttl=%u proto=%u sport=%u dport=%u qp=%u len=%u nexthop=%s",
		  __entry->dev, __entry->in, __entry->out, __entry->saddr,
		  __entry->daddr, __entry->ttl, __entry->proto, __entry->sport,
		  __entry->dport, __entry->qp, __entry->len,
		  topoopt_trace_nexthop(__entry->kind))
);

#define topoopt_trace_reason(reason)					\
	__print_symbolic(reason, { TOPOOPT_CHECK_REASON_HEARD, "heard" },	\
			 { TOPOOPT_CHECK_REASON_UNPROVEN, "unproven" },	\
			 { TOPOOPT_CHECK_REASON_NO_TABLE, "no-table" },	\
			 { TOPOOPT_CHECK_REASON_DOWN, "down" },		\
			 { TOPOOPT_CHECK_REASON_SILENT, "silent" },	\
			 { TOPOOPT_CHECK_REASON_STRANGER, "stranger" },	\
			 { TOPOOPT_CHECK_REASON_UNHEARD, "unheard" },	\
			 { TOPOOPT_CHECK_REASON_FABRIC, "fabric" },	\
			 { TOPOOPT_CHECK_REASON_RECOVERING, "recovering" })

/* What continuity checks say of a neighbour is about to change to @reason. */
TRACE_EVENT(topoopt_peer,
	TP_PROTO(const struct topoopt_peer *peer, u8 reason),

	TP_ARGS(peer, reason),

	TP_STRUCT__entry(
		__field(u32, in)
		__field(u8, before)
		__field(u8, now)
		__array(char, server, TOPOOPT_CCM_SERVER)
		__array(char, port, TOPOOPT_CCM_PORT)
	),

	TP_fast_assign(
		__entry->in = peer->ifindex;
		__entry->before = peer->reason;
		__entry->now = reason;
		memcpy(__entry->server, peer->server, TOPOOPT_CCM_SERVER);
		memcpy(__entry->port, peer->port, TOPOOPT_CCM_PORT);
	),

	TP_printk("in=%u server=%s port=%s %s -> %s",
		  __entry->in, __entry->server, __entry->port,
		  topoopt_trace_reason(__entry->before), topoopt_trace_reason(__entry->now))
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
