// SPDX-License-Identifier: GPL-2.0-or-later
#include "tm_samples.h"

#include <errno.h>
#include <stdio.h>

int to_tm_samples_complete(struct to_tm *tm, const char *path, const char *command,
			struct to_error *err)
{
	const unsigned int dropped = to_tm_drop_incomplete(tm);

	if (dropped && !tm->n_samples)
		return to_error_set(err, -EINVAL, "%s: every sample lacks a server's part", path);
	if (dropped)
		fprintf(stderr, "toctl %s: warning: %u of %u samples of %s lack a server's part and are left out\n",
			command, dropped, tm->n_samples + dropped, path);
	return 0;
}
