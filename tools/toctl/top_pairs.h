/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOCTL_TOP_PAIRS_H
#define TOCTL_TOP_PAIRS_H

/* Who sends to whom, as a list for toctl top. */

#include "plan/traffic.h"

/**
 * struct to_top_pair - two servers
 * @rate: bits/s that @from sends to @to
 * @share, @planned: of the bytes between all, now and by the plan's demand, 0 to 1
 */
struct to_top_pair {
	uint32_t from, to;
	double rate, share, planned;
};

/**
 * struct to_top_pairs - those that send, or are to send by the plan
 * @hottest: greatest rate
 */
struct to_top_pairs {
	struct to_top_pair *items;
	unsigned int n;
	double hottest;
};

/** to_top_pairs_make() - of @traffic under @plan, by index; Return: 0 or -ENOMEM */
int to_top_pairs_make(struct to_top_pairs *pairs, const struct to_plan *plan,
		      const struct to_traffic *traffic);
void to_top_pairs_free(struct to_top_pairs *pairs);

/** to_top_off() - how far a share is from the plan's */
static inline double to_top_off(double share, double planned)
{
	return share > planned ? share - planned : planned - share;
}

#endif
