/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOCTL_TOP_SCREEN_H
#define TOCTL_TOP_SCREEN_H

/* What toctl top shows. */

#include "doctor/status.h"
#include "lazy_ncurses.h"
#include "top_pairs.h"

enum to_top_list { TO_TOP_LINKS, TO_TOP_SERVERS, TO_TOP_PAIRS };
enum to_top_order { TO_TOP_UTILISATION, TO_TOP_OFF_PLAN, TO_TOP_NAME };

#define TO_TOP_EVENTS 64
#define TO_TOP_RED 1	/* pair of colours */

/**
 * struct to_top_view - what is chosen, and what happened
 * @list, @order: what is listed, and by what
 * @first: line of the list that is on top
 * @interval: seconds between looks
 * @pairs: for the list of them; NULL: nothing was counted yet, @trouble may say why
 * @events: the last ones, a ring of @n_events so far
 */
struct to_top_view {
	enum to_top_list list;
	enum to_top_order order;
	unsigned int first, n_events;
	double interval;
	const struct to_top_pairs *pairs;
	char trouble[160];
	char events[TO_TOP_EVENTS][168];
};

/**
 * to_top_compare() - add the events between two looks
 * @before: the status before, NULL: all that is not well is an event
 */
void to_top_compare(struct to_top_view *view, const struct to_status *before,
		    const struct to_status *now);

/** to_top_lines() - of the list that is shown */
unsigned int to_top_lines(const struct to_top_view *view, const struct to_status *status);

/** to_top_draw() - @status on @screen; from 40 columns and 12 lines on, 80 need not be cut */
void to_top_draw(WINDOW *screen, const struct to_top_view *view, const struct to_status *status);

#endif
