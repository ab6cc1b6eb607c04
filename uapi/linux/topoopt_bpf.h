/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
#ifndef _UAPI_LINUX_TOPOOPT_BPF_H
#define _UAPI_LINUX_TOPOOPT_BPF_H

/*
 * What topoopt_fwd offers BPF programs: functions (kfuncs) for XDP and tc, there
 * when the module has BTF. A program that calls one holds the module.
 */

#include <linux/types.h>

/**
 * enum topoopt_verdict - what the relay would do with a packet
 * @TOPOOPT_VERDICT_MISS: leave it to the stack: no route
 * @TOPOOPT_VERDICT_LOCAL: deliver it on the port it arrived at
 * @TOPOOPT_VERDICT_NODE: deliver it as received by the topoopt device
 * @TOPOOPT_VERDICT_RELAY: send it on
 */
enum topoopt_verdict {
	TOPOOPT_VERDICT_MISS,
	TOPOOPT_VERDICT_LOCAL,
	TOPOOPT_VERDICT_NODE,
	TOPOOPT_VERDICT_RELAY,
};

/**
 * struct topoopt_lookup - a packet's route; for LOCAL and NODE @server only
 * @server: index of the server that owns the destination, or
 *	TOPOOPT_SERVER_NONE
 * @port: ifindex of the egress port
 * @ifindex: of what that port transmits through, itself unless told otherwise
 * @mtu: of @ifindex, in bytes of IP packet
 * @dmac: destination MAC address, of the next server
 * @smac: source MAC address, of @ifindex
 * @backup: a backup next hop, because no primary is live
 * @alternate: the alternate for the port that the packet arrived at
 */
struct topoopt_lookup {
	__u32 server;
	__u32 port;
	__u32 ifindex;
	__u32 mtu;
	__u8 dmac[6];
	__u8 smac[6];
	__u8 backup;
	__u8 alternate;
	__u8 reserved[2];
};

/*
 * Flags of topoopt_xdp_relay(): the classes that it may relay beside RoCEv2;
 * whether the program runs in generic mode, in which any device sends what is
 * redirected; whether ports will do whose driver dropped redirected frames since
 * their link came up.
 */
#define TOPOOPT_XDP_ROCE	(1U << 0)	/* 1 << enum topoopt_traffic_class */
#define TOPOOPT_XDP_TCP		(1U << 1)
#define TOPOOPT_XDP_OTHER	(1U << 2)
#define TOPOOPT_XDP_GENERIC	(1U << 3)
#define TOPOOPT_XDP_LOSSY	(1U << 4)

#ifdef __bpf__
struct xdp_md;
struct __sk_buff;

/* See kmod/xdp.c and kmod/kfunc.c. */
extern __u32 topoopt_xdp_relay(struct xdp_md *ctx, __u32 flags)
	__attribute__((section(".ksyms")));
extern int topoopt_xdp_lookup(struct xdp_md *ctx, __u32 nhoff,
			      struct topoopt_lookup *lookup, __u32 lookup__sz)
	__attribute__((section(".ksyms")));
extern int topoopt_skb_lookup(struct __sk_buff *ctx, __u32 nhoff,
			      struct topoopt_lookup *lookup, __u32 lookup__sz)
	__attribute__((section(".ksyms")));
#endif

#endif
