/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOPOOPT_ACCOUNT_H
#define TOPOOPT_ACCOUNT_H

#include <net/net_namespace.h>

#include "topoopt.h"
#include "trace.h"

static inline bool topoopt_account_enabled(void)
{
	return trace_topoopt_account_enabled();
}

/*
 * The accounting point, see trace.h. @in is NULL for what this server
 * originated, @out for what was delivered to it.
 */
static __always_inline void topoopt_account(const struct topoopt_dev *tdev,
					    const struct topoopt_port *in,
					    const struct topoopt_port *out,
					    u32 src, u32 dst, u32 class,
					    u32 packets, u64 bytes)
{
	const struct net_device *dev = tdev->dev;

	trace_topoopt_account((u64)dev_net(dev)->ns.inum << 32 | (u32)dev->ifindex,
			      in ? in->ifindex : 0, out ? out->ifindex : 0, src,
			      dst, class, packets, bytes);
}

#endif
