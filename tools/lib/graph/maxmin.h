/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_MAXMIN_H
#define TOPOOPT_MAXMIN_H

/* Max-min fair rates of flows that come and go, and load many arcs each. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct to_share - @bytes on @arc for each byte of a flow
 * @place: for the solver: of the flow among those that cross @arc
 */
struct to_share {
	uint32_t arc, place;
	double bytes;
};

/** to_flow.arc of one that was added since the last to_maxmin_solve(). */
#define TO_MAXMIN_NONE UINT32_MAX

/**
 * struct to_flow - a flow, or several that load the same arcs alike, by the index that
 *	to_maxmin_add() returned
 * @first, @n: its shares: to_maxmin.shares[first] up to shares[first + n - 1]
 * @weight: how many flows this is, 0 where all have gone
 * @arc: its bottleneck, whose rate is that of each; to_maxmin.n_arcs where it has no shares
 * @came: one did since the last to_maxmin_solve()
 */
struct to_flow {
	size_t first;
	uint32_t n, weight, arc;
	bool came;
};

/** struct to_maxmin_load - @bytes on @arc for each byte of @n flows that have one bottleneck */
struct to_maxmin_load {
	uint32_t arc, n;
	double bytes;
};

/** struct to_maxmin_crossing - a flow, by the index of its share of the arc among its own */
struct to_maxmin_crossing {
	uint32_t flow, share;
};

/**
 * struct to_maxmin_arc - an arc
 * @rate: bytes per second of each of the @n flows whose bottleneck it is; infinite of the
 *	one behind the last, which stands for none
 * @loads: what these put on all arcs, by arc
 * @crossing: all flows that load it
 * @settled: scratch of to_maxmin_solve(): the rate is that of now
 */
struct to_maxmin_arc {
	double rate;
	struct to_maxmin_load *loads;
	struct to_maxmin_crossing *crossing;
	uint32_t n, n_loads, max_loads, n_crossing, max_crossing;
	bool settled;
};

/**
 * struct to_maxmin_left - an arc while it is filled
 * @left: capacity that flows with rates leave
 * @growth, @growing: shares of the others, and how many these are
 */
struct to_maxmin_left {
	double left, growth;
	uint32_t growing;
};

/** struct to_maxmin_full - @arc would be full if its flows had the rate @level */
struct to_maxmin_full {
	double level;
	uint32_t arc;
};

/** struct to_maxmin_move - @flow had its bottleneck at @from, or was new: TO_MAXMIN_NONE */
struct to_maxmin_move {
	uint32_t flow, from;
};

/** How often in a filling its arcs are kept. */
#define TO_MAXMIN_KEPT 16

/**
 * struct to_maxmin - flows on arcs
 * @shares: of all flows; the caller's, may move between calls
 * @arcs: @n_arcs, and one more
 * @changed: @n_changed arcs that to_maxmin_solve() gave another rate
 * @moved: @n_moved flows that it gave another bottleneck
 * @order: @n_order arcs that are bottlenecks, the slowest first
 * @kept: all arcs, as they were when the first kept_at[k] of these were full; @n_kept times
 * @level: least rate at which filling differs from the last time
 */
struct to_maxmin {
	uint32_t n_arcs, n_flows, max_flows;
	const double *capacity;		/* bytes per second, per arc */
	struct to_share *shares;
	struct to_flow *flows;
	struct to_maxmin_arc *arcs;
	uint32_t *changed, n_changed;
	struct to_maxmin_move *moved;
	uint32_t n_moved;
	uint32_t *order, n_order;
	struct to_maxmin_left *kept, *now;
	uint32_t kept_at[TO_MAXMIN_KEPT];
	unsigned int n_kept;
	uint32_t *added, n_added, *unused, n_unused;
	double level;
	struct to_maxmin_full *heap;	/* scratch, of n_heap */
	uint32_t n_heap;
};

/** to_maxmin_init() - @capacity is kept, not copied. Return: 0 or -ENOMEM. */
int to_maxmin_init(struct to_maxmin *m, const double *capacity, uint32_t n_arcs);
void to_maxmin_free(struct to_maxmin *m);

/** to_maxmin_clear() - without flows */
void to_maxmin_clear(struct to_maxmin *m);

/**
 * to_maxmin_add() - a flow; has a rate after to_maxmin_solve()
 * @first, @n: its shares at to_maxmin.shares, all more than 0
 *
 * Return: its index, those of flows that have gone first; UINT32_MAX without memory.
 */
uint32_t to_maxmin_add(struct to_maxmin *m, size_t first, uint32_t n);

/** to_maxmin_join() - another flow like @index; 0 or -ENOMEM */
int to_maxmin_join(struct to_maxmin *m, uint32_t index);

/** to_maxmin_remove() - a flow of @index has gone */
void to_maxmin_remove(struct to_maxmin *m, uint32_t index);

/**
 * to_maxmin_solve() - rates after flows came and went
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
