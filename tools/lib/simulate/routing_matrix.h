/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ROUTING_MATRIX_H
#define TOPOOPT_ROUTING_MATRIX_H

/* The paths of a plan, read once from its tables and rings, for many transfers. */

#include "data/graph.h"
#include "data/plan.h"
#include "data/taskgraph.h"
#include "routing/forwarding.h"

/** struct to_routing_step - @share of what the server that @arc leaves forwards goes into it */
struct to_routing_step {
	uint32_t arc;
	double share;
};

/** struct to_routing_exception - paths from one source that has routes of its own to @dst */
struct to_routing_exception {
	uint32_t dst, src, first_step, n_steps;
};

/**
 * struct to_routing_matrix - the paths to every server
 * @capacity: bytes per second, per arc
 * @first_step: steps to server y: steps[first_step[y]] up to
 *	steps[first_step[y + 1] - 1], those of a server behind those of all
 *	servers that forward to it
 * @hops: hops of the longest path, [dst * n + src]; TO_DISTANCE_NONE where packets
 *	do not arrive
 * @exceptions: by (dst, src)
 */
struct to_routing_matrix {
	const struct to_plan *plan;
	const struct to_graph *graph;
	double *capacity;
	uint32_t *first_step;
	uint32_t n_steps, max_steps, n_exceptions;
	struct to_routing_step *steps;
	uint16_t *hops;
	struct to_routing_exception *exceptions;
	double *flow;			/* scratch, per server */
	uint32_t *head, *next, max_next;	/* scratch, transfers by destination */
	uint32_t *parent;		/* scratch, per server */
};

/** to_routing_matrix_init() - read @plan. Return: 0, or -ENOMEM with @err set. */
int to_routing_matrix_init(struct to_routing_matrix *matrix, const struct to_plan *plan,
			   const struct to_graph *graph, struct to_error *err);
void to_routing_matrix_free(struct to_routing_matrix *matrix);

/**
 * to_routing_matrix_transfers() - what @transfers put on the arcs
 * @bytes: per arc, added to
 *
 * Groups of next hops are split by their weights.
 *
 * Return: most hops of any byte; -ENOMEM or -EHOSTUNREACH with @err set.
 */
int to_routing_matrix_transfers(struct to_routing_matrix *matrix,
				const struct to_transfer *transfers, uint32_t n, double *bytes,
				struct to_error *err);

/**
 * to_routing_matrix_allreduce() - what AllReduce of one byte puts on the arcs
 * @members: @n servers in ascending order, 2 or more
 * @bytes: per arc, added to
 *
 * On the plan's rings or trees where it has some for these servers (of the
 * group of the first one, should several groups have the same servers), else on
 * a ring that is routed hop by hop.
 *
 * Return: hops one after the other: 2(n - 1) along a ring of links, twice the
 * depth of a tree; -ENOMEM or -EHOSTUNREACH with @err set.
 */
int to_routing_matrix_allreduce(struct to_routing_matrix *matrix, const uint32_t *members,
				uint32_t n, double *bytes, struct to_error *err);

#endif
