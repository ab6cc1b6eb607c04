/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_TM_MERGE_H
#define TOPOOPT_TM_MERGE_H

/* The traffic matrix of the fabric, from the whole recordings of its servers. */

#include <stdbool.h>

#include "base/error.h"
#include "data/tm.h"

/**
 * to_tm_merge() - the matrix of the fabric
 * @records: recordings, at most one of each server
 * @partial: go on when servers are missing; to_tm.missing says which
 *
 * The live merge (tm_live.h) of all that was recorded, where nothing settles before the
 * end: the sum over samples is exact.
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
