/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOPOOPT_KFUNC_H
#define TOPOOPT_KFUNC_H

#include <linux/topoopt_bpf.h>
#include <linux/types.h>

struct __sk_buff;
struct xdp_md;

/* What BPF programs may call; documented where they are defined. */
u32 topoopt_xdp_relay(struct xdp_md *ctx, u32 flags);
int topoopt_xdp_lookup(struct xdp_md *ctx, u32 nhoff,
		       struct topoopt_lookup *lookup, u32 lookup__sz);
int topoopt_skb_lookup(struct __sk_buff *ctx, u32 nhoff,
		       struct topoopt_lookup *lookup, u32 lookup__sz);

/* Registers them where the kernel can; the rest of the module does without. */
void topoopt_kfunc_init(void);

#endif
