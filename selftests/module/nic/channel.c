// SPDX-License-Identifier: GPL-2.0
/* Receive queues, which are made when a function is opened. */

#include <linux/slab.h>

#include "compat.h"
#include "nic.h"

static void nic_channel_free_skb(void *skb)
{
	kfree_skb(skb);
}

static int nic_channel_init(struct nic_channel *c, struct nic_function *f, unsigned int index)
{
	struct page_pool_params params = {
		.pool_size = f->ring,
		.nid = NUMA_NO_NODE,
		.dev = f->dev->dev.parent,
	};
	int err;

	c->function = f;
	err = ptr_ring_init(&c->ring, f->ring, GFP_KERNEL);
	if (err)
		return err;
	c->pool = page_pool_create(&params);
	if (IS_ERR(c->pool)) {
		err = PTR_ERR(c->pool);
		goto free_ring;
	}
	netif_napi_add(f->dev, &c->napi, nic_receive_poll);
	err = __xdp_rxq_info_reg(&c->rxq, f->dev, index, c->napi.napi_id, PAGE_SIZE);
	if (err)
		goto free_pool;
	err = xdp_rxq_info_reg_mem_model(&c->rxq, MEM_TYPE_PAGE_POOL, c->pool);
	if (err)
		goto unregister;
	napi_enable(&c->napi);
	return 0;

unregister:
	xdp_rxq_info_unreg(&c->rxq);
free_pool:
	netif_napi_del(&c->napi);
	page_pool_destroy(c->pool);
free_ring:
	ptr_ring_cleanup(&c->ring, NULL);
	return err;
}

static void nic_channel_destroy(struct nic_channel *c)
{
	napi_disable(&c->napi);
	xdp_rxq_info_unreg(&c->rxq);
	netif_napi_del(&c->napi);
	page_pool_destroy(c->pool);
	ptr_ring_cleanup(&c->ring, nic_channel_free_skb);
}

static void nic_channel_destroy_all(struct nic_channels *channels)
{
	while (channels->n)
		nic_channel_destroy(&channels->channel[--channels->n]);
	kvfree(channels);
}

/* Make the receive queues. From now on frames arrive. */
int nic_channel_open(struct nic_function *f)
{
	struct nic_channels *channels;
	int err;

	channels = kvzalloc(struct_size(channels, channel, f->n_channels), GFP_KERNEL);
	if (!channels)
		return -ENOMEM;
	for (; channels->n < f->n_channels; channels->n++) {
		err = nic_channel_init(&channels->channel[channels->n], f, channels->n);
		if (err) {
			nic_channel_destroy_all(channels);
			return err;
		}
	}
	if (f->traits->reset_stats)
		nic_counters_reset(f);
	rcu_assign_pointer(f->channels, channels);
	return 0;
}

/* Drop what is in the receive queues, and these. */
void nic_channel_close(struct nic_function *f)
{
	struct nic_channels *channels = rtnl_dereference(f->channels);

	RCU_INIT_POINTER(f->channels, NULL);
	synchronize_net();
	nic_channel_destroy_all(channels);
}
