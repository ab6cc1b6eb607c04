// SPDX-License-Identifier: GPL-2.0
/*
 * Traffic counters on the module's accounting tracepoint, which hands over the
 * ports, servers, class and size that the relay knows already.
 *
 * One topoopt device is counted, set at load.
 */

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "traffic_count.bpf.h"

/* inode number of the network namespace << 32 | ifindex */
const volatile __u64 traffic_device;

/* Arguments of the tracepoint, in kmod/trace.h. */
enum { DEVICE, IN, OUT, SRC, DST, CLASS, PACKETS, BYTES };

SEC("raw_tp/topoopt_account")
int traffic(struct bpf_raw_tracepoint_args *ctx)
{
	struct traffic_key key = {
		.in = ctx->args[CLASS] << TRAFFIC_IFINDEX_BITS | ctx->args[IN],
		.out = ctx->args[OUT],
		.servers = traffic_servers(ctx->args[SRC], ctx->args[DST]),
	};

	if (ctx->args[DEVICE] == traffic_device)
		traffic_count(&key, ctx->args[PACKETS], ctx->args[BYTES]);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
