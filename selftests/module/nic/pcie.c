// SPDX-License-Identifier: GPL-2.0
/*
 * What PCIe carries between a card and the host. A link has a rate each way, and so has a
 * card for all its links together. A frame passes one after the other, and waits behind those
 * that came before it, so that functions share a rate evenly.
 *
 * A function whose frames wait takes no more of them from the stack. Received frames wait in
 * the card, which drops what it has no room for.
 *
 * A rate is set in bits/s, 0 for no limit: debugfs files topoopt_nic/WHAT/to_host and from_host,
 * where WHAT is a PCI domain (0010) or the name of a card. After a pause, and when its rate is
 * set, a link passes NIC_PCIE_BURST bytes at once.
 */

#include <linux/debugfs.h>
#include <linux/sizes.h>

#include "compat.h"
#include "nic.h"

#define NIC_PCIE_BURST		SZ_64K	/* bytes */
#define NIC_PCIE_BUFFER		SZ_1M	/* bytes that wait in the card to be received */
#define NIC_PCIE_SENDING	SZ_128K	/* bytes of a function that wait to be sent */
#define NIC_PCIE_RESUME		(NIC_PCIE_SENDING / 2)

/* A frame on its way. */
struct nic_pcie_frame {
	struct nic_function *function;
	unsigned int class;
};

static struct nic_pcie_frame *nic_pcie_frame(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct nic_pcie_frame) > sizeof(skb->cb));
	return (struct nic_pcie_frame *)skb->cb;
}

/* Nanoseconds that a lane needs for bytes. */
static s64 nic_pcie_time(const struct nic_lane *lane, unsigned int bytes)
{
	return lane->rate ? div64_u64((u64)bytes * BITS_PER_BYTE * NSEC_PER_SEC, lane->rate) : 0;
}

/* Whether a frame's time has come. If so, it is spent. The lane's lock is held. */
static bool nic_pcie_due(struct nic_lane *lane, const struct sk_buff *skb)
{
	s64 done = lane->done + nic_pcie_time(lane, skb->len);

	if (done > ktime_get())
		return false;
	lane->done = done;
	return true;
}

/* Wake up when the first frame's time comes, if one waits. The lane's lock is held. */
static void nic_pcie_wait(struct nic_lane *lane)
{
	const struct sk_buff *skb = skb_peek(&lane->queue);

	if (skb && !lane->draining)
		hrtimer_start(&lane->timer, lane->done + nic_pcie_time(lane, skb->len),
			      HRTIMER_MODE_ABS_SOFT);
}

static enum hrtimer_restart nic_pcie_drain(struct hrtimer *timer)
{
	struct nic_lane *lane = container_of(timer, struct nic_lane, timer);
	struct sk_buff_head due;
	struct sk_buff *skb;

	__skb_queue_head_init(&due);
	rcu_read_lock();
	spin_lock(&lane->lock);
	lane->draining = true;
	while ((skb = skb_peek(&lane->queue)) && nic_pcie_due(lane, skb)) {
		__skb_unlink(skb, &lane->queue);
		lane->bytes -= skb->len;
		__skb_queue_tail(&due, skb);
	}
	spin_unlock(&lane->lock);
	while ((skb = __skb_dequeue(&due)))
		lane->leave(skb);
	spin_lock(&lane->lock);
	lane->draining = false;
	nic_pcie_wait(lane);
	spin_unlock(&lane->lock);
	rcu_read_unlock();
	return HRTIMER_NORESTART;
}

/* Pass a frame on, now or later; false without room. Bottom halves are off. */
static bool nic_pcie_enter(struct nic_lane *lane, struct sk_buff *skb, unsigned int room)
{
	bool waits = false, full = false;

	spin_lock(&lane->lock);
	if (!skb_queue_empty(&lane->queue) || lane->draining) {
		waits = true;
	} else if (lane->rate) {
		lane->done = max(lane->done, ktime_get() - nic_pcie_time(lane, NIC_PCIE_BURST));
		waits = !nic_pcie_due(lane, skb);
	}
	if (waits && lane->bytes + skb->len > room) {
		full = true;
	} else if (waits) {
		__skb_queue_tail(&lane->queue, skb);
		lane->bytes += skb->len;
		if (lane->queue.qlen == 1)
			nic_pcie_wait(lane);
	}
	spin_unlock(&lane->lock);
	if (!waits)
		lane->leave(skb);
	return !full;
}

/* --- to the wire ------------------------------------------------------------ */

/**
 * nic_pcie_busy() - tell whether a function has enough to send
 * @f: function
 */
bool nic_pcie_busy(const struct nic_function *f)
{
	return atomic_read(&f->sending) >= NIC_PCIE_SENDING;
}

/* Stop the stack while a function is busy. */
void nic_pcie_throttle(struct nic_function *f)
{
	if (!nic_pcie_busy(f))
		return;
	netif_tx_stop_all_queues(f->dev);
	smp_mb__after_atomic();		/* with nic_pcie_sent() */
	if (atomic_read(&f->sending) < NIC_PCIE_RESUME)
		netif_tx_wake_all_queues(f->dev);
}

static void nic_pcie_sent(struct sk_buff *skb)
{
	const struct nic_pcie_frame *frame = nic_pcie_frame(skb);
	struct nic_function *f = frame->function;
	int now = atomic_sub_return(skb->len, &f->sending);

	if (now < NIC_PCIE_RESUME && now + (int)skb->len >= NIC_PCIE_RESUME)
		netif_tx_wake_all_queues(f->dev);
	nic_wire_send(f, skb, frame->class);
}

static void nic_pcie_send_card(struct sk_buff *skb)
{
	nic_pcie_enter(&nic_pcie_frame(skb)->function->port->card->pcie.from_host, skb, UINT_MAX);
}

/**
 * nic_pcie_send() - send a frame of the host
 * @f: function
 * @skb: frame as it is on the wire, in the caller's hands no more
 * @class: traffic class
 *
 * Bottom halves are off.
 */
void nic_pcie_send(struct nic_function *f, struct sk_buff *skb, unsigned int class)
{
	*nic_pcie_frame(skb) = (struct nic_pcie_frame) { f, class };
	atomic_add(skb->len, &f->sending);
	nic_pcie_enter(&nic_pcie_link(f)->from_host, skb, UINT_MAX);
}

/* --- from the wire ---------------------------------------------------------- */

static void nic_pcie_received(struct sk_buff *skb)
{
	nic_receive_queue(nic_pcie_frame(skb)->function, skb);
}

static void nic_pcie_receive_lane(struct nic_lane *lane, struct sk_buff *skb)
{
	if (nic_pcie_enter(lane, skb, NIC_PCIE_BUFFER))
		return;
	nic_count_phy(nic_pcie_frame(skb)->function->port, NIC_RX_DISCARDS_PHY, 1);
	kfree_skb(skb);
}

static void nic_pcie_receive_link(struct sk_buff *skb)
{
	nic_pcie_receive_lane(&nic_pcie_link(nic_pcie_frame(skb)->function)->to_host, skb);
}

/**
 * nic_pcie_receive() - hand a frame to the host
 * @f: function that receives it
 * @skb: frame, in the caller's hands no more
 *
 * Under RCU, bottom halves are off.
 */
void nic_pcie_receive(struct nic_function *f, struct sk_buff *skb)
{
	nic_pcie_frame(skb)->function = f;
	nic_pcie_receive_lane(&f->port->card->pcie.to_host, skb);
}

/* --- rates ------------------------------------------------------------------ */

static int nic_pcie_get_rate(void *data, u64 *value)
{
	const struct nic_lane *lane = data;

	*value = lane->rate;
	return 0;
}

static int nic_pcie_set_rate(void *data, u64 value)
{
	struct nic_lane *lane = data;

	spin_lock_bh(&lane->lock);
	lane->rate = value;
	lane->done = ktime_get() - nic_pcie_time(lane, NIC_PCIE_BURST);
	nic_pcie_wait(lane);
	spin_unlock_bh(&lane->lock);
	return 0;
}

DEFINE_DEBUGFS_ATTRIBUTE(nic_pcie_rate, nic_pcie_get_rate, nic_pcie_set_rate, "%llu\n");

static void nic_pcie_add_lane(struct nic_pcie *pcie, struct nic_lane *lane, const char *name,
			      void (*leave)(struct sk_buff *skb))
{
	spin_lock_init(&lane->lock);
	__skb_queue_head_init(&lane->queue);
	lane->leave = leave;
	nic_compat_hrtimer(&lane->timer, nic_pcie_drain, HRTIMER_MODE_ABS_SOFT);
	debugfs_create_file_unsafe(name, 0600, pcie->dir, lane, &nic_pcie_rate);
}

static void nic_pcie_add(struct nic_pcie *pcie, const char *name,
			 void (*sent)(struct sk_buff *skb), void (*received)(struct sk_buff *skb))
{
	pcie->dir = debugfs_create_dir(name, nic_traits_root);
	nic_pcie_add_lane(pcie, &pcie->from_host, "from_host", sent);
	nic_pcie_add_lane(pcie, &pcie->to_host, "to_host", received);
}

void nic_pcie_add_card(struct nic_card *card)
{
	nic_pcie_add(&card->pcie, card->name, nic_pcie_sent, nic_pcie_receive_link);
}

void nic_pcie_add_link(struct nic_link *link, int domain)
{
	char name[8];

	scnprintf(name, sizeof(name), "%04x", domain);
	nic_pcie_add(&link->pcie, name, nic_pcie_send_card, nic_pcie_received);
}

/* When there are no functions any more. */
void nic_pcie_remove(struct nic_pcie *pcie)
{
	if (!pcie->dir)
		return;
	debugfs_remove(pcie->dir);
	hrtimer_cancel(&pcie->from_host.timer);
	hrtimer_cancel(&pcie->to_host.timer);
}

static void nic_pcie_purge_lane(struct nic_lane *lane, const struct nic_function *f)
{
	struct sk_buff *skb, *next;

	spin_lock_bh(&lane->lock);
	skb_queue_walk_safe(&lane->queue, skb, next) {
		if (nic_pcie_frame(skb)->function != f)
			continue;
		__skb_unlink(skb, &lane->queue);
		lane->bytes -= skb->len;
		kfree_skb(skb);
	}
	spin_unlock_bh(&lane->lock);
}

/* Drop the frames of a function to which nobody gives new ones. */
void nic_pcie_purge(struct nic_function *f)
{
	struct nic_pcie *link = nic_pcie_link(f), *card = &f->port->card->pcie;

	nic_pcie_purge_lane(&link->from_host, f);
	nic_pcie_purge_lane(&card->to_host, f);
	synchronize_net();	/* for those that pass on to the next lane */
	nic_pcie_purge_lane(&card->from_host, f);
	nic_pcie_purge_lane(&link->to_host, f);
	synchronize_net();
}
