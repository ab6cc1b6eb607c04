/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_CROSS_CONNECTS_H
#define TOPOOPT_CROSS_CONNECTS_H

/* The cross-connects of a plan: made from its links, sorted, and compared with another plan's. */

#include "data/plan.h"

/**
 * to_cross_connects_sort() - into one order that only depends on what they join
 *
 * Those of duplex links have no direction: the lower port becomes @a.
 */
void to_cross_connects_sort(enum to_link_mode mode, struct to_cross_connect *list, unsigned int n);

/** to_cross_connects_compare() - for qsort(), by switch and ports */
int to_cross_connects_compare(const void *a, const void *b);

/**
 * to_cross_connects_diff() - what changes from one plan to another on the same cluster
 * @cut, @made: sorted, to be freed; neither has what both plans have
 *
 * Return: 0 or -ENOMEM.
 */
int to_cross_connects_diff(const struct to_plan *from, const struct to_plan *to,
			   struct to_cross_connect **cut, unsigned int *n_cut,
			   struct to_cross_connect **made, unsigned int *n_made);

/**
 * to_cross_connects_fill() - cross-connects of the links of @plan
 *
 * Also of those that are dark. Links between ports that are on no optical switch
 * need none.
 *
 * Return: 0, -ENOMEM, or -EINVAL when a link joins ports that are not on one switch.
 */
int to_cross_connects_fill(struct to_plan *plan, struct to_error *err);

#endif
