/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_MAXMIN_H
#define TOPOOPT_MAXMIN_H

/* Max-min fair rates of flows that each load many arcs. */

#include <stdint.h>

/** struct to_share - bytes on @arc for each byte of a flow */
struct to_share {
	uint32_t arc;
	double bytes;
};

/**
 * struct to_flow - a flow, or several that load the same arcs alike
 * @shares: @n_shares arcs and their shares, all more than 0
 * @weight: how many flows of rate @rate this is
 * @rate: bytes per second of each
 */
struct to_flow {
	const struct to_share *shares;
	uint32_t n_shares;
	double weight, rate;
};

/** struct to_maxmin - arcs, and what the last to_maxmin_fill() left of them */
struct to_maxmin {
	uint32_t n_arcs;
	const double *capacity;		/* bytes per second, per arc */
	uint32_t n_used;
	uint32_t *used;			/* arcs that some flow loads */
	double *left;			/* capacity not used, of these */
	double *growth;			/* scratch from here on */
	uint32_t *crossing, *first, *flows, max_flows;
	uint32_t *open;
};

/** to_maxmin_init() - @capacity is kept, not copied. Return: 0 or -ENOMEM. */
int to_maxmin_init(struct to_maxmin *m, const double *capacity, uint32_t n_arcs);
void to_maxmin_free(struct to_maxmin *m);

/**
 * to_maxmin_fill() - rates of all @flows
 *
 * Progressive filling (Bertsekas and Gallager, "Data Networks", section 6.5):
 * all rates grow alike until an arc is full, which settles those of the flows
 * that load it, and so on. A flow without shares gets an infinite rate.
 *
 * Return: 0 or -ENOMEM.
 */
int to_maxmin_fill(struct to_maxmin *m, struct to_flow *flows, uint32_t n_flows);

#endif
