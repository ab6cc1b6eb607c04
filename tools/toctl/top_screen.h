/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOCTL_TOP_SCREEN_H
#define TOCTL_TOP_SCREEN_H

/* What toctl top shows. */

#include "doctor/status.h"
#include "lazy_ncurses.h"

enum to_top_order { TO_TOP_UTILISATION, TO_TOP_OFF_PLAN, TO_TOP_NAME };

#define TO_TOP_EVENTS 64
#define TO_TOP_RED 1	/* pair of colours */

/**
 * struct to_top_view - what is chosen, and what happened
 * @servers: servers are listed instead of links
 * @first: line of the list that is on top
 * @interval: seconds between looks
 * @events: the last ones, a ring of @n_events so far
 */
struct to_top_view {
	enum to_top_order order;
	bool servers;
	unsigned int first, n_events;
	double interval;
	char events[TO_TOP_EVENTS][168];
};

/**
 * to_top_compare() - add the events between two looks
 * @before: the status before, NULL: all that is not well is an event
 */
void to_top_compare(struct to_top_view *view, const struct to_status *before,
		    const struct to_status *now);

/** to_top_draw() - @status on @screen; from 40 columns and 12 lines on, 80 need not be cut */
void to_top_draw(WINDOW *screen, const struct to_top_view *view, const struct to_status *status);

#endif
