// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/hold.h"

#define HOLD_MOST 64	/* the longest hold-down, times the least */
#define HOLD_CALM 8	/* hold-downs that it takes to be trusted again */

void to_hold_begin(struct to_hold *hold, uint64_t least_ns, uint64_t now_ns)
{
	const bool again = hold->returned && now_ns - hold->return_ns < HOLD_CALM * hold->hold_ns;

	if (!again)
		hold->hold_ns = least_ns;
	else if (hold->hold_ns < HOLD_MOST * least_ns)
		hold->hold_ns *= 2;
	hold->held = true;
	hold->clean_ns = now_ns;
}

bool to_hold_end(struct to_hold *hold, bool wrong, uint64_t now_ns)
{
	if (!hold->held)
		return false;
	if (wrong)
		hold->clean_ns = now_ns;
	if (now_ns - hold->clean_ns < hold->hold_ns)
		return false;
	hold->held = false;
	hold->returned = true;
	hold->return_ns = now_ns;
	return true;
}
