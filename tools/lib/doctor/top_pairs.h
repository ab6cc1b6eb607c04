/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_TOP_PAIRS_H
#define TOPOOPT_TOP_PAIRS_H

/* Pairs of servers with the rate at which one sends to the other, beside the plan. */

#include "control/pairs.h"

/** struct to_top_pair - two servers of which one sends to the other */
struct to_top_pair {
	uint32_t from, to;	/* indices of the servers */
	double rate;		/* bits/s */
	double share;		/* of the bytes between all servers, 0 to 1 */
	double planned;		/* this share by the plan's demand, 0 to 1 */
};

/** struct to_top_pairs - pairs that send, or are to send by the plan; zeroed at first */
struct to_top_pairs {
	struct to_pairs counting;
	struct to_top_pair *items;	/* NULL until something was counted */
	unsigned int n;			/* number of @items */
	double hottest;			/* greatest rate of any pair, bits/s */
	char trouble[160];		/* why nothing is counted, or "" */
};

/**
 * to_top_pairs_count() - update the pairs, and count on
 * @plan: in force; the counting begins anew when it is another one
 * @options, @interval_ns: as of to_pairs_start()
 */
void to_top_pairs_count(struct to_top_pairs *pairs, const struct to_plan *plan,
			const struct to_fabric_options *options, uint64_t interval_ns);

/** to_top_pairs_stop() - stop counting, and zero @pairs */
void to_top_pairs_stop(struct to_top_pairs *pairs);

/** to_top_off() - return how far a share is from the plan's */
static inline double to_top_off(double share, double planned)
{
	return share > planned ? share - planned : planned - share;
}

#endif
