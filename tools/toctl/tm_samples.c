// SPDX-License-Identifier: GPL-2.0-or-later
#include "tm_samples.h"

#include <errno.h>

int to_tm_samples_complete(struct to_call *call, struct to_tm *tm, const char *path)
{
	const unsigned int dropped = to_tm_drop_incomplete(tm);

	if (dropped && !tm->n_samples)
		return to_error_set(&call->err, -EINVAL, "%s: every sample lacks a server's part", path);
	if (dropped)
		to_call_note(call, "%u of %u samples of %s lack a server's part and are left out",
			     dropped, tm->n_samples + dropped, path);
	return 0;
}
