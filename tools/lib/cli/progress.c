// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"

#define PROGRESS_WIDTH 40
#define PROGRESS_LEFT 24	/* columns of the time that is left */
#define PROGRESS_SURE 2.0	/* seconds, before anything is said of it */

/* "12 s left", as far as the time that it took says; nothing while that says little. */
static void progress_left(char text[PROGRESS_LEFT], double elapsed, unsigned int done,
			  unsigned int all)
{
	const unsigned int left = done ? elapsed / done * (all - done) + 0.5 : 0;

	*text = '\0';
	if (elapsed < PROGRESS_SURE || !done)
		return;
	if (left >= 3600)
		snprintf(text, PROGRESS_LEFT, "%u h %u min left", left / 3600, left % 3600 / 60);
	else if (left >= 60)
		snprintf(text, PROGRESS_LEFT, "%u min %u s left", left / 60, left % 60);
	else
		snprintf(text, PROGRESS_LEFT, "%u s left", left);
}

void to_progress(struct to_progress *progress, unsigned int done, unsigned int all)
{
	unsigned int percent = all ? (uint64_t)done * 100 / all : 100;
	unsigned int filled = percent * PROGRESS_WIDTH / 100, i;
	char left[PROGRESS_LEFT];

	if (percent + 1 == progress->shown || !isatty(STDERR_FILENO))
		return;
	/* what begins again is something else */
	if (!progress->began || percent + 1 < progress->shown)
		progress->began = to_clock_monotonic_ns();
	progress->shown = percent + 1;
	progress_left(left, to_clock_seconds_since(progress->began), done, all);
	fputs("\r[", stderr);
	for (i = 0; i < PROGRESS_WIDTH; i++)
		fputc(i < filled ? '#' : ' ', stderr);
	fprintf(stderr, "] %3u %%  %-*s", percent, PROGRESS_LEFT - 1, left);
	fflush(stderr);
}

void to_progress_end(struct to_progress *progress)
{
	if (progress->shown)
		fprintf(stderr, "\r%*s\r", PROGRESS_WIDTH + 8 + PROGRESS_LEFT, "");
	*progress = (struct to_progress){ 0 };
}
