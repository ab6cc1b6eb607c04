/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOPOOPT_COMPAT_H
#define TOPOOPT_COMPAT_H

/*
 * What differs between the kernels supported. Told apart by the headers
 * themselves: macros here, the rest by compat/probe.mk.
 */

#include <linux/netdevice.h>
#include <linux/skbuff.h>
#ifdef TOPOOPT_HAVE_NET_GSO_H
#include <net/gso.h>
#endif

#ifdef TOPOOPT_HAVE_DROP_REASON_RECURSION_LIMIT
#define TOPOOPT_DROP_REASON_RECURSION	SKB_DROP_REASON_RECURSION_LIMIT
#else
#define TOPOOPT_DROP_REASON_RECURSION	SKB_DROP_REASON_NOT_SPECIFIED
#endif

/*
 * Senders and receivers on one CPU preempt each other although bottom halves are off:
 * what is per CPU is not one's own for longer than one access.
 */
#ifndef TOPOOPT_BH_PREEMPTIBLE
#define TOPOOPT_BH_PREEMPTIBLE	IS_ENABLED(CONFIG_PREEMPT_RT)
#endif

/* Transmit needs no lock; the device cannot change namespaces. */
static inline void topoopt_compat_device_setup(struct net_device *dev)
{
#ifdef NETIF_F_LLTX
	dev->features |= NETIF_F_LLTX | NETIF_F_NETNS_LOCAL;
#else
	dev->lltx = true;
#ifdef TOPOOPT_HAVE_NETNS_IMMUTABLE
	dev->netns_immutable = true;
#else
	dev->netns_local = true;
#endif
#endif
}

#endif
