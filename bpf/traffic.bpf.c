// SPDX-License-Identifier: GPL-2.0
/*
 * Traffic counters on the module's accounting tracepoint, which hands over the
 * ports, servers, class and size that the relay knows already.
 *
 *	traffic_btf	typed arguments, where the module has BTF
 *	traffic_raw	the same by name, where it has none
 *
 * One network namespace and one topoopt device are counted, set at load.
 */

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "traffic_count.bpf.h"

/* Members used, relocated to the running kernel's layout. */
#pragma clang attribute push(__attribute__((preserve_access_index)), \
			     apply_to = record)
struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct net_device {
	int ifindex;
	possible_net_t nd_net;
};
#pragma clang attribute pop

const volatile __u32 traffic_netns;	/* inode number */
const volatile __s32 traffic_device;	/* ifindex of the topoopt device */

static __always_inline void account(__u32 in, __u32 out, __u32 src, __u32 dst,
				    __u32 class, __u32 packets, __u64 bytes)
{
	struct traffic_key key = {
		.in = class << TRAFFIC_IFINDEX_BITS | in,
		.out = out,
		.servers = traffic_servers(src, dst),
	};

	traffic_count(&key, packets, bytes);
}

SEC("tp_btf/topoopt_account")
int BPF_PROG(traffic_btf, const struct net_device *dev,
	     const struct net_device *in, const struct net_device *out,
	     __u32 src, __u32 dst, __u32 class, __u32 packets, __u64 bytes)
{
	if (!dev || dev->ifindex != traffic_device ||
	    dev->nd_net.net->ns.inum != traffic_netns)
		return 0;
	account(in ? in->ifindex : 0, out ? out->ifindex : 0, src, dst, class,
		packets, bytes);
	return 0;
}

SEC("raw_tp/topoopt_account")
int traffic_raw(struct bpf_raw_tracepoint_args *ctx)
{
	struct net_device *dev = (void *)ctx->args[0];
	struct net_device *in = (void *)ctx->args[1];
	struct net_device *out = (void *)ctx->args[2];

	if (BPF_CORE_READ(dev, ifindex) != traffic_device ||
	    BPF_CORE_READ(dev, nd_net.net, ns.inum) != traffic_netns)
		return 0;
	account(in ? BPF_CORE_READ(in, ifindex) : 0,
		out ? BPF_CORE_READ(out, ifindex) : 0, ctx->args[3],
		ctx->args[4], ctx->args[5], ctx->args[6], ctx->args[7]);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
