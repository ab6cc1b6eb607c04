// SPDX-License-Identifier: GPL-2.0
/* From the stack and from XDP to the wire. */

#include <linux/bpf.h>
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>

#include "compat.h"
#include "nic.h"

/* Do for a frame what hardware does: its tag, its checksum, its padding. */
static void nic_transmit_one(struct nic_function *f, struct sk_buff *skb, unsigned int class)
{
	if (skb_vlan_tag_present(skb))
		skb = __vlan_hwaccel_push_inside(skb);
	if (!skb)
		return;
	if (skb->ip_summed == CHECKSUM_PARTIAL && skb_checksum_help(skb)) {
		kfree_skb(skb);
		return;
	}
	if (eth_skb_pad(skb))
		return;
	nic_pcie_send(f, skb, class);
}

netdev_tx_t nic_transmit_skb(struct sk_buff *skb, struct net_device *dev)
{
	struct nic_function *f = netdev_priv(dev);
	int class = netdev_txq_to_tc(dev, skb_get_queue_mapping(skb));
	struct sk_buff *segments, *next;

	class = max(class, 0);
	skb_tx_timestamp(skb);
	if (!skb_is_gso(skb)) {
		nic_transmit_one(f, skb, class);
		nic_pcie_throttle(f);
		return NETDEV_TX_OK;
	}
	segments = skb_gso_segment(skb, dev->features & ~NETIF_F_GSO_MASK);
	if (IS_ERR_OR_NULL(segments)) {
		kfree_skb(skb);
		return NETDEV_TX_OK;
	}
	consume_skb(skb);
	skb_list_walk_safe(segments, skb, next) {
		skb_mark_not_on_list(skb);
		nic_transmit_one(f, skb, class);
	}
	nic_pcie_throttle(f);
	return NETDEV_TX_OK;
}

/* What the hardware wants of a frame beside its descriptor. */
#define NIC_INLINE_MIN	(ETH_HLEN + VLAN_HLEN)

/* Send a copy of an XDP frame; false without room, memory or headers in its linear part. */
bool nic_transmit_frame(struct nic_function *f, struct xdp_frame *frame)
{
	unsigned int len = xdp_get_frame_len(frame);
	struct skb_shared_info *info;
	struct sk_buff *skb;
	int i;

	if (frame->len < NIC_INLINE_MIN) {
		nic_count(f, NIC_TX_XDP_REFUSED, 1);
		return false;
	}
	if (nic_pcie_busy(f)) {
		nic_count(f, NIC_TX_XDP_FULL, 1);
		return false;
	}
	skb = alloc_skb(len, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return false;
	skb_put_data(skb, frame->data, frame->len);
	if (xdp_frame_has_frags(frame)) {
		info = xdp_get_shared_info_from_frame(frame);
		for (i = 0; i < info->nr_frags; i++)
			skb_put_data(skb, skb_frag_address(&info->frags[i]),
				     skb_frag_size(&info->frags[i]));
	}
	nic_transmit_one(f, skb, 0);
	return true;
}

/* Whether XDP may send, and on this processor. Under RCU. */
static int nic_transmit_xdp_allowed(struct nic_function *f)
{
	const struct nic_channels *channels = rcu_dereference(f->channels);

	if (!channels || !netif_carrier_ok(f->dev))
		return -ENETDOWN;
	if (!rcu_access_pointer(f->program) || smp_processor_id() >= channels->n) {
		nic_count(f, NIC_TX_XDP_REFUSED, 1);
		return -ENXIO;
	}
	return 0;
}

int nic_transmit_xdp(struct net_device *dev, int n, struct xdp_frame **frames, u32 flags)
{
	struct nic_function *f = netdev_priv(dev);
	int sent = 0, err;

	if (unlikely(flags & ~XDP_XMIT_FLAGS_MASK))
		return -EINVAL;
	rcu_read_lock();
	err = nic_transmit_xdp_allowed(f);
	while (!err && sent < n && nic_transmit_frame(f, frames[sent])) {
		nic_count(f, NIC_TX_XDP_XMIT, 1);
		xdp_return_frame(frames[sent++]);
	}
	rcu_read_unlock();
	return err ?: sent;
}
