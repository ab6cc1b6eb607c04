// SPDX-License-Identifier: GPL-2.0
/*
 * The relay at XDP. The module looks a frame up in its table, rewrites and counts
 * it. What it does not take goes on to the stack, and so to the module's rx_handler,
 * which has queues to put packets in and answers with ICMP.
 *
 * Redirecting by ifindex fills the same bulk queues as a devmap does, without a
 * map that would have to follow the ports.
 */

#include <linux/bpf.h>
#include <linux/topoopt_bpf.h>
#include <bpf/bpf_helpers.h>

/* TOPOOPT_XDP_*: what may be relayed here; set at load. */
const volatile __u32 relay_flags;

SEC("xdp.frags")
int topoopt_relay(struct xdp_md *ctx)
{
	__u32 ifindex = topoopt_xdp_relay(ctx, relay_flags);

	return ifindex ? bpf_redirect(ifindex, 0) : XDP_PASS;
}

char LICENSE[] SEC("license") = "GPL";
