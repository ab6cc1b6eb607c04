/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOPOOPT_COMPAT_KFUNC_H
#define TOPOOPT_COMPAT_KFUNC_H

/* Functions for BPF programs, and what XDP may send through. */

#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/netdevice.h>
#include <net/xdp.h>

/* From 6.3, 6.7 and 6.9. */
#ifndef __bpf_kfunc
#define __bpf_kfunc	__used noinline
#endif
#ifndef __bpf_kfunc_start_defs
#define __bpf_kfunc_start_defs()					\
	__diag_push();							\
	__diag_ignore(GCC, 8, "-Wmissing-prototypes", "kfuncs are called by BPF only");
#define __bpf_kfunc_end_defs()	__diag_pop()
#endif
#ifndef BTF_KFUNCS_START
#define BTF_KFUNCS_START	BTF_SET8_START
#define BTF_KFUNCS_END		BTF_SET8_END
#endif

/* Whether a program for raw tracepoints may sleep, which it could not before. */
static inline bool topoopt_compat_prog_sleeps(const struct bpf_prog *prog)
{
#ifdef TOPOOPT_HAVE_PROG_SLEEPABLE
	return prog->sleepable;
#else
	return false;
#endif
}

/*
 * Whether a program has a stack of its own on each processor. Run again in an
 * interrupt, where somebody else may have attached it too, it would overwrite what
 * it was interrupted with.
 */
static inline bool topoopt_compat_prog_private_stack(const struct bpf_prog *prog)
{
#ifdef TOPOOPT_HAVE_PROG_PRIVATE_STACK
	return prog->aux->jits_use_priv_stack;
#else
	return false;
#endif
}

/* Whether a driver redirects frames for a program in it. Before 6.3, none says so. */
static inline bool topoopt_compat_xdp_redirect(const struct net_device *dev)
{
#ifdef TOPOOPT_HAVE_XDP_FEATURES
	return dev->xdp_features & NETDEV_XDP_ACT_REDIRECT;
#else
	return dev->netdev_ops->ndo_bpf;
#endif
}

/* Whether a driver sends what XDP redirects, in how many pieces it may be. */
static __always_inline bool topoopt_compat_xdp_xmit(const struct net_device *dev, bool frags)
{
#ifdef TOPOOPT_HAVE_XDP_FEATURES
	xdp_features_t need = NETDEV_XDP_ACT_NDO_XMIT |
			      (frags ? NETDEV_XDP_ACT_NDO_XMIT_SG : 0);

	return (READ_ONCE(dev->xdp_features) & need) == need;
#else
	return !frags && dev->netdev_ops->ndo_xdp_xmit;
#endif
}

#endif
