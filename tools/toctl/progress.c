// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress.h"

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define PROGRESS_WIDTH 50

void to_progress(struct to_progress *progress, unsigned int done, unsigned int all)
{
	unsigned int percent = all ? (uint64_t)done * 100 / all : 100;
	unsigned int filled = percent * PROGRESS_WIDTH / 100, i;

	if (percent + 1 == progress->shown || !isatty(STDERR_FILENO))
		return;
	progress->shown = percent + 1;
	fputs("\r[", stderr);
	for (i = 0; i < PROGRESS_WIDTH; i++)
		fputc(i < filled ? '#' : ' ', stderr);
	fprintf(stderr, "] %3u %%", percent);
	fflush(stderr);
}

void to_progress_end(struct to_progress *progress)
{
	if (progress->shown)
		fprintf(stderr, "\r%*s\r", PROGRESS_WIDTH + 8, "");
	progress->shown = 0;
}
