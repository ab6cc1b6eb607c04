// SPDX-License-Identifier: GPL-2.0
/* Which frames a function wants: by destination address, and by VLAN. */

#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/slab.h>

#include "nic.h"

/* Whether, and how, a function receives an address. Under RCU. */
enum nic_match nic_filter_match(const struct nic_function *f, const u8 *address)
{
	const struct nic_filter *filter = rcu_dereference(f->filter);
	unsigned int i;

	if (!filter)
		return NIC_MATCH_NONE;
	if (is_broadcast_ether_addr(address))
		return NIC_MATCH_COPY;
	for (i = 0; i < filter->n; i++)
		if (ether_addr_equal(filter->address[i], address))
			return is_multicast_ether_addr(address) ? NIC_MATCH_COPY : NIC_MATCH_OWN;
	if (filter->promisc || (filter->allmulti && is_multicast_ether_addr(address)))
		return NIC_MATCH_COPY;
	return NIC_MATCH_NONE;
}

/* Whether a function receives a frame's VLAN. Under RCU. */
bool nic_filter_vlan(const struct nic_function *f, const struct sk_buff *skb)
{
	const struct nic_filter *filter = rcu_dereference(f->filter);
	const struct vlan_hdr *tag;
	struct vlan_hdr copy;

	if (eth_hdr(skb)->h_proto != htons(ETH_P_8021Q) ||
	    !(f->dev->features & NETIF_F_HW_VLAN_CTAG_FILTER) || (filter && filter->promisc))
		return true;
	tag = skb_header_pointer(skb, ETH_HLEN, sizeof(copy), &copy);
	return tag && test_bit(ntohs(tag->h_vlan_TCI) & VLAN_VID_MASK, f->vlans);
}

/*
 * Take over the addresses of a device. Its address lock is held. Without memory, the
 * old ones stay.
 */
void nic_filter_set(struct net_device *dev)
{
	struct nic_function *f = netdev_priv(dev);
	unsigned int n = 1 + netdev_uc_count(dev) + netdev_mc_count(dev);
	struct nic_filter *old, *filter;
	struct netdev_hw_addr *address;

	filter = kzalloc(struct_size(filter, address, n), GFP_ATOMIC);
	if (!filter)
		return;
	filter->promisc = dev->flags & IFF_PROMISC;
	filter->allmulti = dev->flags & IFF_ALLMULTI;
	ether_addr_copy(filter->address[filter->n++], dev->dev_addr);
	netdev_for_each_uc_addr(address, dev)
		ether_addr_copy(filter->address[filter->n++], address->addr);
	netdev_for_each_mc_addr(address, dev)
		ether_addr_copy(filter->address[filter->n++], address->addr);
	old = rcu_replace_pointer(f->filter, filter, lockdep_is_held(&dev->addr_list_lock));
	if (old)
		kfree_rcu(old, rcu);
}
