// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/status_changes.h"

#include <inttypes.h>
#include <string.h>

static bool changes_has(const struct to_status *st, const struct to_check *check)
{
	for (unsigned int i = 0; st && i < st->checks.n; i++)
		if (!strcmp(st->checks.items[i].name, check->name) &&
		    !strcmp(st->checks.items[i].subject, check->subject))
			return true;
	return false;
}

void to_status_changes(const struct to_status *before, const struct to_status *now,
		       to_status_tell tell, void *data)
{
	char text[32];

	for (unsigned int i = 0; i < now->checks.n; i++) {
		const struct to_check *c = &now->checks.items[i];

		if (!changes_has(before, c))
			tell(data, c->subject, c->name, c->text);
	}
	for (unsigned int i = 0; before && i < before->checks.n; i++) {
		const struct to_check *c = &before->checks.items[i];

		if (!changes_has(now, c))
			tell(data, c->subject, c->name, "well again");
	}
	if (before && now->generation && now->generation != before->generation) {
		snprintf(text, sizeof(text), "generation %" PRIu64, now->generation);
		tell(data, "all servers", NULL, text);
	}
}
