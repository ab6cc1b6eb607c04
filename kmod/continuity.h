/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOPOOPT_CONTINUITY_H
#define TOPOOPT_CONTINUITY_H

/*
 * Continuity checks: each port tells the neighbours that the table expects there who it
 * is, and hears who they are. A neighbour that is not heard takes no traffic, whatever
 * the light on the cable.
 */

#include <linux/skbuff.h>
#include <linux/types.h>

#include "peers.h"

struct topoopt_dev;
struct topoopt_port;

/* Fill in what is known of a neighbour at first: nothing. The others of @peers are there. */
void topoopt_continuity_begin(const struct topoopt_peers *peers, struct topoopt_peer *peer);

/* Ticks of the timer in so many milliseconds. */
u32 topoopt_continuity_ticks(u8 interval, u32 ms);

/**
 * topoopt_continuity_commit() - publish a table, and check its neighbours from now on
 * @tdev: topoopt device
 * @table: that becomes active
 *
 * Under topoopt_dev.lock. What is known of neighbours that the table before has, too, is
 * kept. A table without neighbours goes on telling those of the table before what has
 * become of this server, for as long as they expect checks. Return: the table before.
 */
struct topoopt_table *topoopt_continuity_commit(struct topoopt_dev *tdev,
						struct topoopt_table *table);

/* Send checks to all neighbours at once, so that they learn what changed. */
void topoopt_continuity_announce(struct topoopt_dev *tdev);

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
