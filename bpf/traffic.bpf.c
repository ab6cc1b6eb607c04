// SPDX-License-Identifier: GPL-2.0
/*
 * Traffic counters at the module's accounting point, which passes the ports,
 * servers, class and size that the relay knows already: see
 * kmod/account.h.
 */

#include <linux/bpf.h>
#include <stdbool.h>
#include <bpf/bpf_helpers.h>

#include "traffic_count.bpf.h"

/* Context: enum topoopt_account_argument, in the order of a cell. */
SEC("raw_tp")
int traffic(struct bpf_raw_tracepoint_args *ctx)
{
	traffic_count((const volatile struct traffic_cell *)ctx->args);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
