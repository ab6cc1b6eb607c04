/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOPOOPT_PEERS_H
#define TOPOOPT_PEERS_H

/* The neighbours that a table expects, and what is known of them; see continuity.c. */

#include <linux/if_ether.h>
#include <linux/mm.h>
#include <linux/refcount.h>
#include <linux/siphash.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/topoopt.h>

#include "ccm.h"

/*
 * What a neighbour takes, as topoopt_peer.takes: packets that it has to relay, packets for
 * itself, packets that have no other way. One that has lost its table takes those for
 * itself. One that is heard again, and not yet trusted, takes those that would be dropped.
 */
#define TOPOOPT_PEER_TRANSIT	BIT(0)
#define TOPOOPT_PEER_LOCAL	BIT(1)
#define TOPOOPT_PEER_RESORT	BIT(2)

/* A neighbour that takes one of these is trusted. */
#define TOPOOPT_PEER_TRUSTED	(TOPOOPT_PEER_TRANSIT | TOPOOPT_PEER_LOCAL)

/**
 * struct topoopt_peer - a neighbour that the table expects at a port
 * @takes: TOPOOPT_PEER_*; written under topoopt_dev.live_lock, read by packets
 * @reason: enum topoopt_check_reason; this and all that is not constant is under
 *	topoopt_dev.live_lock
 * @untold: listeners do not know yet what is known now
 * @alone: no other neighbour is expected at the port: it is no packet switch; constant
 * @slot: slot of the port; constant
 * @ifindex: ifindex of the port; constant
 * @index: index of the neighbour's server, as in topoopt_route.server; constant
 * @mac: MAC address that transit goes to; constant
 * @server: name of the neighbour; constant
 * @port: name of the neighbour's port; constant
 * @known: all that follows; kept by the next table
 * @nonce: what checks to the neighbour carry now; it proves that it hears them by
 *	repeating it. The upper half is drawn when checks are switched on.
 * @former: nonce before that, which checks under way may still repeat
 * @renewed: ticks since @nonce was drawn
 * @age: ticks since checks of the neighbour were switched on, up to topoopt_peers.grace
 * @silence: ticks since a check of the neighbour
 * @heard_at: time of that check, in nanoseconds of CLOCK_MONOTONIC
 * @fresh: a check since the last tick says that both ends hear each other
 * @run: ticks with @fresh in a row, up to @wanted
 * @wanted: ticks with @fresh that a silent neighbour takes to be trusted again
 * @relapses: how often the neighbour fell silent soon after it was trusted
 * @heard: both ends have heard each other since checks were switched on
 * @sent: checks sent to the neighbour
 * @last: the neighbour's last check
 * @missing: checks that the neighbour's sequence numbers skip
 * @received: checks of the neighbour
 * @trusted: ticks since the neighbour was last distrusted
 * @largest: bytes of the largest frame that arrived lately; 0 while that is unknown
 * @padded: checks since the last padded one
 * @stranger: ticks for which somebody else is still taken to be there; 0: nobody is
 * @stranger_server: name of that server
 * @stranger_port: name of its port
 */
struct topoopt_peer {
	u8 takes;
	u8 reason;
	bool untold;
	bool alone;
	u16 slot;
	u32 ifindex;
	u32 index;
	u8 mac[ETH_ALEN] __aligned(2);
	char server[TOPOOPT_CCM_SERVER];
	char port[TOPOOPT_CCM_PORT];

	struct_group_tagged(topoopt_peer_known, known,
		u64 nonce;
		u64 former;
		u32 renewed;
		u32 age;
		u32 silence;
		u64 heard_at;
		bool fresh;
		bool heard;
		u32 run;
		u32 wanted;
		u32 relapses;
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
 * @users: tables that have it; the last one that is freed frees it
 * @interval: enum topoopt_check_interval
 * @answers: checks are switched off, and go only to neighbours that expect them; under
 *	topoopt_dev.live_lock
 * @fabric: number of the fabric
 * @key: secret that the fabric shares
 * @grace_ms: as it was asked for
 * @grace: ticks in which neighbours that were never heard are trusted
 * @server: name of this server
 * @count: neighbours
 * @peer: by port
 */
struct topoopt_peers {
	refcount_t users;
	u8 interval;
	bool answers;
	u64 fabric;
	siphash_key_t key;
	u32 grace_ms;
	u32 grace;
	char server[TOPOOPT_CCM_SERVER];
	u32 count;
	struct topoopt_peer peer[] __counted_by(count);
};

/* Drop a table's reference. NULL is fine. */
static inline void topoopt_peers_put(struct topoopt_peers *peers)
{
	if (peers && refcount_dec_and_test(&peers->users))
		kvfree(peers);
}

/* The order of topoopt_peers.peer: by port, then by MAC address. As memcmp(). */
static inline int topoopt_peer_order(const struct topoopt_peer *a, const struct topoopt_peer *b)
{
	if (a->slot != b->slot)
		return a->slot < b->slot ? -1 : 1;
	return memcmp(a->mac, b->mac, ETH_ALEN);
}

#endif
