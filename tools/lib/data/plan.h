/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PLAN_H
#define TOPOOPT_PLAN_H

/*
 * A plan: the only thing that passes between the optimiser and the kernel
 * side. plan.json. Self-contained: servers, links, rings and trees, routes of
 * every server, cross-connects, the demand it was made for, predictions.
 */

#include <jansson.h>
#include <stdint.h>

#include "data/cluster.h"
#include "data/demand.h"
#include "data/layout.h"

#define TO_GROUP_NONE UINT16_MAX
#define TO_PORT_SHARES 256	/* what the port shares of a pair add up to */
#define TO_STRETCH_DEFAULT 3.0	/* of to_plan.max_stretch */
#define TO_GROUP_SHARES 256	/* the least share of a next hop is one of so many */

/**
 * struct to_nexthop - one choice of a group
 *
 * An alternate takes packets for these addresses that arrive at one port, which they do only
 * when a failure turned them back (alternates.h). A group has one alternate per port at most.
 *
 * A next hop has no MAC address: it follows from the port at the other end of the link. That is
 * the RDMA address for the last hop to the port's own address, else the relay address.
 */
struct to_nexthop {
	uint16_t port;		/* egress port of the server that holds the table */
	uint16_t weight;	/* relative share, >= 1 */
	bool backup;		/* used only when no other next hop of the group is live */
	uint8_t ingress;	/* of an alternate: 1 + port of arrival, for whose packets it overrides
				   the group's other next hops; else 0 */
	uint32_t peer;		/* server to send to, where @port is on a packet switch; else 0 */
};

/** to_nexthop_primary() - tell whether a next hop is used while nothing is broken */
static inline bool to_nexthop_primary(const struct to_nexthop *hop)
{
	return !hop->backup && !hop->ingress;
}

/** struct to_group - next hops among which flows are spread */
struct to_group {
	unsigned int n;
	struct to_nexthop *nexthops;
};

/**
 * to_group_least() - find a next hop whose share is too small for the kernel
 *
 * The least share is 1 / TO_GROUP_SHARES of the weight of all primaries of @group, or of all
 * its backups.
 *
 * Return: index of the next hop, -1 when there is none.
 */
int to_group_least(const struct to_group *group);

/** struct to_source_route - source-qualified route */
struct to_source_route {
	uint32_t src, dst;	/* servers */
	uint16_t slot;		/* address of @dst: 0 = node address, 1 + q = port q */
	uint16_t group;		/* group of the same table */
};

/** struct to_table - routes of one server */
struct to_table {
	unsigned int n_groups, n_pairs;
	struct to_group *groups;
	uint16_t *route;	/* group of each destination address, [dst * to_plan.slots + slot];
				   TO_GROUP_NONE for the server's own addresses and absent ports */
	struct to_source_route *pairs;	/* sorted by (dst, slot, src) */
};

/** struct to_cross_connect - a pair of ports of one optical switch */
struct to_cross_connect {
	unsigned int optical_switch;
	unsigned int a, b;	/* simplex: light goes from a to b */
};

/** struct to_candidate - the best topology of one family, among those that competed */
struct to_candidate {
	char family[TO_NAME_MAX];	/* name of the family */
	unsigned int ports;		/* ports of a server that AllReduce could take */
	double estimated_time;		/* seconds that the busiest link is busy, without tables */
	double comm_time;		/* seconds, predicted from tables, with the latency of
					   AllReduce; 0 when the topology was not routed */
	bool chosen;			/* the plan has this topology */
};

/** struct to_latency - time of AllReduce beside that of bytes, in seconds */
struct to_latency {
	double step;		/* per message to a neighbour */
	double relay;		/* per server that passes a message on */
};

/*
 * Half of what a round trip between neighbours takes, and half of what a relay adds to
 * it, in nanoseconds: Documentation/performance.md, Goodput and latency.
 */
#define TO_STEP_LATENCY_DEFAULT 8000
#define TO_RELAY_LATENCY_DEFAULT 1350

/**
 * enum to_collective_algorithm - how a job does AllReduce
 * @TO_COLLECTIVE_PLAN: on the rings or trees that the plan has for the group
 * @TO_COLLECTIVE_RING: on one ring in one direction
 * @TO_COLLECTIVE_PS: with a parameter server on each member
 * @TO_COLLECTIVE_BML: by BML, where links are those of BCube, with packet switches or a
 *	full mesh for each
 */
enum to_collective_algorithm {
	TO_COLLECTIVE_PLAN, TO_COLLECTIVE_RING, TO_COLLECTIVE_PS, TO_COLLECTIVE_BML
};

extern const char *const to_collective_algorithms[];	/* ends with NULL */

/** struct to_plan - plan of one job */
struct to_plan {
	struct to_cluster *cluster;	/* servers, switches, and the links of the plan */
	struct to_demand *demand;	/* traffic that the plan was made for */
	uint64_t seed;
	double max_stretch;		/* most hops of a route over those of a shortest path; 0: not
					   known. See to_plan_most_hops() */
	bool no_buffer_cycles;		/* no buffer waits for itself on the routes, see up_down.h; some
					   servers have no route to some addresses of ports */
	struct to_latency latency;	/* of AllReduce; zeros: not known */
	enum to_collective_algorithm collective;	/* default of toctl collective */
	unsigned int slots;		/* addresses per server: 1 + the largest number of ports */
	unsigned int n_rings, n_trees, n_cross_connects, n_candidates, n_down, n_dark;
	struct to_ring *rings;
	struct to_allreduce_tree *trees;
	struct to_cross_connect *cross_connects;
	struct to_candidate *candidates;	/* best estimate first; none when links are fixed */
	struct to_table *tables;	/* one per server */
	struct to_port_ref *peers;	/* [server * (slots - 1) + port], of ports on cables; made by
					   to_plan_index() */
	uint16_t *port_shares;		/* of RDMA transfers: part of TO_PORT_SHARES that enters by each
					   port, [(src * n + dst) * (slots - 1) + port], or NULL */
	double least_time;		/* lower bound of the busiest link's time over all routes on
					   these links, seconds; 0: not known */
	struct to_port_ref *down;	/* ports, and servers with TO_DOWN_SERVER, that are not used */
	struct to_link *dark;		/* links that no table uses, as an end is down; their
					   cross-connects stay, so that light comes back. One end
					   of a duplex link may have another link */
	json_t *predictions;		/* object of figures, owned; see to_verify() */
	unsigned int held;		/* calls of to_plan_free() that only undo to_plan_hold() */
};

/**
 * to_plan_most_hops() - return the most hops of a route where a shortest path has @distance
 * @stretch: >= 1; to the address of a port, the shortest path is the one that enters
 *	by it
 *
 * A server that a shortest path leads to next has at least one hop less.
 */
static inline uint16_t to_plan_most_hops(uint16_t distance, double stretch)
{
	double hops = distance * stretch * (1 + 1e-9);

	return hops < UINT16_MAX - 1 ? hops : UINT16_MAX - 1;
}

void to_plan_free(struct to_plan *plan);

/**
 * to_plan_hold() - keep @plan, which others may free, until to_plan_free()
 *
 * All who have it read only, in whatever thread. Return: @plan.
 */
struct to_plan *to_plan_hold(const struct to_plan *plan);

/** to_plan_layout() - return links, rings and trees, still owned by @plan */
struct to_layout to_plan_layout(const struct to_plan *plan);

/**
 * to_plan_set_layout() - give @plan other links, rings and trees
 * @layout: taken over
 *
 * Tables, cross-connects, peers, port shares and predictions of the old layout are freed.
 */
void to_plan_set_layout(struct to_plan *plan, struct to_layout *layout);

/**
 * to_plan_swap_layouts() - exchange links, rings, trees, and all that is made from them
 *
 * The plans have the same servers.
 */
void to_plan_swap_layouts(struct to_plan *a, struct to_plan *b);

/**
 * to_plan_alloc_tables() - tables without groups and routes for all servers
 *
 * Sets to_plan.slots from the cluster and every route to TO_GROUP_NONE.
 *
 * Return: 0 or -ENOMEM.
 */
int to_plan_alloc_tables(struct to_plan *plan);

/** to_plan_renew_tables() - the same in the place of those that there are */
int to_plan_renew_tables(struct to_plan *plan);

/** to_plan_sort_pairs() - into the order that struct to_table promises */
void to_plan_sort_pairs(struct to_table *table);

/**
 * to_plan_add_group() - group of @table equal to (@nexthops, @n), new if none
 *
 * Return: its index, or -ENOMEM, or -ENOSPC past 65534 groups.
 */
int to_plan_add_group(struct to_table *table, const struct to_nexthop *nexthops,
		      unsigned int n);

/** to_plan_new_group() - the same of next hops that no group of @table has */
int to_plan_new_group(struct to_table *table, const struct to_nexthop *nexthops,
		      unsigned int n);

/**
 * to_plan_index() - make to_plan.peers from the links; after any change of them
 *
 * Return: 0 or -ENOMEM.
 */
int to_plan_index(struct to_plan *plan);

/**
 * to_plan_peer() - other end of the link that port @at transmits into
 *
 * Return: 0, or -ENOLINK when the port is dark, or on a packet switch, where it has many.
 * Needs to_plan_index().
 */
int to_plan_peer(const struct to_plan *plan, struct to_port_ref at,
		 struct to_port_ref *peer);

/** to_plan_does_without() - whether port @at, or its server, is down in to_plan.down */
bool to_plan_does_without(const struct to_plan *plan, struct to_port_ref at);

/** to_plan_leads() - whether port @at reaches server @to at one hop */
bool to_plan_leads(const struct to_plan *plan, struct to_port_ref at, uint32_t to);

/** to_plan_hop_end() - the port that @hop of @server sends to. 0 or -ENOLINK, as above. */
int to_plan_hop_end(const struct to_plan *plan, uint32_t server, const struct to_nexthop *hop,
		    struct to_port_ref *end);

#endif
