/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_STATUS_CHANGES_H
#define TOPOOPT_STATUS_CHANGES_H

/* What happened between two looks at a fabric. */

#include "doctor/status.h"

/**
 * to_status_tell - told of what happened
 * @subject: a server, a port or "all servers"
 * @check: as of struct to_check, NULL: all servers run another generation now
 * @text: what is not well, "well again", or the generation
 */
typedef void (*to_status_tell)(void *data, const char *subject, const char *check,
			       const char *text);

/**
 * to_status_changes() - tell what @now has that @before had not, and the other way round
 * @before: NULL: all that is not well
 */
void to_status_changes(const struct to_status *before, const struct to_status *now,
		       to_status_tell tell, void *data);

#endif
