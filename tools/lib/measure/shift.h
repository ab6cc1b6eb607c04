/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SHIFT_H
#define TOPOOPT_SHIFT_H

/*
 * Notices when the traffic of a fabric is no longer what its plan was made
 * for. Looks at the shape of the matrix alone (the share of the bytes that
 * each pair has), one interval after the other, and does nothing about it.
 *
 * Two things are a shift:
 *
 * - a step: more than @threshold of the bytes of @confirm intervals in a row
 *   are new: beyond the largest share that their pair lately had in any single
 *   interval. So the phases of an iteration, which come back with every one,
 *   are no steps once they were seen, however different they are, and neither
 *   is traffic that alternates.
 * - a drift: the mean of all intervals has come farther than @threshold from
 *   what the plan was made for, in total variation (the share of the bytes that
 *   would have to change their pair to make one of the other). It must be of an
 *   iteration, a part of one says nothing. So traffic that moves slowly, or
 *   goes back to what was before, or alternates, is planned for by its mean.
 *
 * Intervals without traffic tell nothing and are skipped; no duration here counts them.
 */

#include <stdbool.h>
#include <stdint.h>

/**
 * struct to_shift_config - how quick and how sure
 * @threshold: share of the bytes, 0 to 1
 * @confirm: intervals in a row, 1 or more
 * @hold_ns: after the start and after a change, how long nothing is a shift, an
 *	iteration of the job or more; doubles with every change that follows the
 *	one before by less than TO_SHIFT_CALM holds, to TO_SHIFT_HOLD_MAX times as
 *	much
 * @memory_ns: time constant by which the past is forgotten; TO_SHIFT_ITERATIONS
 *	iterations of the job or more
 * @idle: bytes/s of the whole fabric below which it is idle; it is, too, at
 *	TO_SHIFT_IDLE of its busiest rate in memory
 */
struct to_shift_config {
	double threshold;
	unsigned int confirm;
	uint64_t hold_ns, memory_ns;
	double idle;
};

#define TO_SHIFT_ITERATIONS 4
#define TO_SHIFT_CALM 8
#define TO_SHIFT_HOLD_MAX 64
#define TO_SHIFT_IDLE (1.0 / 16)

/** What serves for iterations up to 2.5 s, without being told. */
#define TO_SHIFT_DEFAULTS { \
	.threshold = 0.3, .confirm = 2, .hold_ns = 2500000000, \
	.memory_ns = 10000000000, .idle = 125000, \
}

/**
 * enum to_shift_verdict - what an interval was
 * @TO_SHIFT_HELD: it was not asked whether it was a shift, see
 *	to_shift_config.hold_ns
 */
enum to_shift_verdict {
	TO_SHIFT_NONE,
	TO_SHIFT_IDLE_INTERVAL,
	TO_SHIFT_HELD,
	TO_SHIFT_STEP,
	TO_SHIFT_DRIFT,
};

extern const char *const to_shift_verdict_names[];

/**
 * struct to_shift - the traffic as it was, as it is
 * @reference: shares that the plan was made for
 * @envelope: largest share of a pair in any interval, fading
 * @pending: the same of the intervals in a row that were new, which the
 *	envelope learns when the row ends
 * @mean: bytes since the last step, fading
 * @fresh: bytes of the intervals in a row that were new; the first, in which
 *	the step fell, is left out where there are more
 * @span, @fresh_span: seconds behind @mean and @fresh
 * @busiest: bytes/s, fading
 * @n_fresh: intervals in a row that were new
 * @now_ns: time observed so far
 * @hold_ns: how long the next hold will be
 * @changed_ns: when the last change was, 0 for none
 * @held_until_ns: no shift before
 * @drift_wait_ns: how long drift is not looked at after the next decision to
 *	keep the plan
 * @drift_until_ns: no drift before
 * @novelty, @distance: how much of the last interval was new; how far the mean
 *	is from @reference
 */
struct to_shift {
	struct to_shift_config config;
	unsigned int n;
	double *reference, *envelope, *pending, *mean, *fresh;
	double span, fresh_span, busiest;
	unsigned int n_fresh;
	uint64_t now_ns, hold_ns, changed_ns, held_until_ns;
	uint64_t drift_wait_ns, drift_until_ns;
	double novelty, distance;
};

/**
 * to_shift_init() - begin, in a hold
 * @n: servers
 * @planned: what the plan was made for: n x n, row = source, in any unit; all
 *	zero where it was made for nothing
 *
 * Return: 0 or -ENOMEM.
 */
int to_shift_init(struct to_shift *shift, const struct to_shift_config *config,
		  unsigned int n, const double *planned);
void to_shift_free(struct to_shift *shift);

/**
 * to_shift_observe() - the next interval
 * @bytes: n x n, row = source
 * @elapsed_ns: its length
 *
 * After TO_SHIFT_STEP and TO_SHIFT_DRIFT the caller decides, for the matrix of
 * to_shift_mean(), and calls to_shift_decided().
 */
enum to_shift_verdict to_shift_observe(struct to_shift *shift, const uint64_t *bytes,
				       uint64_t elapsed_ns);

/**
 * to_shift_mean() - traffic to plan for: bytes per second, n x n, row = source
 *
 * Since the last step; before the first, since the beginning.
 */
void to_shift_mean(const struct to_shift *shift, double *rate);

/**
 * to_shift_decided() - what became of a shift
 * @changed: the plan is now one for to_shift_mean(); else the old one stays,
 *	and drift is looked at again after ever longer times
 */
void to_shift_decided(struct to_shift *shift, bool changed);

#endif
