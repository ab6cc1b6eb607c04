// SPDX-License-Identifier: GPL-2.0
/*
 * Continuity checks: sent, heard, and what follows from them.
 *
 *	            never heard, and the time of grace is over
 *	unproven -----------------------------------------------> silent, wrong
 *	   |                                                        |      ^
 *	   | both directions heard          ten checks in a row,    |      |
 *	   v                                more after relapses     v      |
 *	heard <------------------------------------------------- recovering|
 *	   |                                                               |
 *	   +--- 3.5 intervals without a check, another neighbour, not -----+
 *	        heard by it (RDI), another fabric
 *
 * Unproven neighbours are trusted while there is light, those heard as long as they are.
 * One that says that it has no table, or that its topoopt device is down, is not sent what
 * it would have to relay; it is trusted again as soon as it says otherwise.
 *
 * One timer per device runs twice per interval. Silence is counted in its ticks, as the
 * bridge does for its own checks (net/bridge/br_cfm.c): a processor that stalls ticks
 * once, whatever it missed.
 */

#include <linux/etherdevice.h>
#include <linux/hrtimer.h>
#include <linux/pkt_sched.h>
#include <linux/random.h>

#include "continuity.h"
#include "output.h"
#include "table.h"
#include "topoopt.h"

#define TOPOOPT_CONTINUITY_SILENT	7	/* half intervals */
#define TOPOOPT_CONTINUITY_RUN		10	/* checks */
#define TOPOOPT_CONTINUITY_RELAPSES	7	/* runs double so often */

/* A neighbour that was trusted for so long, in half intervals, has not relapsed. */
#define TOPOOPT_CONTINUITY_TRUSTED	1200

/* One check in so many is for whoever is there; one is as long as the MTU. */
#define TOPOOPT_CONTINUITY_GROUP	4
#define TOPOOPT_CONTINUITY_PADDED	10

/* By enum topoopt_check_interval, of half an interval. */
static const u64 topoopt_continuity_half_ns[] = {
	[TOPOOPT_CHECK_INTERVAL_3MS] = NSEC_PER_SEC / 600,
	[TOPOOPT_CHECK_INTERVAL_10MS] = 5 * NSEC_PER_MSEC,
	[TOPOOPT_CHECK_INTERVAL_100MS] = 50 * NSEC_PER_MSEC,
	[TOPOOPT_CHECK_INTERVAL_1S] = 500 * NSEC_PER_MSEC,
};

/* --- what is known of a neighbour, under topoopt_dev.live_lock --- */

/* Both ends hear each other: it echoes what only this server said, in this run. */
static bool topoopt_continuity_mutual(const struct topoopt_peers *peers,
				      const struct topoopt_peer *peer)
{
	return !peer->last.rdi && peer->last.echo == peers->nonce;
}

/* Whether a neighbour is not heard, or not as it should be. */
static u8 topoopt_continuity_fault(const struct topoopt_peers *peers,
				   const struct topoopt_peer *peer)
{
	if (peer->silence > TOPOOPT_CONTINUITY_SILENT)
		return peer->alone && peer->stranger <= TOPOOPT_CONTINUITY_SILENT ?
		       TOPOOPT_CHECK_REASON_STRANGER : TOPOOPT_CHECK_REASON_SILENT;
	if (peer->last.fabric != peers->fabric)
		return TOPOOPT_CHECK_REASON_FABRIC;
	if (!topoopt_continuity_mutual(peers, peer))
		return TOPOOPT_CHECK_REASON_UNHEARD;
	return TOPOOPT_CHECK_REASON_HEARD;
}

static u8 topoopt_continuity_reason(const struct topoopt_peers *peers,
				    const struct topoopt_peer *peer)
{
	u8 fault = topoopt_continuity_fault(peers, peer);

	if (!peer->heard && peers->age < peers->grace)
		return TOPOOPT_CHECK_REASON_UNPROVEN;
	if (fault != TOPOOPT_CHECK_REASON_HEARD)
		return fault;
	if (peer->run < peer->wanted)
		return TOPOOPT_CHECK_REASON_RECOVERING;
	if (!peer->last.up)
		return TOPOOPT_CHECK_REASON_DOWN;
	return peer->last.table ? TOPOOPT_CHECK_REASON_HEARD : TOPOOPT_CHECK_REASON_NO_TABLE;
}

static u8 topoopt_continuity_takes(u8 reason)
{
	switch (reason) {
	case TOPOOPT_CHECK_REASON_HEARD:
	case TOPOOPT_CHECK_REASON_UNPROVEN:
		return TOPOOPT_PEER_TRANSIT | TOPOOPT_PEER_LOCAL;
	case TOPOOPT_CHECK_REASON_NO_TABLE:
		return TOPOOPT_PEER_LOCAL;
	default:
		return 0;
	}
}

/* A neighbour has to earn trust again, by more checks in a row if it lost it soon. */
static void topoopt_continuity_distrust(struct topoopt_peer *peer)
{
	if (peer->trusted >= TOPOOPT_CONTINUITY_TRUSTED)
		peer->relapses = 0;
	else if (peer->relapses < TOPOOPT_CONTINUITY_RELAPSES)
		peer->relapses++;
	peer->wanted = TOPOOPT_CONTINUITY_RUN << peer->relapses;
	peer->trusted = 0;
}

/* Draw conclusions from what changed. Return: whether there are any. */
static bool topoopt_continuity_judge(const struct topoopt_peers *peers,
				     struct topoopt_peer *peer)
{
	u8 reason = topoopt_continuity_reason(peers, peer);
	u8 takes = topoopt_continuity_takes(reason);

	if (reason == peer->reason)
		return false;
	if (topoopt_continuity_fault(peers, peer) != TOPOOPT_CHECK_REASON_HEARD) {
		peer->run = 0;
		if (peer->takes && !takes)
			topoopt_continuity_distrust(peer);
	}
	peer->reason = reason;
	WRITE_ONCE(peer->takes, takes);
	return true;
}

static void topoopt_continuity_age_peer(struct topoopt_peer *peer)
{
	if (peer->silence <= TOPOOPT_CONTINUITY_SILENT)
		peer->silence++;
	if (peer->stranger <= TOPOOPT_CONTINUITY_SILENT)
		peer->stranger++;
	if (peer->takes && peer->trusted < TOPOOPT_CONTINUITY_TRUSTED)
		peer->trusted++;
}

/* A check of the neighbour that is expected, in a frame of @bytes. */
static void topoopt_continuity_heard(const struct topoopt_peers *peers,
				     struct topoopt_peer *peer,
				     const struct topoopt_ccm *ccm, u32 bytes)
{
	u32 skipped = ccm->sequence - peer->last.sequence - 1;

	if (peer->received && ccm->nonce == peer->last.nonce) {
		if ((s32)skipped < 0)
			return;		/* seen before, or older than that */
		peer->missing += skipped;
	}
	peer->received++;
	peer->last = *ccm;
	peer->silence = 0;
	if (bytes > ETH_HLEN + TOPOOPT_CCM_LEN) {
		peer->largest = bytes;
		peer->padded = 0;
	} else if (++peer->padded > 3 * TOPOOPT_CONTINUITY_PADDED) {
		peer->largest = bytes;
	}
	if (!topoopt_continuity_mutual(peers, peer))
		return;
	peer->heard = true;
	if (peer->run < peer->wanted)
		peer->run++;
}

/* --- what follows for a device --- */

/* The neighbours of the active table, NULL while checks are off; under RCU. */
static struct topoopt_peers *topoopt_continuity_peers(const struct topoopt_dev *tdev)
{
	const struct topoopt_table *table = rcu_dereference(tdev->table);

	return table ? topoopt_table_peers(table) : NULL;
}

/* Slots of the ports with a neighbour that takes no transit. */
static u64 topoopt_continuity_silent(const struct topoopt_peers *peers)
{
	u64 silent = 0;
	u32 i;

	for (i = 0; i < peers->count; i++)
		if (!(peers->peer[i].takes & TOPOOPT_PEER_TRANSIT))
			silent |= BIT_ULL(peers->peer[i].slot);
	return silent;
}

static void topoopt_continuity_age(struct topoopt_dev *tdev, struct topoopt_peers *peers)
{
	bool changed = false;
	u32 i;

	spin_lock(&tdev->live_lock);
	if (peers->age < peers->grace)
		peers->age++;
	for (i = 0; i < peers->count; i++) {
		topoopt_continuity_age_peer(&peers->peer[i]);
		if (topoopt_continuity_judge(peers, &peers->peer[i])) {
			topoopt_notify_peer(tdev, &peers->peer[i]);
			changed = true;
		}
	}
	if (changed)
		topoopt_port_silence(tdev, topoopt_continuity_silent(peers));
	spin_unlock(&tdev->live_lock);
}

/* --- sent --- */

static void topoopt_continuity_send(const struct topoopt_port *port,
				    const struct topoopt_peers *peers,
				    const struct topoopt_ccm *ccm, const u8 *to,
				    unsigned int len)
{
	struct net_device *dev = rcu_dereference(port->tx);
	struct sk_buff *skb;
	struct ethhdr *eth;

	skb = alloc_skb(LL_RESERVED_SPACE(dev) + len + dev->needed_tailroom, GFP_ATOMIC);
	if (!skb)
		return;
	skb_reserve(skb, LL_RESERVED_SPACE(dev));
	topoopt_ccm_write(skb_put_zero(skb, len), ccm, &peers->key);
	eth = skb_push(skb, ETH_HLEN);
	skb_reset_mac_header(skb);
	ether_addr_copy(eth->h_dest, to);
	ether_addr_copy(eth->h_source, dev->dev_addr);
	eth->h_proto = htons(ETH_P_CFM);
	skb->protocol = htons(ETH_P_CFM);
	skb->priority = TC_PRIO_CONTROL;
	skb->dev = dev;
	dev_queue_xmit(skb);
}

static void topoopt_continuity_say(const struct topoopt_dev *tdev,
				   const struct topoopt_table *table,
				   const struct topoopt_port *port, struct topoopt_ccm *ccm)
{
	const struct topoopt_peers *peers = topoopt_table_peers(table);

	memset(ccm, 0, sizeof(*ccm));
	ccm->fabric = peers->fabric;
	ccm->nonce = peers->nonce;
	ccm->interval = peers->interval;
	ccm->table = true;
	ccm->generation = topoopt_table_generation(table);
	ccm->up = netif_running(tdev->dev);
	ether_addr_copy(ccm->mac, port->dev->dev_addr);
	strscpy(ccm->server, peers->server, sizeof(ccm->server));
	strscpy(ccm->port, port->dev->name, sizeof(ccm->port));
}

/* To one neighbour, along the path of what it relays. */
static void topoopt_continuity_send_peer(struct topoopt_dev *tdev,
					 const struct topoopt_table *table,
					 const struct topoopt_port *port,
					 struct topoopt_peer *peer)
{
	unsigned int len = TOPOOPT_CCM_LEN;
	struct topoopt_ccm ccm;

	topoopt_continuity_say(tdev, table, port, &ccm);
	spin_lock(&tdev->live_lock);
	ccm.sequence = ++peer->sent;
	ccm.rdi = peer->silence > TOPOOPT_CONTINUITY_SILENT;
	ccm.echo = peer->received ? peer->last.nonce : 0;
	ccm.largest = peer->largest;
	spin_unlock(&tdev->live_lock);
	if (ccm.sequence % TOPOOPT_CONTINUITY_PADDED == 0)
		len = max(len, READ_ONCE(rcu_dereference(port->tx)->mtu));
	topoopt_continuity_send(port, topoopt_table_peers(table), &ccm, peer->mac, len);
}

/* To whoever is there, from each port with neighbours: they are in the order of ports. */
static void topoopt_continuity_send_all(struct topoopt_dev *tdev,
					const struct topoopt_table *table)
{
	struct topoopt_peers *peers = topoopt_table_peers(table);
	const struct topoopt_port *port;
	struct topoopt_ccm ccm;
	u32 i;

	for (i = 0; i < peers->count; i++) {
		struct topoopt_peer *peer = &peers->peer[i];
		bool first = !i || peer[-1].slot != peer->slot;

		port = rcu_dereference(tdev->ports[peer->slot]);
		if (!port || port->ifindex != peer->ifindex || !topoopt_port_lit(port))
			continue;
		topoopt_continuity_send_peer(tdev, table, port, peer);
		if (!first || peer->sent % TOPOOPT_CONTINUITY_GROUP)
			continue;
		topoopt_continuity_say(tdev, table, port, &ccm);
		topoopt_continuity_send(port, peers, &ccm, topoopt_ccm_group,
					TOPOOPT_CCM_LEN);
	}
}

static enum hrtimer_restart topoopt_continuity_tick(struct hrtimer *timer)
{
	struct topoopt_dev *tdev = container_of(timer, struct topoopt_dev, check_timer);
	enum hrtimer_restart restart = HRTIMER_NORESTART;
	const struct topoopt_table *table;
	struct topoopt_peers *peers;

	rcu_read_lock();
	table = rcu_dereference(tdev->table);
	peers = table ? topoopt_table_peers(table) : NULL;
	if (peers) {
		topoopt_continuity_age(tdev, peers);
		if (tdev->check_ticks++ & 1)
			topoopt_continuity_send_all(tdev, table);
		hrtimer_forward_now(timer,
				    ns_to_ktime(topoopt_continuity_half_ns[peers->interval]));
		restart = HRTIMER_RESTART;
	}
	rcu_read_unlock();
	return restart;
}

/* --- received --- */

static struct topoopt_peer *topoopt_continuity_find(struct topoopt_peers *peers, u32 ifindex,
						    const char *server, const char *port)
{
	u32 i;

	for (i = 0; i < peers->count; i++)
		if (peers->peer[i].ifindex == ifindex &&
		    !strcmp(peers->peer[i].server, server) &&
		    !strcmp(peers->peer[i].port, port))
			return &peers->peer[i];
	return NULL;
}

/* A check of somebody who is not expected at the port, where one other neighbour is. */
static void topoopt_continuity_meet(struct topoopt_peers *peers, u32 ifindex,
				    const struct topoopt_ccm *ccm)
{
	struct topoopt_peer *peer;
	u32 i;

	for (i = 0; i < peers->count; i++) {
		peer = &peers->peer[i];
		/* Another function on the cable is no stranger. */
		if (peer->ifindex != ifindex || !peer->alone ||
		    !strcmp(peer->server, ccm->server) || !strcmp(peers->server, ccm->server))
			continue;
		peer->stranger = 0;
		memcpy(peer->stranger_server, ccm->server, sizeof(ccm->server));
		memcpy(peer->stranger_port, ccm->port, sizeof(ccm->port));
	}
}

bool topoopt_continuity_receive(const struct topoopt_port *port, struct sk_buff *skb)
{
	struct topoopt_dev *tdev = port->tdev;
	struct topoopt_peers *peers = topoopt_continuity_peers(tdev);
	struct topoopt_peer *peer;
	struct topoopt_ccm ccm;

	if (!pskb_may_pull(skb, TOPOOPT_CCM_LEN) ||
	    !topoopt_ccm_ours(skb->data, skb_headlen(skb)))
		return false;
	/* Own checks come back from a loop. */
	if (!peers || !topoopt_ccm_read(skb->data, &peers->key, &ccm) ||
	    ccm.nonce == peers->nonce)
		return true;

	spin_lock(&tdev->live_lock);
	peer = topoopt_continuity_find(peers, port->ifindex, ccm.server, ccm.port);
	if (!peer) {
		topoopt_continuity_meet(peers, port->ifindex, &ccm);
	} else if (skb->pkt_type == PACKET_HOST) {
		topoopt_continuity_heard(peers, peer, &ccm, ETH_HLEN + skb->len);
		if (topoopt_continuity_judge(peers, peer)) {
			topoopt_notify_peer(tdev, peer);
			topoopt_port_silence(tdev, topoopt_continuity_silent(peers));
		}
	}
	spin_unlock(&tdev->live_lock);
	return true;
}

/* --- switched on and off --- */

void topoopt_continuity_begin(const struct topoopt_peers *peers, struct topoopt_peer *peer)
{
	const struct topoopt_peer *end = peers->peer + peers->count;

	peer->alone = (peer == peers->peer || peer[-1].slot != peer->slot) &&
		      (peer + 1 == end || peer[1].slot != peer->slot);
	peer->reason = TOPOOPT_CHECK_REASON_UNPROVEN;
	peer->takes = topoopt_continuity_takes(peer->reason);
	peer->silence = TOPOOPT_CONTINUITY_SILENT + 1;
	peer->stranger = TOPOOPT_CONTINUITY_SILENT + 1;
}

/* Neighbours that both tables expect keep what is known of them. */
static void topoopt_continuity_keep(struct topoopt_peers *peers,
				    const struct topoopt_peers *old)
{
	const struct topoopt_peer *had;
	struct topoopt_peer *peer;
	u32 i, j;

	/* Both are in the order of ports and of MAC addresses. */
	for (i = 0, j = 0; i < peers->count; i++) {
		peer = &peers->peer[i];
		while (j < old->count && topoopt_peer_order(&old->peer[j], peer) < 0)
			j++;
		had = &old->peer[j];
		if (j == old->count || topoopt_peer_order(had, peer) ||
		    strcmp(had->server, peer->server) || strcmp(had->port, peer->port))
			continue;
		peer->known = had->known;
		peer->takes = had->takes;
		peer->reason = had->reason;
	}
}

struct topoopt_table *topoopt_continuity_commit(struct topoopt_dev *tdev,
						struct topoopt_table *table)
{
	struct topoopt_table *old = rcu_dereference_protected(tdev->table,
							      lockdep_is_held(&tdev->lock));
	const struct topoopt_peers *before = old ? topoopt_table_peers(old) : NULL;
	struct topoopt_peers *peers = topoopt_table_peers(table);

	spin_lock_bh(&tdev->live_lock);
	if (peers && before && peers->fabric == before->fabric) {
		peers->nonce = before->nonce;
		topoopt_continuity_keep(peers, before);
	}
	rcu_assign_pointer(tdev->table, table);
	topoopt_port_silence(tdev, peers ? topoopt_continuity_silent(peers) : 0);
	spin_unlock_bh(&tdev->live_lock);
	if (peers)
		hrtimer_start(&tdev->check_timer,
			      ns_to_ktime(topoopt_continuity_half_ns[peers->interval]),
			      HRTIMER_MODE_REL_SOFT);
	return old;
}

void topoopt_continuity_init(struct topoopt_dev *tdev)
{
	spin_lock_init(&tdev->live_lock);
	hrtimer_setup(&tdev->check_timer, topoopt_continuity_tick, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
}

void topoopt_continuity_exit(struct topoopt_dev *tdev)
{
	hrtimer_cancel(&tdev->check_timer);
}
