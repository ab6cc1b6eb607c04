// SPDX-License-Identifier: GPL-2.0-or-later
#include "watch.h"

#include <signal.h>

static volatile sig_atomic_t watch_stop;

static void watch_signal(int signal)
{
	(void)signal;
	watch_stop = 1;
}

void to_watch_begin(struct to_watch *watch, const struct to_call *call)
{
	/* a second SIGINT kills */
	const struct sigaction action = { .sa_handler = watch_signal, .sa_flags = SA_RESETHAND };

	*watch = (struct to_watch){ .quiet = call->quiet };
	sigaction(SIGINT, &action, NULL);
}

int to_watch_step(void *data, unsigned int done, unsigned int all)
{
	struct to_watch *watch = data;

	if (!watch->quiet)
		to_progress(&watch->progress, done, all);
	return watch_stop;
}

void to_watch_end(struct to_watch *watch)
{
	to_progress_end(&watch->progress);
}
