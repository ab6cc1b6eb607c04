/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_DETOURS_H
#define TOPOOPT_DETOURS_H

/* The detours of one address, see alternates.h. */

#include "base/arena.h"
#include "routing/forwarding.h"

#define TO_DETOUR_NONE UINT32_MAX
#define TO_DETOUR_PLAIN (UINT32_MAX - 1)

/**
 * struct to_detour_step - how a search came upon an arc
 * @seen: per arc that is its own entry: the search that came by it last
 * @came: the arc before, UINT32_MAX at the first
 * @depth: arcs up to this one
 * @pushed: its number in the search
 */
struct to_detour_step {
	uint32_t seen, came, depth, pushed;
};

/**
 * struct to_detour_server - a server and those that send by it, see detours_number()
 * @sole: the server that all its next hops are, itself where they are several and at
 *	the destination, TO_SERVER_NONE without a path
 * @branch, @number, @under: the root of its tree, its number there and how many send by it
 * @numbered: of these, the number that is next
 * @level: to_forwarding.level
 * @above, @below: mark when its packets can meet the server that is marked, and when not
 */
struct to_detour_server {
	uint32_t sole, branch, number, under, numbered, level, above, below;
};

/**
 * struct to_detours - what happens to packets that a failure turned back
 * @entry: per arc, the first that enters the same port: itself, but on packet switches
 * @onward: per arc that is its own @entry, the arc that packets take which arrived at the
 *	port; TO_DETOUR_PLAIN where a detour ends and they do as all others;
 *	TO_DETOUR_NONE where there is no detour, which is the same for them
 * @backup: per server, the arc to take when its next hops are down, which are on one cable,
 *	or TO_DETOUR_NONE
 */
struct to_detours {
	const struct to_graph *graph;
	uint32_t *entry, *onward, *backup;
	/* while one is sought */
	uint32_t *base_onward, *base_backup;	/* for all sources, see to_detours_release() */
	bool based;
	bool returns;				/* RoCEv2 that entered by another port comes back */
	bool *open;				/* per server: its groups may change */
	bool *reached;				/* per server: has a path */
	bool *primary;				/* per arc: carries packets without a failure */
	bool *entered;				/* per entry: an arc there does */
	unsigned int *segment;			/* per arc: to_port.packet_switch */
	uint64_t *cable;			/* per arc: see to_graph_cables() */
	uint32_t *critical, *chosen;
	unsigned int n_critical, n_chosen;
	struct to_detour_step *steps;		/* per arc */
	struct to_detour_server *servers;
	uint32_t *queue, arc_mark, server_mark, marked;
	bool leaps;				/* chains are used; not on packet switches */
	uint32_t *end, *rank, *jump;	/* see detours_chain() */
	struct to_arena arena;			/* has all arrays */
};

/** to_detours_init() - room for any address of @cluster's @graph. Return: 0 or -ENOMEM. */
int to_detours_init(struct to_detours *d, const struct to_graph *graph,
		    const struct to_cluster *cluster);
void to_detours_free(struct to_detours *d);

/** to_detours_reset() - no detours, for the address that @f resolved */
void to_detours_reset(struct to_detours *d);

/**
 * to_detours_release() - for the routes that one source has for itself
 * @first, @last: range of f->qualified
 *
 * After to_detours_find() for all sources, whose detours stay as they are but at the
 * servers of these routes.
 */
void to_detours_release(struct to_detours *d, const struct to_forwarding *f,
			unsigned int first, unsigned int last);

/**
 * to_detours_find() - find a detour around each single failure
 * @f: with paths that were resolved or qualified
 */
void to_detours_find(struct to_detours *d, const struct to_forwarding *f);

#endif
