// SPDX-License-Identifier: GPL-2.0
/* From the wire into a receive queue, and from there into memory, to XDP and to the stack. */

#include <linux/bpf.h>
#include <linux/etherdevice.h>
#include <linux/filter.h>
#include <linux/if_vlan.h>

#include "compat.h"
#include "nic.h"

#define NIC_HEADERS_MAX	256	/* bytes in which headers are looked for */

/* Give a frame to a function, which may not want it. Under RCU, bottom halves are off. */
void nic_receive_frame(struct nic_function *f, struct sk_buff *skb)
{
	if (!rcu_access_pointer(f->channels))
		goto drop;
	if (!nic_filter_vlan(f, skb)) {
		nic_count(f, NIC_RX_STEER_MISSED, 1);
		goto drop;
	}
	if (READ_ONCE(f->traits->rdma) && nic_roce_foreign(f, skb)) {
		nic_count(f, NIC_RX_RDMA, 1);
		goto drop;
	}
	if (skb->len > READ_ONCE(f->dev->mtu) + ETH_HLEN + 2 * VLAN_HLEN) {
		nic_count(f, NIC_RX_OVERSIZE, 1);
		goto drop;
	}
	skb->dev = f->dev;	/* until now the sender's, or of XDP, none */
	nic_pcie_receive(f, skb);
	return;

drop:
	kfree_skb(skb);
}

/* Put a frame into a receive queue. Under RCU, bottom halves are off. */
void nic_receive_queue(struct nic_function *f, struct sk_buff *skb)
{
	struct nic_channels *channels = rcu_dereference(f->channels);
	struct nic_channel *c;

	if (!channels)
		goto drop;
	c = channels->channel;
	if (channels->n > 1)
		c += reciprocal_scale(skb_get_hash(skb), channels->n);
	if (ptr_ring_produce(&c->ring, skb)) {
		nic_count(f, NIC_RX_OUT_OF_BUFFER, 1);
		goto drop;
	}
	napi_schedule(&c->napi);
	return;

drop:
	kfree_skb(skb);
}

/* Take the VLAN tag out of a frame, to skb->vlan_tci. */
static struct sk_buff *nic_receive_untag(struct sk_buff *skb)
{
	skb->protocol = htons(ETH_P_8021Q);
	__skb_pull(skb, ETH_HLEN);
	skb_reset_network_header(skb);
	skb = skb_vlan_untag(skb);
	if (skb)
		__skb_push(skb, ETH_HLEN);
	return skb;
}

/*
 * Bytes of a frame that go into the linear part. A driver that puts the whole frame there has
 * no other choice without a program; one that does not puts headers there.
 */
static unsigned int nic_receive_linear(struct nic_function *f, const struct bpf_prog *program,
				       const struct sk_buff *skb, void *data)
{
	unsigned int len = min_t(unsigned int, skb->len, NIC_LINEAR_MAX);
	unsigned int linear = READ_ONCE(f->traits->linear);

	if (linear >= NIC_LINEAR_MAX || (program && !program->aux->xdp_has_frags))
		return len;
	if (program)
		return min(len, linear);
	len = min_t(unsigned int, len, NIC_HEADERS_MAX);
	skb_copy_bits(skb, 0, data, len);
	return eth_get_headlen(f->dev, data, len);
}

/* Copy a frame into pages of the channel, as DMA would. */
static bool nic_receive_fill(struct nic_channel *c, const struct bpf_prog *program,
			     const struct sk_buff *skb, struct xdp_buff *xdp)
{
	struct page *page = page_pool_dev_alloc_pages(c->pool);
	unsigned int at, size;

	if (!page)
		return false;
	xdp_init_buff(xdp, PAGE_SIZE, &c->rxq);
	xdp_prepare_buff(xdp, page_address(page), XDP_PACKET_HEADROOM, 0, true);
	at = nic_receive_linear(c->function, program, skb, xdp->data);
	skb_copy_bits(skb, 0, xdp->data, at);
	xdp->data_end = xdp->data + at;
	for (; at < skb->len; at += size) {
		page = page_pool_dev_alloc_pages(c->pool);
		if (!page) {
			xdp_return_buff(xdp);
			return false;
		}
		size = min_t(unsigned int, skb->len - at, PAGE_SIZE);
		skb_copy_bits(skb, at, page_address(page), size);
		nic_compat_add_frag(xdp, page, size);
	}
	return true;
}

/* Make a packet of a frame, which takes over its pages. */
static struct sk_buff *nic_receive_build(struct xdp_buff *xdp)
{
	const struct skb_shared_info *info = xdp_get_shared_info_from_buff(xdp);
	unsigned int frags = 0, frags_size = 0;
	struct sk_buff *skb;

	if (xdp_buff_has_frags(xdp)) {
		frags = info->nr_frags;
		frags_size = info->xdp_frags_size;
	}
	skb = napi_build_skb(xdp->data_hard_start, xdp->frame_sz);
	if (!skb) {
		xdp_return_buff(xdp);
		return NULL;
	}
	skb_reserve(skb, xdp->data - xdp->data_hard_start);
	__skb_put(skb, xdp->data_end - xdp->data);
	if (xdp->data > xdp->data_meta)
		skb_metadata_set(skb, xdp->data - xdp->data_meta);
	skb_mark_for_recycle(skb);
	skb_shinfo(skb)->nr_frags = frags;
	skb->len += frags_size;
	skb->data_len += frags_size;
	skb->truesize += frags * PAGE_SIZE;
	return skb;
}

/* Hand a packet to the stack. */
static void nic_receive_deliver(struct nic_channel *c, struct sk_buff *skb, bool checksum,
				const struct sk_buff *wire)
{
	struct net_device *dev = c->function->dev;

	if (!pskb_may_pull(skb, ETH_HLEN)) {
		kfree_skb(skb);
		return;
	}
	if (skb_vlan_tag_present(wire))
		__vlan_hwaccel_put_tag(skb, wire->vlan_proto, skb_vlan_tag_get(wire));
	skb_record_rx_queue(skb, c->rxq.queue_index);
	skb->protocol = eth_type_trans(skb, dev);
	if (checksum && dev->features & NETIF_F_RXCSUM) {
		skb->csum = skb_checksum(skb, 0, skb->len, 0);
		skb->ip_summed = CHECKSUM_COMPLETE;
	}
	napi_gro_receive(&c->napi, skb);
}

static void nic_receive_one(struct nic_channel *c, struct sk_buff *wire)
{
	struct nic_function *f = c->function;
	struct bpf_prog *program = rcu_dereference(f->program);
	struct xdp_buff xdp;
	struct sk_buff *skb;

	nic_count(f, NIC_RX_PACKETS, 1);
	nic_count(f, NIC_RX_BYTES, wire->len);
	if (eth_hdr(wire)->h_proto == htons(ETH_P_8021Q) &&
	    f->dev->features & NETIF_F_HW_VLAN_CTAG_RX)
		wire = nic_receive_untag(wire);
	if (!wire)
		return;
	if (!nic_receive_fill(c, program, wire, &xdp)) {
		nic_count(f, NIC_RX_OUT_OF_BUFFER, 1);
	} else if (!program || nic_xdp_run(c, program, &xdp)) {
		skb = nic_receive_build(&xdp);
		if (skb)
			nic_receive_deliver(c, skb, !program, wire);
	}
	consume_skb(wire);
}

int nic_receive_poll(struct napi_struct *napi, int budget)
{
	struct nic_channel *c = container_of(napi, struct nic_channel, napi);
	struct sk_buff *skb;
	int done = 0;

	rcu_read_lock();
	while (done < budget && (skb = __ptr_ring_consume(&c->ring))) {
		nic_receive_one(c, skb);
		done++;
	}
	rcu_read_unlock();
	if (c->redirected) {
		c->redirected = false;
		xdp_do_flush();
	}
	/* Whoever adds a frame while this ends schedules the queue again. */
	if (done < budget)
		napi_complete_done(napi, done);
	return done;
}
