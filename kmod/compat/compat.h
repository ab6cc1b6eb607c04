/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOPOOPT_COMPAT_H
#define TOPOOPT_COMPAT_H

/*
 * Gives older kernels what the module takes from newer ones, under the newer names.
 * Kbuild includes it in front of every source, so that sources are as the kernel's own
 * tree would have them; a kernel's headers tell what it has, by macros or, where there
 * is none, by compat/probe.mk. A few functions of the module differ by
 * TOPOOPT_HAVE_* inside; `make intree` resolves these.
 */

#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/netdevice.h>
#include <linux/netlink.h>

/* Since 6.2. Older kernels cannot carry what is known at run time: text before ": ". */
#ifndef NL_SET_ERR_MSG_FMT
#define NL_SET_ERR_MSG_FMT(extack, fmt, ...)				\
do {									\
	struct netlink_ext_ack *__extack = (extack);			\
	static char __text[] = fmt;					\
									\
	no_printk(fmt, ##__VA_ARGS__);					\
	*strchrnul(__text, ':') = '\0';					\
	if (__extack)							\
		__extack->_msg = __text;				\
} while (0)
#endif

/* Since 6.3. */
#ifndef __bpf_kfunc
#define __bpf_kfunc	__used noinline
#endif
#ifndef TOPOOPT_HAVE_XDP_FEATURES
#define NETDEV_XDP_FEAT_CHANGE	0	/* no event */
#endif

/* Since 6.6. */
#ifndef __counted_by
#define __counted_by(member)
#endif

/* Since 6.7. */
#ifndef __bpf_kfunc_start_defs
#define __bpf_kfunc_start_defs()					\
	__diag_push();							\
	__diag_ignore(GCC, 8, "-Wmissing-prototypes", "kfuncs are called by BPF only");
#define __bpf_kfunc_end_defs()	__diag_pop()
#endif

/* Since 6.9. */
#ifndef BTF_KFUNCS_START
#define BTF_KFUNCS_START	BTF_SET8_START
#define BTF_KFUNCS_END		BTF_SET8_END
#endif

#ifndef TOPOOPT_HAVE_DROP_REASON_RECURSION_LIMIT
#define SKB_DROP_REASON_RECURSION_LIMIT	SKB_DROP_REASON_NOT_SPECIFIED
#endif

#ifndef TOPOOPT_HAVE_NETNS_IMMUTABLE
#define netns_immutable	netns_local
#endif

/* Since 6.13. */
#ifndef TOPOOPT_HAVE_HRTIMER_SETUP
#define hrtimer_setup(timer, callback, clock, mode)			\
do {									\
	hrtimer_init((timer), (clock), (mode));				\
	(timer)->function = (callback);					\
} while (0)
#endif

/* Since 6.2. */
#ifndef TOPOOPT_HAVE_GENL_SPLIT_OPS
#include "genl.h"
#endif

#endif
