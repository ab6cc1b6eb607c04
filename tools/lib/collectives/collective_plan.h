/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_COLLECTIVE_PLAN_H
#define TOPOOPT_COLLECTIVE_PLAN_H

/* An AllReduce on the links of a plan: its steps, between which addresses, over which links. */

#include "collectives/steps.h"
#include "data/plan.h"
#include "graph/bcube.h"
#include "routing/forwarding.h"

#define TO_COLLECTIVE_NO_GROUP UINT32_MAX

/**
 * struct to_collective_plan - see to_collective_plan_init()
 * @group: of the demand, TO_COLLECTIVE_NO_GROUP for all servers
 * @nodes: between node addresses only, routed, also where there is a link
 * @size: elements of the buffer
 * @n, @members: servers of the plan
 * @order: members in the order of TO_COLLECTIVE_RING
 * @halving: the hypercube of recursive halving, by which the plan has the group reduced; of 0
 *	servers where it has not
 * @bcube: that all servers and links are; of 0 servers when they are not, or not all are
 *	members
 * @graph: of the links
 */
struct to_collective_plan {
	const struct to_plan *plan;
	enum to_collective_algorithm algorithm;
	uint32_t group;
	bool nodes;
	uint64_t size;
	uint32_t n, *members, *order;
	struct to_bcube halving, bcube;
	struct to_graph *graph;
};

/**
 * to_collective_plan_init() - an AllReduce by @algorithm
 * @plan: is kept, not owned
 * @group: index into the demand's groups; TO_COLLECTIVE_NO_GROUP: the first, or all
 *	servers when there is none
 *
 * Return: 0 or a negative errno with @err set: no such group, links that BML does not
 * run on, fewer elements than members, a plan without tables; -ENOMEM.
 */
int to_collective_plan_init(struct to_collective_plan *c, const struct to_plan *plan,
			    enum to_collective_algorithm algorithm, uint32_t group, bool nodes,
			    uint64_t size, struct to_error *err);
void to_collective_plan_free(struct to_collective_plan *c);

/** to_collective_plan_member() - return the number of a server among the members, -1 if it is none */
int to_collective_plan_member(const struct to_collective_plan *c, uint32_t server);

/**
 * to_collective_plan_steps() - what @member does
 * @steps: to be freed
 *
 * Return: 0 or -ENOMEM.
 */
int to_collective_plan_steps(const struct to_collective_plan *c, uint32_t member, struct to_steps *steps);

/**
 * struct to_collective_ends - the two ends of a connection from one member to another
 *
 * An address is 0 for that of the node, 1 + q for that of port q.
 */
struct to_collective_ends {
	unsigned int from;	/* address of the sender; 0: the sender's tables choose it */
	unsigned int to;	/* address of the receiver */
	uint32_t arc;		/* link that the connection uses, UINT32_MAX: it is routed */
};

/** to_collective_plan_ends() - find the ends of the connection from one member to another in @lane */
struct to_collective_ends to_collective_plan_ends(const struct to_collective_plan *c, uint32_t from,
						  uint32_t to, uint32_t lane);

/**
 * to_collective_plan_link_bytes() - what it puts on links, without headers
 * @bytes: gets them per arc of to_collective_plan.graph
 * @certain: whether no table divides what is routed: a flow takes one of several next
 *	hops, bytes are then what is expected of many
 *
 * Return: 0 or -ENOMEM.
 */
int to_collective_plan_link_bytes(const struct to_collective_plan *c, double *bytes, bool *certain);

/**
 * to_collective_plan_closed_form() - find the share of the buffer that a port of BCube sends, by the
 *	closed form of the algorithm
 *
 * BML and a balanced parameter server only, which load all ports alike; a port stands for
 * the n - 1 links in the place of its switch. Return: 0 for any other.
 */
double to_collective_plan_closed_form(const struct to_collective_plan *c);

/** to_collective_plan_fill() - what @member has before: other members have other values */
void to_collective_plan_fill(const struct to_collective_plan *c, uint32_t member, float *buffer);

/** to_collective_plan_wrong() - elements that are not the sum of what all members had */
uint64_t to_collective_plan_wrong(const struct to_collective_plan *c, const float *buffer);

#endif
