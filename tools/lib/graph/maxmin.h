/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_MAXMIN_H
#define TOPOOPT_MAXMIN_H

/* Max-min fair rates of flows that come and go, and load many arcs each. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** struct to_share - bytes on @arc for each byte of a flow */
struct to_share {
	uint32_t arc;
	double bytes;
};

/**
 * struct to_flow - a flow, or several that load the same arcs alike, by the index that
 *	to_maxmin_add() returned
 * @first, @n: its shares: to_maxmin.shares[first] up to shares[first + n - 1]
 * @weight: how many flows of rate @rate this is, 0 where all have gone
 * @rate: bytes per second of each
 * @before: the same before the last to_maxmin_solve()
 * @came: one did since then
 */
struct to_flow {
	size_t first;
	uint32_t n, weight;
	double rate, before;
	bool came;
};

/**
 * struct to_maxmin_arc - an arc
 * @n, @bytes: indices of flows that load it, and the shares of all together
 * @left: capacity that the flows with rates leave
 * @growth, @level, @growing, @first: scratch of to_maxmin_solve(): of the flows whose
 *	rates grow, their shares together, the rate at which they fill the arc, how many,
 *	and where they are in to_maxmin.crossing
 */
struct to_maxmin_arc {
	uint32_t n, growing, first;
	double bytes, left, growth, level;
	bool touched;
};

/**
 * struct to_maxmin - flows on arcs
 * @shares: of all flows; the caller's, may move between calls
 * @changed: @n_changed flows that to_maxmin_solve() gave another rate
 * @order: @n_order flows, the slowest first
 * @level: least rate at which filling differs from the last time
 */
struct to_maxmin {
	uint32_t n_arcs, n_flows, max_flows;
	const double *capacity;		/* bytes per second, per arc */
	const struct to_share *shares;
	struct to_flow *flows;
	struct to_maxmin_arc *arcs;
	uint32_t *changed, n_changed;
	uint32_t *order, n_order;
	uint32_t *added, n_added, *removed, n_removed, *unused, n_unused;
	double level;
	uint32_t *open;			/* scratch from here on */
	uint32_t *touched, *heap, n_heap;
	uint32_t *crossing;
	size_t max_crossing;
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

/** to_maxmin_join() - another flow like @index */
void to_maxmin_join(struct to_maxmin *m, uint32_t index);

/** to_maxmin_remove() - a flow of @index has gone */
void to_maxmin_remove(struct to_maxmin *m, uint32_t index);

/**
 * to_maxmin_solve() - rates after flows came and went
 *
 * Progressive filling (Bertsekas and Gallager, "Data Networks", section 6.5): all rates
 * grow alike until an arc is full, which settles those of the flows that load it, and so
 * on. It goes on from where it differs from the last time: a flow that has gone made no
 * difference below its rate, one that came makes none before an arc of it might be full;
 * so the flows that are slower keep their rates. A flow without shares gets an infinite
 * rate.
 *
 * Return: 0 or -ENOMEM.
 */
int to_maxmin_solve(struct to_maxmin *m);

#endif
