/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_TM_LIVE_H
#define TOPOOPT_TM_LIVE_H

/*
 * The traffic matrix of the fabric, from its servers' recordings as they come.
 *
 *	to_tm_live_new()	the links
 *	to_tm_live_add()	what was recorded next, an interval or many
 *	to_tm_live_settle()	what has waited long enough, or all
 *	to_tm_live_take()	the matrix of that
 *
 * What a pair sent is what left its source, taken on the first link: seen by the
 * source's kernel or by the one at the other end, whichever saw more; not what the
 * source relayed, as its hardware had sent that by another port. RDMA hardware at both
 * ends of a link hides its traffic from both; it follows by conservation, as bytes that
 * the NIC counted on the link and no kernel saw (frames that are no server's traffic are
 * seen too). It is credited to the link's two ends, as whatever goes further is seen by
 * a relay.
 *
 * Clocks differ, and NICs are not read in the moment in which a sample ends, so that one
 * packet may fall into different intervals at both ends of a link, and in the counters
 * of a NIC. So every link keeps its residual, what its NICs counted beyond what was seen
 * and credited. Of that no more is credited than the next TO_TM_LIVE_DELAY intervals let
 * stand. What was credited too early all the same is made up for later: the sum over
 * samples is exact but for what the last interval owes, a single sample is as good as
 * the clocks.
 *
 * A NIC whose counters stand still again and again while kernels see bytes pass renews
 * its statistics more rarely than they are read. Then the other end's are used; where
 * those stand still too, one waits until they were renewed once more (tm_renewal.h), and
 * intervals are joined into one sample until all such counters were, TO_LIVE_JOIN_MAX at
 * most. A NIC that was reset counts nothing in one
 * interval; of that, too, the other end's count is taken.
 */

#include <stdbool.h>

#include "base/error.h"
#include "data/tm.h"

/** Intervals for which one waits: so long a sample's matrix is late. */
#define TO_TM_LIVE_DELAY 3

/** Intervals before the first settles: by then it shows whether counters stand still. */
#define TO_TM_LIVE_BEGIN 6

/** Beside an interval as long as this, clocks and NICs are off by little: one is enough. */
#define TO_TM_LIVE_LONG_NS 1000000000ull

struct to_tm_live;

/**
 * to_tm_live_new() - the links, and who recorded under which plan
 * @records: per server; NULL: none
 * @n: servers
 *
 * Return: NULL with @err when recordings disagree about a link, or there are none.
 */
struct to_tm_live *to_tm_live_new(const struct to_tm *const *records, unsigned int n,
				  struct to_error *err);
void to_tm_live_free(struct to_tm_live *live);

/**
 * to_tm_live_add() - what servers recorded next
 * @records: per server, checked (to_tm_check_records()); NULL: nothing, it is missing.
 *	Their samples are of intervals from the earliest to the latest that any has,
 *	which follow on those added before
 *
 * Return: 0; -ESTALE with @err when they are of another plan or have links that are not
 * known, and then begin anew; -E2BIG with @err when they span more intervals than they
 * have samples for (TO_MERGE_CELLS_PER_ROW); -ENOMEM.
 */
int to_tm_live_add(struct to_tm_live *live, const struct to_tm *const *records,
		   struct to_error *err);

/**
 * to_tm_live_settle() - intervals into samples
 * @all: also those after which no other came; nothing is added later
 *
 * Return: 0 or -ENOMEM with @err.
 */
int to_tm_live_settle(struct to_tm_live *live, bool all, struct to_error *err);

/**
 * to_tm_live_take() - the samples that were settled since they were last taken
 *
 * Perhaps none. to_tm.missing is who was missing when last was added, to_tm.stale the
 * ports whose counters stand still.
 *
 * Return: NULL when memory is short.
 */
struct to_tm *to_tm_live_take(struct to_tm_live *live);

#endif
