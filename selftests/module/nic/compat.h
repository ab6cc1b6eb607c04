/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOPOOPT_NIC_COMPAT_H
#define TOPOOPT_NIC_COMPAT_H

/* What differs between kernels: told by macros, and by Kbuild's looks into headers. */

#include <linux/hrtimer.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <net/xdp.h>
#ifdef TOPOOPT_HAVE_NET_GSO_H
#include <net/gso.h>
#endif
#ifdef TOPOOPT_HAVE_PAGE_POOL_HELPERS
#include <net/page_pool/helpers.h>
#else
#include <net/page_pool.h>
#endif

static inline void nic_compat_hrtimer(struct hrtimer *timer,
				      enum hrtimer_restart (*function)(struct hrtimer *timer),
				      enum hrtimer_mode mode)
{
#ifdef TOPOOPT_HAVE_HRTIMER_SETUP
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, mode);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, mode);
	timer->function = function;
#endif
}

/* Add a page to a frame, which takes it over. */
static inline void nic_compat_add_frag(struct xdp_buff *xdp, struct page *page, u32 size)
{
#ifdef TOPOOPT_HAVE_XDP_BUFF_ADD_FRAG
	xdp_buff_add_frag(xdp, page_to_netmem(page), 0, size, PAGE_SIZE);
#else
	struct skb_shared_info *info = xdp_get_shared_info_from_buff(xdp);

	if (!xdp_buff_has_frags(xdp)) {
		xdp_buff_set_frags_flag(xdp);
		info->nr_frags = 0;
		info->xdp_frags_size = 0;
	}
	__skb_fill_page_desc_noacc(info, info->nr_frags++, page, 0, size);
	info->xdp_frags_size += size;
#endif
}

/*
 * Tell XDP what a device does: whether it redirects, and whether it sends what is
 * redirected to it, in how many pieces it may be. Before 6.3 nobody asks.
 */
static inline void nic_compat_xdp_features(struct net_device *dev, bool redirects, bool sends,
					   bool frags)
{
#ifdef TOPOOPT_HAVE_XDP_FEATURES
	xdp_set_features_flag(dev, NETDEV_XDP_ACT_BASIC | NETDEV_XDP_ACT_RX_SG |
			      (redirects ? NETDEV_XDP_ACT_REDIRECT : 0) |
			      (sends ? NETDEV_XDP_ACT_NDO_XMIT : 0) |
			      (sends && frags ? NETDEV_XDP_ACT_NDO_XMIT_SG : 0));
#endif
}

#endif
