// SPDX-License-Identifier: GPL-2.0
/* XDP paths that the relay benchmark (relay.sh) compares with. */

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#define AF_INET		2

/* As relay.sh numbers them. */
#define B1_IFINDEX	22
static const __u8 b1_mac[] = { 2, 0, 0, 0, 0, 0xb1 };
static const __u8 c0_mac[] = { 2, 0, 0, 0, 0, 0xc0 };

/* Constant MAC addresses, constant port. */
SEC("xdp.frags")
int bare(struct xdp_md *ctx)
{
	void *end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = (void *)(long)ctx->data;

	if ((void *)(eth + 1) > end)
		return XDP_DROP;
	__builtin_memcpy(eth->h_dest, c0_mac, ETH_ALEN);
	__builtin_memcpy(eth->h_source, b1_mac, ETH_ALEN);
	return bpf_redirect(B1_IFINDEX, 0);
}

/* The kernel's routing table, as the kernel's own sample and xdp-forward use it. */
SEC("xdp.frags")
int fib(struct xdp_md *ctx)
{
	void *end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = (void *)(long)ctx->data;
	struct iphdr *ip = (void *)(eth + 1);
	struct bpf_fib_lookup fib = { .family = AF_INET };
	__u32 check;

	if ((void *)(ip + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP) ||
	    ip->ttl <= 1)
		return XDP_PASS;
	fib.tos = ip->tos;
	fib.l4_protocol = ip->protocol;
	fib.tot_len = bpf_ntohs(ip->tot_len);
	fib.ipv4_src = ip->saddr;
	fib.ipv4_dst = ip->daddr;
	fib.ifindex = ctx->ingress_ifindex;
	if (bpf_fib_lookup(ctx, &fib, sizeof(fib), 0) != BPF_FIB_LKUP_RET_SUCCESS)
		return XDP_PASS;
	check = ip->check + bpf_htons(0x0100);
	ip->check = check + (check >= 0xffff);
	ip->ttl--;
	__builtin_memcpy(eth->h_dest, fib.dmac, ETH_ALEN);
	__builtin_memcpy(eth->h_source, fib.smac, ETH_ALEN);
	return bpf_redirect(fib.ifindex, 0);
}

char LICENSE[] SEC("license") = "GPL";
