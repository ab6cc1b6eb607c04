// SPDX-License-Identifier: GPL-2.0
/* What nic.sh tests the test NIC's XDP with. */

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <bpf/bpf_helpers.h>

enum { SEEN_LINEAR, SEEN_LENGTH, TARGET, VALUES };

/* Bytes of the last of the longest frames; where nic_redirect sends to. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, VALUES);
	__type(key, __u32);
	__type(value, __u32);
} nic_values SEC(".maps");

static __u32 *value(__u32 which)
{
	return bpf_map_lookup_elem(&nic_values, &which);
}

SEC("xdp.frags")
int nic_look(struct xdp_md *ctx)
{
	__u32 *linear = value(SEEN_LINEAR), *length = value(SEEN_LENGTH);
	__u32 bytes = bpf_xdp_get_buff_len(ctx);

	if (linear && length && bytes >= *length) {
		*linear = ctx->data_end - ctx->data;
		*length = bytes;
	}
	return XDP_PASS;
}

SEC("xdp.frags")
int nic_redirect(struct xdp_md *ctx)
{
	__u32 *target = value(TARGET);

	return target ? bpf_redirect(*target, 0) : XDP_ABORTED;
}

SEC("xdp.frags")
int nic_return(struct xdp_md *ctx)
{
	struct ethhdr eth;

	if (bpf_xdp_load_bytes(ctx, 0, &eth, sizeof(eth)))
		return XDP_ABORTED;
	if (eth.h_proto != __builtin_bswap16(0x88b5))
		return XDP_PASS;
	if (bpf_xdp_store_bytes(ctx, 0, eth.h_source, ETH_ALEN) ||
	    bpf_xdp_store_bytes(ctx, ETH_ALEN, eth.h_dest, ETH_ALEN))
		return XDP_ABORTED;
	return XDP_TX;
}

SEC("xdp")
int nic_plain(struct xdp_md *ctx)
{
	return XDP_PASS;
}

char LICENSE[] SEC("license") = "GPL";
