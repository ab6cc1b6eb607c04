/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_TM_MERGE_H
#define TOPOOPT_TM_MERGE_H

/* The traffic matrix of the fabric, from the recordings of its servers. */

#include <stdbool.h>

#include "base/error.h"
#include "data/tm.h"

/**
 * to_tm_merge() - the matrix of the fabric
 * @records: recordings, at most one of each server
 * @partial: go on when servers are missing; to_tm.missing says which
 *
 * What a pair sent is what left its source, taken on the first link: seen by
 * the source's kernel or by the one at the other end, whichever saw more; not
 * what the source relayed, as its hardware had sent that by another port.
 * RDMA hardware at both ends of a link hides its traffic from both; it follows
 * by conservation, as bytes that the NIC counted on the link and no kernel saw
 * (frames that are no server's traffic are seen too). It is credited to the
 * link's two ends, as whatever goes further is seen by a relay.
 *
 * Clocks of servers differ, so that one packet may fall into different
 * intervals at both ends of a link. Which end counts is therefore decided once
 * per link, pair and class, and bypassing bytes are credited no earlier than
 * later samples let stand: the sum over samples is exact, a single sample is
 * as good as the clocks.
 *
 * Memory is in proportion to the recordings: intervals of which they have hardly
 * any sample are refused (TO_MERGE_CELLS_PER_ROW), as are counts of which a sum could
 * overflow (TO_RECORD_SUM_MAX).
 *
 * Return: the merged matrix, or NULL with @err: recordings of different plans
 * or intervals, a server twice or missing, no common time.
 */
struct to_tm *to_tm_merge(struct to_tm *const *records, unsigned int n,
			  bool partial, struct to_error *err);

#endif
