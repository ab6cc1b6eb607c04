// SPDX-License-Identifier: GPL-2.0
/*
 * Programs other than toctl's. Those that are named by their type forward on their own, with
 * nothing but what the module's lookups tell them: the TTL stays as it is, which is how xdp.sh
 * knows their frames.
 */

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <linux/topoopt_bpf.h>
#include <bpf/bpf_helpers.h>

SEC("xdp.frags")
int lookup_xdp(struct xdp_md *ctx)
{
	void *end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = (void *)(long)ctx->data;
	struct topoopt_lookup lookup;

	if ((void *)(eth + 1) > end ||
	    topoopt_xdp_lookup(ctx, sizeof(*eth), &lookup, sizeof(lookup)) !=
	    TOPOOPT_VERDICT_RELAY)
		return XDP_PASS;
	__builtin_memcpy(eth->h_dest, lookup.dmac, ETH_ALEN);
	__builtin_memcpy(eth->h_source, lookup.smac, ETH_ALEN);
	return bpf_redirect(lookup.ifindex, 0);
}

/* Relays RoCEv2, which takes no flag. */
SEC("xdp.frags")
int lookup_relay(struct xdp_md *ctx)
{
	__u32 ifindex = topoopt_xdp_relay(ctx, 0);

	return ifindex ? bpf_redirect(ifindex, 0) : XDP_PASS;
}

SEC("tc")
int lookup_tc(struct __sk_buff *ctx)
{
	struct topoopt_lookup lookup;

	if (topoopt_skb_lookup(ctx, sizeof(struct ethhdr), &lookup, sizeof(lookup)) !=
	    TOPOOPT_VERDICT_RELAY)
		return TC_ACT_UNSPEC;
	bpf_skb_store_bytes(ctx, 0, lookup.dmac, ETH_ALEN, 0);
	bpf_skb_store_bytes(ctx, ETH_ALEN, lookup.smac, ETH_ALEN, 0);
	return bpf_redirect(lookup.ifindex, 0);
}

char LICENSE[] SEC("license") = "GPL";
