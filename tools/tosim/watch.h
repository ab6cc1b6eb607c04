/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_WATCH_H
#define TOPOOPT_WATCH_H

/* Progress of a study, which SIGINT ends. */

#include "cli/command.h"
#include "cli/progress.h"

/** struct to_watch - a bar on the terminal */
struct to_watch {
	struct to_progress progress;
	bool quiet;			/* no bar */
};

/** to_watch_begin() - catch the next SIGINT; -q of @call hides the bar */
void to_watch_begin(struct to_watch *watch, const struct to_call *call);

/** to_watch_step() - show @done of @all on a struct to_watch; not 0 after SIGINT */
int to_watch_step(void *watch, unsigned int done, unsigned int all);

/** to_watch_end() - remove the bar */
void to_watch_end(struct to_watch *watch);

#endif
