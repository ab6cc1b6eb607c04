/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOPOOPT_CONTINUITY_H
#define TOPOOPT_CONTINUITY_H

/*
 * Continuity checks: each port tells the neighbours that the table expects there who it
 * is, and hears who they are. A neighbour that is not heard takes no traffic, whatever
 * the light on the cable.
 */

#include <linux/if_ether.h>
#include <linux/siphash.h>
#include <linux/skbuff.h>
#include <linux/types.h>
#include <linux/topoopt.h>

#include "ccm.h"

struct topoopt_dev;
struct topoopt_port;

/*
 * What a neighbour takes, as topoopt_peer.takes: packets that it has to relay, and
 * packets for itself. One that has lost its table still takes the latter.
 */
#define TOPOOPT_PEER_TRANSIT	BIT(0)
#define TOPOOPT_PEER_LOCAL	BIT(1)

/**
 * struct topoopt_peer - a neighbour that the table expects at a port
 * @takes: TOPOOPT_PEER_*; written under topoopt_dev.live_lock, read by packets
 * @reason: enum topoopt_check_reason; this and all that is not constant is under
 *	topoopt_dev.live_lock
 * @alone: no other neighbour is expected at the port: it is no packet switch; constant
 * @slot: of the port; constant
 * @ifindex: of the port; constant
 * @index: of the neighbour's server, as in topoopt_route.server; constant
 * @mac: where transit goes; constant
 * @server: name of the neighbour; constant
 * @port: and of its port; constant
 * @known: what is known of the neighbour, all that follows
 * @silence: half intervals since it was heard
 * @run: checks in a row, up to @wanted
 * @wanted: checks in a row that a silent neighbour takes to be trusted again
 * @relapses: how often it fell silent soon after it was trusted
 * @heard: it was heard, and heard this server, since checks were switched on
 * @sent: checks sent to it
 * @last: its last check
 * @missing: checks that its sequence numbers skip
 * @received: its checks
 * @trusted: half intervals since it was last distrusted
 * @largest: bytes of its last check that was padded
 * @padded: checks since then
 * @stranger: half intervals since another neighbour was heard here
 * @stranger_server: name of that one
 * @stranger_port: and of its port
 */
struct topoopt_peer {
	u8 takes;
	u8 reason;
	bool alone;
	u16 slot;
	u32 ifindex;
	u32 index;
	u8 mac[ETH_ALEN] __aligned(2);
	char server[TOPOOPT_CCM_SERVER];
	char port[TOPOOPT_CCM_PORT];

	struct_group_tagged(topoopt_peer_known, known,
		u32 silence;
		u32 run;
		u32 wanted;
		u32 relapses;
		bool heard;
		u32 sent;
		struct topoopt_ccm last;
		u64 missing;
		u64 received;
		u32 trusted;
		u32 largest;
		u32 padded;
		u32 stranger;
		char stranger_server[TOPOOPT_CCM_SERVER];
		char stranger_port[TOPOOPT_CCM_PORT];
	);
};

/**
 * struct topoopt_peers - the neighbours that a table expects
 * @interval: enum topoopt_check_interval
 * @fabric: number of the fabric
 * @key: that the fabric shares
 * @nonce: of this server, drawn when checks are switched on
 * @grace: half intervals in which neighbours that were never heard are trusted
 * @age: half intervals since the commit, up to @grace
 * @server: name of this server
 * @count: neighbours
 * @peer: by port
 *
 * Belongs to a table, and is freed with it.
 */
struct topoopt_peers {
	u8 interval;
	u64 fabric;
	siphash_key_t key;
	u64 nonce;
	u32 grace;
	u32 age;
	char server[TOPOOPT_CCM_SERVER];
	u32 count;
	struct topoopt_peer peer[] __counted_by(count);
};

/* A neighbour of which nothing is known yet; the others of @peers are there. */
void topoopt_continuity_begin(const struct topoopt_peers *peers, struct topoopt_peer *peer);

/* The order of topoopt_peers.peer: by port, then by MAC address. As memcmp(). */
static inline int topoopt_peer_order(const struct topoopt_peer *a, const struct topoopt_peer *b)
{
	if (a->slot != b->slot)
		return a->slot < b->slot ? -1 : 1;
	return memcmp(a->mac, b->mac, ETH_ALEN);
}

/**
 * topoopt_continuity_commit() - publish a table, and check its neighbours from now on
 * @tdev: topoopt device
 * @table: that becomes active
 *
 * Under topoopt_dev.lock. What is known of neighbours that the table before has, too, is
 * kept. Return: the table before.
 */
struct topoopt_table *topoopt_continuity_commit(struct topoopt_dev *tdev,
						struct topoopt_table *table);

/**
 * topoopt_continuity_receive() - take a frame with the EtherType of checks
 * @port: where it arrived
 * @skb: frame; data behind the MAC header
 *
 * Under RCU. Return: whether it is a check of a topoopt device; the caller frees it, and
 * the stack gets all others.
 */
bool topoopt_continuity_receive(const struct topoopt_port *port, struct sk_buff *skb);

/* Set up, and take down with the device. */
void topoopt_continuity_init(struct topoopt_dev *tdev);
void topoopt_continuity_exit(struct topoopt_dev *tdev);

#endif
