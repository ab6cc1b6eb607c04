// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/note_limit.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/limits.h"

#define NOTE_LIMIT_NS (60 * TO_NS_PER_S)

bool to_note_limit_take(struct to_note_limit *limit)
{
	const uint64_t now = to_clock_monotonic_ns();

	/* what was left out is told before another minute begins */
	if (!limit->left_out && (!limit->began_ns || now - limit->began_ns >= NOTE_LIMIT_NS))
		*limit = (struct to_note_limit){ .began_ns = now };
	if (limit->printed < TO_NOTES_PER_MINUTE) {
		limit->printed++;
		return true;
	}
	limit->left_out++;
	return false;
}

unsigned int to_note_limit_rest(struct to_note_limit *limit, bool end)
{
	const unsigned int left_out = limit->left_out;

	if (!left_out || (!end && to_clock_monotonic_ns() - limit->began_ns < NOTE_LIMIT_NS))
		return 0;
	*limit = (struct to_note_limit){};
	return left_out;
}

void to_note_limit_note(struct to_note_limit *limit, const char *server, const char *text,
			void (*note)(const char *text))
{
	to_note_limit_note_rest(limit, server, false, note);
	if (to_note_limit_take(limit))
		note(text);
}

void to_note_limit_note_rest(struct to_note_limit *limit, const char *server, bool end,
			     void (*note)(const char *text))
{
	const unsigned int left_out = to_note_limit_rest(limit, end);
	char text[128];

	if (!left_out)
		return;
	snprintf(text, sizeof(text), TO_NOTE_LEFT_OUT, server, left_out);
	note(text);
}
