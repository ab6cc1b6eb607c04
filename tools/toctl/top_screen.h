/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOCTL_TOP_SCREEN_H
#define TOCTL_TOP_SCREEN_H

/* The screen of toctl top. */

#include "doctor/status.h"
#include "doctor/top_pairs.h"
#include "lazy_ncurses.h"

enum to_top_list { TO_TOP_LINKS, TO_TOP_SERVERS, TO_TOP_PAIRS };
enum to_top_order { TO_TOP_UTILISATION, TO_TOP_OFF_PLAN, TO_TOP_NAME };

#define TO_TOP_EVENTS 64
#define TO_TOP_RED 1	/* pair of colours */

/** struct to_top_view - what is shown; zeroed at first */
struct to_top_view {
	enum to_top_list list;
	enum to_top_order order;
	unsigned int first;		/* row of the list on top of the screen */
	double interval;		/* seconds between two looks */
	struct to_top_pairs pairs;
	unsigned int n_events;		/* events so far */
	char events[TO_TOP_EVENTS][168];	/* the last ones, a ring */
};

/**
 * to_top_open() - take over the terminal
 * @terminal: for to_top_close()
 *
 * Return: NULL with @err: there is no terminal, or ncurses does not know it.
 */
WINDOW *to_top_open(SCREEN **terminal, struct to_error *err);

/** to_top_close() - give the terminal back */
void to_top_close(SCREEN *terminal);

/**
 * to_top_compare() - add the events between two looks
 * @before: NULL: each complaint of @now is an event
 */
void to_top_compare(struct to_top_view *view, const struct to_status *before,
		    const struct to_status *now);

/** to_top_lines() - return the number of rows of the list that is shown */
unsigned int to_top_lines(const struct to_top_view *view, const struct to_status *status);

/** to_top_draw() - draw the screen; needs 40 columns and 12 lines, 80 columns show all */
void to_top_draw(WINDOW *screen, const struct to_top_view *view, const struct to_status *status);

#endif
