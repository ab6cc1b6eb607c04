// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/shift.h"

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
				    .patience = 1 };
}

enum to_shift_verdict to_shift_observe(struct to_shift *shift, double seconds, double bound,
				       double elapsed)
{
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
	if (shift->relief < 0)
		shift->relief = 0;
	if (shift->excess > shift->limit)
		return TO_SHIFT_BUSY;
	if (shift->relief > shift->patience * shift->limit)
		return TO_SHIFT_EASY;
	return shift->busy > shift->patience * shift->period ? TO_SHIFT_DUE : TO_SHIFT_NONE;
}

void to_shift_looked(struct to_shift *shift, double promise, bool found)
{
	shift->promise = promise;
	shift->excess = shift->relief = shift->busy = 0;
	shift->n = 0;
	if (found)
		shift->patience = 1;
	else if (shift->patience < TO_SHIFT_PATIENCE_MAX)
		shift->patience *= 2;
}
