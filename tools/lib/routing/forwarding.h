/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_FORWARDING_H
#define TOPOOPT_FORWARDING_H

/* What the tables of a plan do with the packets for one address. */

#include <stdbool.h>

#include "base/arena.h"
#include "data/bypass.h"
#include "data/graph.h"
#include "data/plan.h"

/** struct to_qualified - source-qualified route of @server, see to_source_route */
struct to_qualified {
	uint32_t dst, src, server;
	uint16_t slot, group;
};

/**
 * struct to_forwarding - the paths to one address from everywhere
 * @arc: arc that port q of server x sends into: [x * (plan.slots - 1) + q],
 *	UINT32_MAX when the port is dark, or on a packet switch; to_forwarding_arc() knows both
 * @live: per group, [first_group[x] + g]: its next hops that are no backups, as
 *	a bit mask of arcs, bit k is arc graph.out[x] + k; dark ports left out
 * @spare: the same of its backups
 * @turned: per group, the ports that it has alternates for, bit k is port k
 * @qualified: all source-qualified routes by (dst, slot, src, server)
 * @dst, @slot: the address that was resolved last
 * @group: per server, index into @live, UINT32_MAX when it has no route
 * @order: servers, each after all those that it forwards to, @dst first
 * @n_reached: of these, the packets of the first so many arrive on all branches
 * @n_loop_free: the packets of the next ones up to here can be lost at a server
 *	without a route; those of the rest can loop
 * @level: per server among @n_reached, most hops to @dst
 * @bypass: gets what cards pass on of bytes that are spread; borrowed, NULL for nothing
 */
struct to_forwarding {
	const struct to_plan *plan;
	const struct to_graph *graph;
	uint32_t *arc, *first_group;
	uint64_t *live, *spare, *turned;
	unsigned int n_qualified;
	struct to_qualified *qualified;
	uint32_t dst;
	unsigned int slot;
	uint32_t *group, *order, *level;
	unsigned int n_reached, n_loop_free;
	uint64_t *next;			/* @live of @group, per server */
	unsigned int *waiting;		/* scratch */
	struct to_bypass *bypass;
	struct to_arena arena;		/* has all arrays */
};

/** to_forwarding_init() - read the tables of @plan. Return: 0 or -ENOMEM. */
int to_forwarding_init(struct to_forwarding *f, const struct to_plan *plan,
		       const struct to_graph *graph);
void to_forwarding_free(struct to_forwarding *f);

/** to_forwarding_arc() - arc that @hop of server @x sends on, UINT32_MAX when there is none */
uint32_t to_forwarding_arc(const struct to_forwarding *f, uint32_t x,
			   const struct to_nexthop *hop);

/** to_nexthop_on() - the next hop that sends on @arc of @graph, of weight 1 */
static inline struct to_nexthop to_nexthop_on(const struct to_plan *plan,
					      const struct to_graph *graph, uint32_t arc)
{
	uint32_t x = graph->from[arc], q = graph->port[arc];
	bool shared = plan->cluster->servers[x].ports[q].packet_switch;

	return (struct to_nexthop){ .port = q, .weight = 1, .peer = shared ? graph->to[arc] : 0 };
}

/**
 * to_forwarding_return() - arc that RoCEv2 for the resolved port leaves its server by
 *
 * That is when it entered through another port: the port's link, the first one if it is on
 * a packet switch. UINT32_MAX for a node address, or a dark port.
 */
uint32_t to_forwarding_return(const struct to_forwarding *f);

/** to_forwarding_resolve() - find the paths to address @slot of server @dst */
void to_forwarding_resolve(struct to_forwarding *f, uint32_t dst, unsigned int slot);

/**
 * to_forwarding_qualify() - use the routes that one source has for itself
 * @first, @last: range of f->qualified with the same (dst, slot, src)
 */
void to_forwarding_qualify(struct to_forwarding *f, unsigned int first, unsigned int last);

/**
 * to_forwarding_onward() - next hops of a packet
 * @x: server that has it
 * @in: arc that it arrived on, UINT32_MAX when @x is its source
 * @down: per server, arcs that are down, bit k is arc graph.out[x] + k; NULL for
 *	none
 *
 * As the kernel does it: the alternate for the port it arrived at, else live
 * primaries, else live backups. RoCEv2 for a port that entered its server through
 * another one leaves through that port and is sent back by a peer there; any other packet
 * has arrived at @dst.
 *
 * Return: arcs, same mask; 0 when the packet has arrived or is lost.
 */
uint64_t to_forwarding_onward(const struct to_forwarding *f, uint32_t x, uint32_t in,
			      const uint64_t *down);

/** struct to_part - @share of what server @from sends or forwards leaves it by @arc */
struct to_part {
	uint32_t from, arc;
	float share;
};

/**
 * to_forwarding_parts() - the paths that were resolved, as a list
 * @parts: room for all arcs; those of a server come after all that lead to it
 *
 * Return: how many.
 */
unsigned int to_forwarding_parts(const struct to_forwarding *f, struct to_part *parts);

/**
 * to_forwarding_spread() - send bytes along the paths that were resolved
 * @flow: per server, bytes that it sends; left as bytes that it forwards
 * @load: per arc, added to; may be NULL
 *
 * Groups are split by their weights. Bytes that start at a server that does
 * not reach @dst are left out.
 */
void to_forwarding_spread(const struct to_forwarding *f, double *flow, double *load);

#endif
