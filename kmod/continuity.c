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
 * Recovering ones take packets that have no other way.
 * One that says that it has no table, or that its topoopt device is down, is not sent what
 * it would have to relay; it is trusted again as soon as it says otherwise.
 *
 * One timer per device ticks at least twice per interval. Silence is counted in its ticks,
 * as the bridge does for its own checks (net/bridge/br_cfm.c): a processor that stalls
 * ticks once, whatever it missed. What a check makes worse takes effect when it arrives,
 * what it makes better at the next tick. So forged checks, however many, change nothing
 * more often than twice per tick.
 *
 * Replays: a check counts if its sequence number is above that of the last one of the same
 * session. Another session counts if it repeats the nonce that this server draws for the
 * neighbour at each change of session, or once nothing is heard of the former session, but
 * then as one that does not hear this server. The nonce is also renewed every 8 intervals,
 * so that checks that were held back count for 16 intervals at most.
 *
 * One check in ten is sent twice, at first padded to the MTU of the port, with the same
 * sequence number. A neighbour that takes less than the MTU gets the second one, and says
 * that its largest frame is small. That is reported and no more: packets that fit pass,
 * those that do not are lost, as no router would send an ICMP error for them.
 *
 * All checks go in the highest traffic class. Other classes are not checked.
 */

#include <linux/etherdevice.h>
#include <linux/hrtimer.h>
#include <linux/if_vlan.h>
#include <linux/pkt_sched.h>
#include <linux/random.h>

#include "account.h"
#include "continuity.h"
#include "output.h"
#include "table.h"
#include "topoopt.h"
#include "trace.h"

/* In halves of an interval, the sender's or the receiver's, whichever is longer. */
#define TOPOOPT_CONTINUITY_SILENT	7	/* is not heard any more */
#define TOPOOPT_CONTINUITY_STRANGE	24	/* a stranger is not heard any more */
#define TOPOOPT_CONTINUITY_RENEWED	16	/* a nonce is replaced */
#define TOPOOPT_CONTINUITY_TRUSTED	1200	/* a neighbour has not relapsed */

#define TOPOOPT_CONTINUITY_RUN		10	/* checks */
#define TOPOOPT_CONTINUITY_RELAPSES	7	/* runs double so often */

/* One check in so many is for whoever is there; one is as long as the MTU. */
#define TOPOOPT_CONTINUITY_GROUP	4
#define TOPOOPT_CONTINUITY_PADDED	10

/* By enum topoopt_check_interval. */
static const struct topoopt_continuity_clock {
	u32 tick;	/* microseconds */
	u32 ticks;	/* per interval */
} topoopt_continuity_clock[] = {
	[TOPOOPT_CHECK_INTERVAL_3MS] = { 1667, 2 },
	[TOPOOPT_CHECK_INTERVAL_10MS] = { 5000, 2 },
	[TOPOOPT_CHECK_INTERVAL_100MS] = { 50000, 2 },
	[TOPOOPT_CHECK_INTERVAL_1S] = { 50000, 20 },
};

u32 topoopt_continuity_ticks(u8 interval, u32 ms)
{
	return DIV_ROUND_UP_ULL((u64)ms * USEC_PER_MSEC,
				topoopt_continuity_clock[interval].tick);
}

static ktime_t topoopt_continuity_period(const struct topoopt_peers *peers)
{
	return ns_to_ktime(topoopt_continuity_clock[peers->interval].tick * NSEC_PER_USEC);
}

/* Ticks in half intervals of the end that has the longer ones; 0: a neighbour never heard. */
static u32 topoopt_continuity_halves(const struct topoopt_peers *peers, u8 interval, u32 n)
{
	const struct topoopt_continuity_clock *own = &topoopt_continuity_clock[peers->interval];
	const struct topoopt_continuity_clock *its = &topoopt_continuity_clock[interval];

	return DIV_ROUND_UP(n * (max(own->tick * own->ticks, its->tick * its->ticks) / 2),
			    own->tick);
}

/* --- what is known of a neighbour, under topoopt_dev.live_lock --- */

static bool topoopt_continuity_quiet(const struct topoopt_peers *peers,
				     const struct topoopt_peer *peer)
{
	return peer->silence > topoopt_continuity_halves(peers, peer->last.interval,
							 TOPOOPT_CONTINUITY_SILENT);
}

/* Both ends hear each other: the neighbour repeats what only this server said, and lately. */
static bool topoopt_continuity_mutual(const struct topoopt_peer *peer)
{
	return !peer->last.rdi &&
	       (peer->last.echo == peer->nonce || peer->last.echo == peer->former);
}

/* Whether a neighbour is not heard, or not as it should be. */
static u8 topoopt_continuity_fault(const struct topoopt_peers *peers,
				   const struct topoopt_peer *peer)
{
	if (topoopt_continuity_quiet(peers, peer))
		return peer->stranger ? TOPOOPT_CHECK_REASON_STRANGER :
					TOPOOPT_CHECK_REASON_SILENT;
	if (peer->last.fabric != peers->fabric)
		return TOPOOPT_CHECK_REASON_FABRIC;
	if (!topoopt_continuity_mutual(peer))
		return TOPOOPT_CHECK_REASON_UNHEARD;
	return TOPOOPT_CHECK_REASON_HEARD;
}

static u8 topoopt_continuity_reason(const struct topoopt_peers *peers,
				    const struct topoopt_peer *peer)
{
	u8 fault = topoopt_continuity_fault(peers, peer);

	/* Somebody else on the cable is proof enough. */
	if (!peer->heard && peer->age < peers->grace &&
	    fault != TOPOOPT_CHECK_REASON_STRANGER && fault != TOPOOPT_CHECK_REASON_FABRIC)
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
		return TOPOOPT_PEER_TRUSTED | TOPOOPT_PEER_RESORT;
	case TOPOOPT_CHECK_REASON_NO_TABLE:
		return TOPOOPT_PEER_LOCAL;
	case TOPOOPT_CHECK_REASON_RECOVERING:
		return TOPOOPT_PEER_RESORT;
	default:
		return 0;
	}
}

/* A neighbour has to earn trust again, by more checks in a row if it lost it soon. */
static void topoopt_continuity_distrust(const struct topoopt_peers *peers,
					struct topoopt_peer *peer)
{
	if (peer->trusted >= topoopt_continuity_halves(peers, peer->last.interval,
						       TOPOOPT_CONTINUITY_TRUSTED))
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
		if (peer->takes & TOPOOPT_PEER_TRUSTED && !(takes & TOPOOPT_PEER_TRUSTED))
			topoopt_continuity_distrust(peers, peer);
	}
	trace_topoopt_peer(peer, reason);
	peer->reason = reason;
	WRITE_ONCE(peer->takes, takes);
	peer->untold = true;
	return true;
}

/* A new nonce in the same session of this server, which makes the last two worthless. */
static void topoopt_continuity_draw(struct topoopt_peer *peer)
{
	peer->nonce = (peer->nonce & GENMASK_ULL(63, 32)) | get_random_u32();
	peer->former = peer->nonce;
	peer->renewed = 0;
}

/* A new nonce that makes the last but one worthless. */
static void topoopt_continuity_renew(struct topoopt_peer *peer)
{
	u64 former = peer->nonce;

	topoopt_continuity_draw(peer);
	peer->former = former;
}

static void topoopt_continuity_age_peer(const struct topoopt_peers *peers,
					struct topoopt_peer *peer)
{
	u8 interval = peer->last.interval;

	if (peer->age < peers->grace)
		peer->age++;
	if (!topoopt_continuity_quiet(peers, peer))
		peer->silence++;
	if (peer->stranger)
		peer->stranger--;
	if (peer->takes & TOPOOPT_PEER_TRUSTED &&
	    peer->trusted < topoopt_continuity_halves(peers, interval,
						      TOPOOPT_CONTINUITY_TRUSTED))
		peer->trusted++;
	if (++peer->renewed >= topoopt_continuity_halves(peers, interval,
							 TOPOOPT_CONTINUITY_RENEWED))
		topoopt_continuity_renew(peer);
	if (peer->fresh && peer->run < peer->wanted)
		peer->run++;
	peer->fresh = false;
}

/* Whether a check is newer than all before, in a session that counts. */
static bool topoopt_continuity_newer(const struct topoopt_peers *peers,
				     struct topoopt_peer *peer, const struct topoopt_ccm *ccm)
{
	u32 skipped = ccm->sequence - peer->last.sequence - 1;

	if (peer->received && upper_32_bits(ccm->nonce) == upper_32_bits(peer->last.nonce)) {
		if ((s32)skipped < 0)
			return false;
		peer->missing += skipped;
		return true;
	}
	if (ccm->echo == peer->nonce)
		topoopt_continuity_renew(peer);
	else if (topoopt_continuity_quiet(peers, peer))
		topoopt_continuity_draw(peer);
	else
		return false;
	return true;
}

/* A check of the neighbour that is expected at @port, in a frame of @bytes. */
static void topoopt_continuity_heard(const struct topoopt_port *port,
				     const struct topoopt_peers *peers,
				     struct topoopt_peer *peer,
				     const struct topoopt_ccm *ccm, u32 bytes)
{
	u64 missing = peer->missing;

	if (!topoopt_continuity_newer(peers, peer, ccm))
		return;
	topoopt_stats_add(port->stats, TOPOOPT_CHECK_MISSING, peer->missing - missing);
	peer->received++;
	topoopt_stats_add(port->stats, TOPOOPT_CHECK_RECEIVED, 1);
	peer->last = *ccm;
	peer->silence = 0;
	peer->heard_at = ktime_get_ns();
	if (bytes > ETH_HLEN + TOPOOPT_CCM_LEN) {
		peer->largest = bytes;
		peer->padded = 0;
	} else if (++peer->padded > 3 * TOPOOPT_CONTINUITY_PADDED) {
		peer->largest = bytes;
	}
	peer->fresh = topoopt_continuity_mutual(peer);
	if (peer->fresh)
		peer->heard = true;
	else
		peer->run = 0;
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

/*
 * Tell listeners what is new at a port, once per second: forged checks could make it new
 * all the time. What comes sooner is told by a later tick. @first is the first neighbour
 * of the port. Return: the first of the next port, or topoopt_peers.count.
 */
static u32 topoopt_continuity_tell(struct topoopt_dev *tdev, struct topoopt_peers *peers,
				   u32 first)
{
	u16 slot = peers->peer[first].slot;
	u32 next = first + 1;
	bool news;

	while (next < peers->count && peers->peer[next].slot == slot)
		next++;
	if (tdev->told_ticks[slot]) {
		tdev->told_ticks[slot]--;
		return next;
	}
	news = topoopt_notify_peers(tdev, &peers->peer[first], next - first);
	news |= topoopt_liveness_tell(tdev, BIT_ULL(slot));
	if (news) {
		topoopt_notify_groups(tdev);
		tdev->told_ticks[slot] = topoopt_continuity_ticks(peers->interval,
								  MSEC_PER_SEC);
	}
	return next;
}

/* Return: whether neighbours should hear of it at once. */
static bool topoopt_continuity_age(struct topoopt_dev *tdev, struct topoopt_peers *peers)
{
	bool changed = false;
	u32 i;

	for (i = 0; i < peers->count; i++) {
		topoopt_continuity_age_peer(peers, &peers->peer[i]);
		if (!peers->answers)
			changed |= topoopt_continuity_judge(peers, &peers->peer[i]);
	}
	if (changed)
		topoopt_liveness_silence(tdev, topoopt_continuity_silent(peers));
	for (i = 0; i < peers->count && !peers->answers;)
		i = topoopt_continuity_tell(tdev, peers, i);
	return changed;
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

	skb = alloc_skb(LL_RESERVED_SPACE(dev) + len + dev->needed_tailroom,
			GFP_ATOMIC | __GFP_NOWARN);
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
	topoopt_stats_add(port->stats, TOPOOPT_CHECK_SENT, 1);
	if (!dev_queue_xmit(skb) && topoopt_account_enabled())
		topoopt_account(port->tdev, NULL, port, TOPOOPT_SERVER_NONE,
				TOPOOPT_SERVER_NONE, TOPOOPT_ACCOUNT_CHECK, 1,
				ETH_HLEN + len);
}

/* What checks of a port say to whoever hears them. */
static void topoopt_continuity_say(const struct topoopt_dev *tdev,
				   const struct topoopt_table *table,
				   const struct topoopt_port *port, struct topoopt_ccm *ccm)
{
	const struct topoopt_peers *peers = topoopt_table_peers(table);

	memset(ccm, 0, sizeof(*ccm));
	ccm->fabric = peers->fabric;
	ccm->interval = peers->interval;
	ccm->expects = !peers->answers;
	/* Each table has a route to its own server; one that was cleared has none. */
	ccm->table = topoopt_table_routes(table);
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
	const struct topoopt_peers *peers = topoopt_table_peers(table);
	struct topoopt_ccm ccm;
	bool quiet;
	u32 mtu;

	/* Under the lock: a check with a higher number says nothing older. */
	spin_lock(&tdev->live_lock);
	topoopt_continuity_say(tdev, table, port, &ccm);
	quiet = topoopt_continuity_quiet(peers, peer);
	if (!ccm.expects && (quiet || !peer->last.expects)) {
		spin_unlock(&tdev->live_lock);
		return;
	}
	ccm.nonce = peer->nonce;
	ccm.echo = peer->last.nonce;
	ccm.sequence = ++peer->sent;
	ccm.rdi = quiet;
	ccm.largest = peer->largest;
	spin_unlock(&tdev->live_lock);

	mtu = READ_ONCE(rcu_dereference(port->tx)->mtu);
	if (ccm.sequence % TOPOOPT_CONTINUITY_PADDED == 0 && mtu > TOPOOPT_CCM_LEN)
		topoopt_continuity_send(port, peers, &ccm, peer->mac, mtu);
	topoopt_continuity_send(port, peers, &ccm, peer->mac, TOPOOPT_CCM_LEN);
}

/* To whoever is there. */
static void topoopt_continuity_send_group(const struct topoopt_dev *tdev,
					  const struct topoopt_table *table,
					  const struct topoopt_port *port)
{
	struct topoopt_ccm ccm;

	topoopt_continuity_say(tdev, table, port, &ccm);
	topoopt_continuity_send(port, topoopt_table_peers(table), &ccm, topoopt_ccm_group,
				TOPOOPT_CCM_LEN);
}

static void topoopt_continuity_send_all(struct topoopt_dev *tdev,
					const struct topoopt_table *table)
{
	struct topoopt_peers *peers = topoopt_table_peers(table);
	const struct topoopt_port *port;
	struct topoopt_peer *peer;
	bool first;
	u32 i;

	for (i = 0; i < peers->count; i++) {
		peer = &peers->peer[i];
		/* Neighbours are in the order of ports. */
		first = !i || peer[-1].slot != peer->slot;
		port = rcu_dereference(tdev->ports[peer->slot]);
		if (!port || port->ifindex != peer->ifindex || !topoopt_port_lit(port))
			continue;
		topoopt_continuity_send_peer(tdev, table, port, peer);
		if (first && !READ_ONCE(peers->answers) &&
		    READ_ONCE(peer->sent) % TOPOOPT_CONTINUITY_GROUP == 0)
			topoopt_continuity_send_group(tdev, table, port);
	}
}

void topoopt_continuity_announce(struct topoopt_dev *tdev)
{
	const struct topoopt_table *table;

	local_bh_disable();
	rcu_read_lock();
	table = rcu_dereference(tdev->table);
	if (table && topoopt_table_peers(table))
		topoopt_continuity_send_all(tdev, table);
	rcu_read_unlock();
	local_bh_enable();
}

static enum hrtimer_restart topoopt_continuity_tick(struct hrtimer *timer)
{
	struct topoopt_dev *tdev = container_of(timer, struct topoopt_dev, check_timer);
	enum hrtimer_restart restart = HRTIMER_NORESTART;
	const struct topoopt_table *table;
	struct topoopt_peers *peers;
	bool changed = false;

	rcu_read_lock();
	spin_lock(&tdev->live_lock);
	/* Under the lock, so that it is the last one committed. */
	table = rcu_dereference(tdev->table);
	peers = table ? topoopt_table_peers(table) : NULL;
	if (peers)
		changed = topoopt_continuity_age(tdev, peers);
	spin_unlock(&tdev->live_lock);
	if (peers) {
		/* A neighbour that is not heard any more learns that before it falls silent. */
		if (++tdev->check_ticks %
		    topoopt_continuity_clock[peers->interval].ticks == 0 || changed)
			topoopt_continuity_send_all(tdev, table);
		hrtimer_forward_now(timer, topoopt_continuity_period(peers));
		restart = HRTIMER_RESTART;
	}
	rcu_read_unlock();
	return restart;
}

/* --- received --- */

/* The neighbour that a check is of, if it is expected at the port, or NULL. */
static struct topoopt_peer *topoopt_continuity_find(struct topoopt_peers *peers,
						    const struct topoopt_port *port,
						    const struct topoopt_ccm *ccm)
{
	u32 i = topoopt_table_peer(peers, port->slot, ccm->mac);
	struct topoopt_peer *peer = &peers->peer[i];

	return i < peers->count && peer->ifindex == port->ifindex &&
	       ether_addr_equal(peer->mac, ccm->mac) &&
	       !strcmp(peer->server, ccm->server) && !strcmp(peer->port, ccm->port) ?
	       peer : NULL;
}

/*
 * A check of somebody who is not expected at the port, where one other neighbour is. That
 * one with another MAC address is a stranger, too: it does not get what is sent to it.
 */
static void topoopt_continuity_meet(struct topoopt_peers *peers,
				    const struct topoopt_port *port,
				    const struct topoopt_ccm *ccm)
{
	static const u8 lowest[ETH_ALEN] __aligned(2);
	u32 i = topoopt_table_peer(peers, port->slot, lowest);
	struct topoopt_peer *peer = &peers->peer[i];

	if (i == peers->count || peer->ifindex != port->ifindex || !peer->alone)
		return;
	/* Another function of the neighbour on the cable is no stranger. */
	if (!strcmp(peer->server, ccm->server) && strcmp(peer->port, ccm->port))
		return;
	if (!peer->stranger || strcmp(peer->stranger_server, ccm->server) ||
	    strcmp(peer->stranger_port, ccm->port))
		peer->untold |= peer->reason == TOPOOPT_CHECK_REASON_STRANGER;
	peer->stranger = topoopt_continuity_halves(peers, ccm->interval,
						   TOPOOPT_CONTINUITY_STRANGE);
	memcpy(peer->stranger_server, ccm->server, sizeof(ccm->server));
	memcpy(peer->stranger_port, ccm->port, sizeof(ccm->port));
}

/* A check that was read, under topoopt_dev.live_lock. */
static void topoopt_continuity_take(const struct topoopt_port *port,
				    struct topoopt_peers *peers, bool unicast,
				    const struct topoopt_ccm *ccm, u32 bytes)
{
	struct topoopt_peer *peer = topoopt_continuity_find(peers, port, ccm);

	if (!peer) {
		topoopt_continuity_meet(peers, port, ccm);
		return;
	}
	if (!unicast)
		return;
	topoopt_continuity_heard(port, peers, peer, ccm, bytes);
	/* What gets better waits for the tick. */
	if (peers->answers ||
	    !(peer->takes & ~topoopt_continuity_takes(topoopt_continuity_reason(peers, peer))))
		return;
	topoopt_continuity_judge(peers, peer);
	topoopt_liveness_silence(port->tdev, topoopt_continuity_silent(peers));
}

bool topoopt_continuity_receive(const struct topoopt_port *port, struct sk_buff *skb)
{
	struct topoopt_dev *tdev = port->tdev;
	struct topoopt_peers *peers = topoopt_continuity_peers(tdev);
	struct topoopt_ccm ccm;

	/* Priority tags are fine. */
	if ((skb_vlan_tag_present(skb) && skb_vlan_tag_get_id(skb)) ||
	    !pskb_may_pull(skb, TOPOOPT_CCM_LEN) ||
	    !topoopt_ccm_ours(skb->data, skb_headlen(skb)))
		return false;
	if (!peers)
		return true;
	if (!topoopt_ccm_read(skb->data, &peers->key, &ccm)) {
		topoopt_stats_add(port->stats, TOPOOPT_CHECK_REFUSED, 1);
		return true;
	}
	/* Own checks come back from a loop. */
	if (!strcmp(ccm.server, peers->server))
		return true;

	spin_lock(&tdev->live_lock);
	/* Not if another table became active meanwhile. */
	if (peers == topoopt_continuity_peers(tdev))
		topoopt_continuity_take(port, peers, skb->pkt_type == PACKET_HOST, &ccm,
					ETH_HLEN + skb->len);
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
	peer->silence = topoopt_continuity_halves(peers, 0, TOPOOPT_CONTINUITY_SILENT) + 1;
	peer->nonce = get_random_u64();
	peer->former = peer->nonce;
}

/* What a neighbour is taken for when checks are switched on again. */
static void topoopt_continuity_forgive(struct topoopt_peer *peer)
{
	peer->age = 0;
	peer->heard = false;
	peer->run = 0;
	peer->wanted = 0;
	peer->relapses = 0;
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
		    had->ifindex != peer->ifindex ||
		    strcmp(had->server, peer->server) || strcmp(had->port, peer->port))
			continue;
		peer->known = had->known;
		if (old->answers) {
			topoopt_continuity_forgive(peer);
			continue;
		}
		peer->takes = had->takes;
		peer->reason = had->reason;
		peer->untold = had->untold;
	}
}

/* Checks are switched off: light decides, and those who expect checks still get them. */
static void topoopt_continuity_answer(struct topoopt_peers *peers)
{
	u32 i;

	WRITE_ONCE(peers->answers, true);
	for (i = 0; i < peers->count; i++)
		WRITE_ONCE(peers->peer[i].takes,
			   TOPOOPT_PEER_TRUSTED | TOPOOPT_PEER_RESORT);
}

struct topoopt_table *topoopt_continuity_commit(struct topoopt_dev *tdev,
						struct topoopt_table *table)
{
	struct topoopt_table *old = rcu_dereference_protected(tdev->table,
							      lockdep_is_held(&tdev->lock));
	struct topoopt_peers *before = old ? topoopt_table_peers(old) : NULL;
	struct topoopt_peers *peers = topoopt_table_peers(table);

	if (!peers && before) {
		refcount_inc(&before->users);
		topoopt_table_set_peers(table, before);
		peers = before;
	}
	rcu_read_lock();
	spin_lock_bh(&tdev->live_lock);
	if (peers && peers == before)
		topoopt_continuity_answer(peers);
	else if (peers && before && peers->fabric == before->fabric)
		topoopt_continuity_keep(peers, before);
	rcu_assign_pointer(tdev->table, table);
	topoopt_liveness_silence(tdev, peers ? topoopt_continuity_silent(peers) : 0);
	topoopt_liveness_tell(tdev, ~0ULL);
	spin_unlock_bh(&tdev->live_lock);
	rcu_read_unlock();

	/* The timer runs as long as there are neighbours; it must not wait for the last commit. */
	if (peers && (!before || before->interval != peers->interval))
		hrtimer_start(&tdev->check_timer,
			      topoopt_continuity_period(peers), HRTIMER_MODE_REL_SOFT);
	topoopt_continuity_announce(tdev);
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
