/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_MAXMIN_H
#define TOPOOPT_MAXMIN_H

/* Max-min fair rates of flows that come and go, and load many arcs each. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** struct to_share - load of a flow on one arc */
struct to_share {
	uint32_t arc;		/* index of the arc */
	uint32_t place;		/* for the solver: index of the flow among those that cross @arc */
	double bytes;		/* on the arc, per byte of the flow */
};

/** TO_MAXMIN_NONE - to_flow.arc of a flow added since the last to_maxmin_solve() */
#define TO_MAXMIN_NONE UINT32_MAX

/** struct to_flow - flows that load the same arcs alike; its index comes from to_maxmin_add() */
struct to_flow {
	size_t first;		/* first share, in to_maxmin.shares */
	uint32_t n;		/* number of shares */
	uint32_t weight;	/* number of flows, 0 when all have been removed */
	uint32_t arc;		/* bottleneck, which sets the rate; to_maxmin.n_arcs without shares */
	bool came;		/* a flow was added since the last to_maxmin_solve() */
};

/** struct to_maxmin_load - load of flows with one bottleneck on one arc */
struct to_maxmin_load {
	uint32_t arc;		/* index of the arc */
	uint32_t n;		/* number of flows */
	double bytes;		/* on the arc, per byte of each flow */
};

/** struct to_maxmin_crossing - a flow that crosses an arc */
struct to_maxmin_crossing {
	uint32_t flow;		/* index of the flow */
	uint32_t share;		/* index of the arc's share among the shares of the flow */
};

/** struct to_maxmin_arc - an arc and the flows on it */
struct to_maxmin_arc {
	double rate;		/* bytes per second of each flow whose bottleneck this is; infinite
				   for the entry behind the last arc, which stands for no bottleneck */
	struct to_maxmin_load *loads;	/* of these flows on all arcs, by arc */
	struct to_maxmin_crossing *crossing;	/* all flows that load the arc */
	uint32_t n;		/* flows whose bottleneck this is */
	uint32_t n_loads, max_loads, n_crossing, max_crossing;	/* entries used and allocated */
	bool settled;		/* scratch of to_maxmin_solve(): the rate is final */
};

/** struct to_maxmin_left - an arc while it is filled */
struct to_maxmin_left {
	double left;		/* capacity that flows with a rate leave, bytes per second */
	double growth;		/* sum of the shares of flows without a rate */
	uint32_t growing;	/* number of flows without a rate */
};

/** struct to_maxmin_full - rate at which an arc would be full */
struct to_maxmin_full {
	double level;		/* bytes per second of each flow without a rate */
	uint32_t arc;		/* index of the arc */
};

/** struct to_maxmin_move - a flow that got another bottleneck */
struct to_maxmin_move {
	uint32_t flow;		/* index of the flow */
	uint32_t from;		/* bottleneck before; TO_MAXMIN_NONE for a new flow */
};

/** TO_MAXMIN_KEPT - copies of all arcs that a filling keeps */
#define TO_MAXMIN_KEPT 16

/** struct to_maxmin - flows on arcs */
struct to_maxmin {
	uint32_t n_arcs, n_flows, max_flows;
	const double *capacity;		/* bytes per second, per arc */
	struct to_share *shares;	/* of all flows; owned by the caller, may move between calls */
	struct to_flow *flows;
	struct to_maxmin_arc *arcs;	/* @n_arcs, and one that stands for no bottleneck */
	uint32_t *changed, n_changed;	/* arcs to which to_maxmin_solve() gave another rate */
	struct to_maxmin_move *moved;	/* flows to which it gave another bottleneck */
	uint32_t n_moved;
	uint32_t *order, n_order;	/* arcs that are bottlenecks, the slowest first */
	struct to_maxmin_left *kept;	/* @n_kept copies of all arcs during the last filling */
	struct to_maxmin_left *now;	/* all arcs during this filling */
	uint32_t kept_at[TO_MAXMIN_KEPT];	/* number of full arcs at each copy */
	unsigned int n_kept;
	uint32_t *added, n_added;	/* flows added since the last to_maxmin_solve() */
	uint32_t *unused, n_unused;	/* indices of flows that have been removed */
	double level;			/* least rate at which this filling differs from the last */
	struct to_maxmin_full *heap;	/* scratch */
	uint32_t n_heap;
};

/**
 * to_maxmin_init() - begin with arcs and no flows
 * @capacity: bytes per second per arc; kept, not copied
 *
 * Return: 0 or -ENOMEM.
 */
int to_maxmin_init(struct to_maxmin *m, const double *capacity, uint32_t n_arcs);

/** to_maxmin_free() - free all but the shares */
void to_maxmin_free(struct to_maxmin *m);

/** to_maxmin_clear() - remove all flows */
void to_maxmin_clear(struct to_maxmin *m);

/**
 * to_maxmin_add() - add a flow, which has a rate after to_maxmin_solve()
 * @first: first share of the flow, in to_maxmin.shares
 * @n: number of shares, all with more than 0 bytes
 *
 * Return: index of the flow, an unused one first; UINT32_MAX without memory.
 */
uint32_t to_maxmin_add(struct to_maxmin *m, size_t first, uint32_t n);

/** to_maxmin_join() - add another flow like @index. Return: 0 or -ENOMEM. */
int to_maxmin_join(struct to_maxmin *m, uint32_t index);

/** to_maxmin_remove() - remove one flow of @index */
void to_maxmin_remove(struct to_maxmin *m, uint32_t index);

/**
 * to_maxmin_solve() - set the rates after flows were added and removed
 *
 * Progressive filling (Bertsekas and Gallager, "Data Networks", section 6.5): all rates
 * grow alike until an arc is full, which settles those of the flows that load it, and so
 * on. It goes on from where it differs from the last time: a flow that has gone made no
 * difference below its rate, one that came makes none before an arc of it might be full;
 * so the flows that are slower keep their rates. Flows with one bottleneck have one rate
 * and are settled together, by the sum of their shares; single ones are looked at only
 * where they change it.
 *
 * Return: 0 or -ENOMEM.
 */
int to_maxmin_solve(struct to_maxmin *m);

#endif
