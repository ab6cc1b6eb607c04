/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_FAILURES_H
#define TOPOOPT_FAILURES_H

/* Whose packets for one address a failure meets, and what becomes of them. */

#include "verify/walk.h"

/**
 * struct to_failures - packets for one address, of all sources or of one
 * @words: of 64 bits, in a set of servers
 * @sources: whose packets are looked at: packets from all of them arrive while
 *	nothing is broken
 * @used: per server, arcs that their packets use then
 * @met: servers that have any, @n_met of them
 * @affected: sources whose packets use something that is dead; set by
 *	to_failures_evaluate() as are
 * @lost, @looping: the sources among them whose packets can be lost, or loop
 * @twin: per arc, the other direction of its link, UINT32_MAX for none
 * @cable: per arc, see to_graph_cables()
 * @segment: per arc, the packet switch that it crosses, as to_port.packet_switch
 * @dead: arcs that are down or lead nowhere, @n_dead of them
 * @without: server that is down, TO_SERVER_NONE for none
 */
struct to_failures {
	struct to_forwarding *f;
	struct to_walk walk;
	size_t words;
	uint64_t *sources, *used, *affected, *lost, *looping;
	uint32_t *met, n_met, *twin, *dead, n_dead, without;
	unsigned int *segment;
	uint64_t *cable;
	bool one;			/* all packets are of @source */
	uint32_t source;
	uint64_t *above, *reached;	/* [server * words]: sources of packets that meet it */
	uint64_t *joined;		/* see to_failures_joined() */
	uint32_t *queue;
	struct to_arena arena;		/* has all arrays */
};

/** to_failures_init() - allocate for the fabric of @f. Return: 0 or -ENOMEM. */
int to_failures_init(struct to_failures *o, struct to_forwarding *f);
void to_failures_free(struct to_failures *o);

/**
 * to_failures_resolve() - look at packets for an address, see to_forwarding_resolve()
 * @at: 0 for the first address; moves on in o->f->qualified from one address to the
 *	next. Sources that have routes of their own to this one are left out.
 *
 * Return: whether an alternate takes some of them while nothing is broken, which
 * none should: failures cannot be evaluated then.
 */
bool to_failures_resolve(struct to_failures *o, uint32_t dst, unsigned int slot,
			 unsigned int *at);

/**
 * to_failures_qualify() - look at packets of one source, see to_forwarding_qualify()
 *
 * Return: what becomes of them while nothing is broken. When they do not arrive they are
 * not looked at.
 */
enum to_walk_end to_failures_qualify(struct to_failures *o, unsigned int first, unsigned int last);

/** to_failures_uses() - tell whether packets that are looked at use @arc while nothing is broken */
static inline bool to_failures_uses(const struct to_failures *o, uint32_t arc)
{
	const struct to_graph *g = o->f->graph;
	uint32_t x = g->from[arc];

	return o->used[x] >> (arc - g->out[x]) & 1;
}

/** to_failures_above() - return the set of sources of packets that meet server @x */
static inline const uint64_t *to_failures_above(const struct to_failures *o, uint32_t x)
{
	return &o->above[x * o->words];
}

/** to_failures_count() - count the servers that are in both sets */
uint64_t to_failures_count(const struct to_failures *o, const uint64_t *a, const uint64_t *b);

/** to_failures_kill() - take an arc down, if it is not down */
void to_failures_kill(struct to_failures *o, uint32_t arc);

/** to_failures_kill_unseen() - take an arc down whose sender goes on to send */
void to_failures_kill_unseen(struct to_failures *o, uint32_t arc);

/** to_failures_first_of_cable() - tell whether of the arcs on its cable @arc is the first in use */
bool to_failures_first_of_cable(const struct to_failures *o, uint32_t arc);

/** to_failures_kill_cable() - take both directions of all links on the cable of @arc down */
void to_failures_kill_cable(struct to_failures *o, uint32_t arc);

/** to_failures_kill_segment() - take all links of a packet switch down */
void to_failures_kill_segment(struct to_failures *o, unsigned int segment);

/** to_failures_kill_port() - take a port on a packet switch down, which others do not see */
void to_failures_kill_port(struct to_failures *o, uint32_t x, unsigned int port);

/** to_failures_kill_server() - take all links of @x down, seen on cables; @x is no source then */
void to_failures_kill_server(struct to_failures *o, uint32_t x);

/** to_failures_repair() - take everything up again */
void to_failures_repair(struct to_failures *o);

/** to_failures_evaluate() - find what becomes of packets that use what is down */
void to_failures_evaluate(struct to_failures *o);

/**
 * to_failures_whole() - tell whether every server that is up reaches every other one by links
 *	that are left
 */
bool to_failures_whole(struct to_failures *o);

/** to_failures_port_dark() - tell whether no link that is left leads into the port of the address */
bool to_failures_port_dark(const struct to_failures *o);

/**
 * to_failures_joined() - return the set of servers with a path left to the address
 *
 * Paths to the address of a port may cross its server, as RoCEv2 does.
 */
const uint64_t *to_failures_joined(struct to_failures *o);

#endif
