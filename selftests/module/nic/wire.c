// SPDX-License-Identifier: GPL-2.0
/* The switch inside a card, and what is on the cable. */

#include <linux/etherdevice.h>

#include "nic.h"

/* Functions that a frame is for. */
struct nic_receivers {
	unsigned int n;
	struct nic_function *function[NIC_FUNCTIONS];
};

/* Add the functions of a port that receive a frame; true when it is for one of them alone. */
static bool nic_wire_match(const struct nic_port *port, const struct nic_function *except,
			   const struct sk_buff *skb, struct nic_receivers *to)
{
	bool own = false;
	unsigned int l;

	for (l = 0; l < NIC_LINKS; l++) {
		struct nic_function *f = rcu_dereference(port->function[l]);
		enum nic_match match;

		if (!f || f == except)
			continue;
		match = nic_filter_match(f, eth_hdr(skb)->h_dest);
		if (match == NIC_MATCH_NONE)
			continue;
		to->function[to->n++] = f;
		own |= match == NIC_MATCH_OWN;
	}
	return own;
}

static void nic_wire_count(struct nic_port *from, struct nic_port *to, unsigned int len,
			   unsigned int class)
{
	nic_count_phy(from, NIC_TX_PACKETS_PHY, 1);
	nic_count_phy(from, NIC_TX_BYTES_PHY, len + ETH_FCS_LEN);
	nic_count_phy(from, NIC_TX_PRIO_PHY + class, 1);
	nic_count_phy(to, NIC_RX_PACKETS_PHY, 1);
	nic_count_phy(to, NIC_RX_BYTES_PHY, len + ETH_FCS_LEN);
}

/**
 * nic_wire_send() - send a frame through a function's port
 * @from: function
 * @skb: frame as it is on the wire, in the caller's hands no more
 * @class: traffic class
 *
 * Bottom halves are off.
 */
void nic_wire_send(struct nic_function *from, struct sk_buff *skb, unsigned int class)
{
	struct nic_receivers to = { };
	struct nic_port *peer;
	unsigned int i;

	nic_count(from, NIC_TX_PACKETS, 1);
	nic_count(from, NIC_TX_BYTES, skb->len);
	skb_orphan(skb);
	skb_reset_mac_header(skb);
	rcu_read_lock();
	if (!nic_wire_match(from->port, from, skb, &to) && READ_ONCE(from->port->up)) {
		peer = rcu_dereference(from->port->peer);
		if (peer) {
			nic_wire_count(from->port, peer, skb->len, class);
			nic_wire_match(peer, NULL, skb, &to);
		}
	}
	for (i = 0; i + 1 < to.n; i++) {
		struct sk_buff *copy = skb_clone(skb, GFP_ATOMIC);

		if (copy)
			nic_receive_frame(to.function[i], copy);
	}
	if (to.n)
		nic_receive_frame(to.function[i], skb);
	else
		consume_skb(skb);
	rcu_read_unlock();
}
