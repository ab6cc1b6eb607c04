// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/shift.h"

#include <math.h>
#include <stddef.h>

const char *const to_shift_verdict_names[] = {
	[TO_SHIFT_NONE] = "none",
	[TO_SHIFT_BUSY] = "busy",
	[TO_SHIFT_EASY] = "easy",
	[TO_SHIFT_DUE] = "due",
	NULL
};

void to_shift_init(struct to_shift *shift, double promise, double limit, double period)
{
	*shift = (struct to_shift){ .promise = promise, .limit = limit, .period = period,
				    .wait = period, .patience = 1 };
}

static enum to_shift_verdict shift_verdict(const struct to_shift *shift)
{
	if (shift->excess > shift->limit)
		return TO_SHIFT_BUSY;
	if (shift->relief > shift->patience * shift->limit)
		return TO_SHIFT_EASY;
	return shift->busy > fmin(shift->wait, shift->patience * shift->period) ? TO_SHIFT_DUE :
										  TO_SHIFT_NONE;
}

enum to_shift_verdict to_shift_observe(struct to_shift *shift, double seconds, double bound,
				       double elapsed)
{
	enum to_shift_verdict verdict;

	if (!(seconds > 0))
		return TO_SHIFT_NONE;
	shift->busy += elapsed;
	shift->n++;
	shift->excess += seconds - (1 + TO_SHIFT_SLACK) * shift->promise * bound;
	if (shift->excess <= 0) {
		shift->excess = 0;
		shift->n = 0;
	}
	shift->relief += (1 - TO_SHIFT_SLACK) * shift->promise * bound - seconds;
	shift->n_relief++;
	if (shift->relief <= 0) {
		shift->relief = 0;
		shift->n_relief = 0;
	}
	verdict = shift_verdict(shift);
	if (verdict == TO_SHIFT_BUSY)
		shift->wait = shift->period / TO_SHIFT_SOON / 2;
	return verdict;
}

void to_shift_looked(struct to_shift *shift, double promise, bool found)
{
	const bool vain = shift->wait >= shift->period ||
			  shift->relief > shift->patience * shift->limit;

	shift->promise = promise;
	shift->excess = shift->relief = shift->busy = 0;
	shift->n = shift->n_relief = 0;
	if (found)
		shift->patience = 1;
	else if (vain && shift->patience < TO_SHIFT_PATIENCE_MAX)
		shift->patience *= 2;
	shift->wait = fmin(2 * shift->wait, TO_SHIFT_PATIENCE_MAX * shift->period);
}
