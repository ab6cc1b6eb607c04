/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_WALK_H
#define TOPOOPT_WALK_H

/*
 * Ends of packets while links are down, whatever the flow hashes choose. They follow from
 * where a packet is and from the port at which it arrived.
 */

#include "routing/forwarding.h"

/** enum to_walk_end - the worst that can happen to packets */
enum to_walk_end { TO_WALK_ARRIVE, TO_WALK_LOST, TO_WALK_LOOP };

/**
 * struct to_walk - walks to the address that @f has resolved
 *
 * A node stands for packets that go on alike: node x is server x; node n + a is packets that
 * arrived by arc a at a server with an alternate for that port.
 *
 * A server in @reached but not in @above is called safe: its packets meet nothing that is down.
 * It forwards only to safe servers, so its packets arrive, unless they take an alternate.
 */
struct to_walk {
	const struct to_forwarding *f;
	uint64_t *down;			/* per server: arcs that are down, see to_forwarding_onward() */
	uint64_t *hole;			/* per server: arcs that lead nowhere, unseen by their senders */
	const uint64_t *reached;	/* set of servers whose packets arrive while nothing is down */
	const uint64_t *above;		/* set of servers whose packets meet what is down, or NULL */
	unsigned int n_done;
	uint32_t *done;			/* nodes walked, each after all nodes that it sends to */
	uint32_t *seen, mark;		/* scratch */
	uint8_t *end;			/* scratch */
	struct to_walk_frame *stack;	/* scratch */
	struct to_arena arena;		/* has all arrays */
};

/** to_walk_init() - begin with nothing down. Return: 0 or -ENOMEM. */
int to_walk_init(struct to_walk *walk, const struct to_forwarding *f);

/** to_walk_free() - free all arrays */
void to_walk_free(struct to_walk *walk);

/** to_walk_begin() - forget what was walked; call after any change */
void to_walk_begin(struct to_walk *walk);

/**
 * to_walk() - find the worst end of packets at server @x that arrived by arc @in
 * @in: as in to_forwarding_onward()
 */
enum to_walk_end to_walk(struct to_walk *walk, uint32_t x, uint32_t in);

#define TO_WALK_ARRIVED UINT32_MAX	/* node of packets at their destination */

/** to_walk_node() - return the node of packets at server @x that arrived by arc @in */
uint32_t to_walk_node(const struct to_walk *walk, uint32_t x, uint32_t in);

/**
 * to_walk_out() - return the arcs by which packets leave @node, as to_forwarding_onward()
 * @x: set to the server of @node
 */
uint64_t to_walk_out(const struct to_walk *walk, uint32_t node, uint32_t *x);

/** to_walk_in() - tell whether server @x is in @set */
static inline bool to_walk_in(const uint64_t *set, uint32_t x)
{
	return set[x / 64] >> x % 64 & 1;
}

#endif
