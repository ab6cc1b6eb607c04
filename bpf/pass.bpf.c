// SPDX-License-Identifier: GPL-2.0
/*
 * Passes all frames on. Some drivers send what XDP redirects only while they have a program:
 * this one is for interfaces that ports transmit through.
 */

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

SEC("xdp.frags")
int topoopt_pass(struct xdp_md *ctx)
{
	return XDP_PASS;
}

char LICENSE[] SEC("license") = "GPL";
