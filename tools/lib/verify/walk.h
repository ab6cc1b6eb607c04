/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_WALK_H
#define TOPOOPT_WALK_H

/*
 * What becomes of packets while links are down, whatever the flow hashes choose: all
 * that decides it is where a packet is and the port it arrived at.
 */

#include "routing/forwarding.h"

/** enum to_walk_end - the worst that can happen to packets */
enum to_walk_end { TO_WALK_ARRIVE, TO_WALK_LOST, TO_WALK_LOOP };

/**
 * struct to_walk - walks to the address that @f has resolved
 * @down: per server, arcs that are down, see to_forwarding_onward()
 * @hole: the same of arcs that lead nowhere, which their senders do not see
 * @reached, @above: sets of servers; those in the first and not in the second forward
 *	to none but their like, so that packets arrive from there if they take no
 *	alternate. NULL when nobody knows.
 * @n_done, @done: nodes that were walked, each after all those it sends to
 *
 * Packets that go on alike are at one node: node x is server x, node n + a its
 * packets from arc a for whose port it has an alternate.
 */
struct to_walk {
	const struct to_forwarding *f;
	uint64_t *down, *hole;
	const uint64_t *reached, *above;
	unsigned int n_done;
	uint32_t *done;
	/* scratch */
	uint32_t *seen, mark;
	uint8_t *end;
	struct to_walk_frame *stack;
	struct to_arena arena;		/* has all arrays */
};

/** to_walk_init() - nothing is down. Return: 0 or -ENOMEM. */
int to_walk_init(struct to_walk *walk, const struct to_forwarding *f);
void to_walk_free(struct to_walk *walk);

/** to_walk_begin() - forget what was walked; after any change */
void to_walk_begin(struct to_walk *walk);

/** to_walk() - what becomes of packets at server @x that arrived on arc @in, see to_forwarding_onward() */
enum to_walk_end to_walk(struct to_walk *walk, uint32_t x, uint32_t in);

#define TO_WALK_ARRIVED UINT32_MAX
/** to_walk_node() - the node of such packets, TO_WALK_ARRIVED when they are where they want */
uint32_t to_walk_node(const struct to_walk *walk, uint32_t x, uint32_t in);

/** to_walk_out() - the server of @node in @x. Return: arcs, as to_forwarding_onward(). */
uint64_t to_walk_out(const struct to_walk *walk, uint32_t node, uint32_t *x);

/** to_walk_in() - whether server @x is in @set */
static inline bool to_walk_in(const uint64_t *set, uint32_t x)
{
	return set[x / 64] >> x % 64 & 1;
}

#endif
