/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOCTL_LAZY_NCURSES_H
#define TOCTL_LAZY_NCURSES_H

#define NCURSES_NOMACROS
#include <ncurses.h>

#include "base/error.h"

#define TO_NCURSES_FUNCTIONS(X)							\
	X(cbreak) X(curs_set) X(delscreen) X(endwin) X(getmaxx) X(getmaxy)	\
	X(keypad) X(newterm) X(newwin) X(noecho) X(start_color)			\
	X(use_default_colors) X(init_pair) X(waddnstr) X(wattroff) X(wattron)	\
	X(wclrtoeol) X(werase) X(wgetch) X(wmove) X(wrefresh) X(wtimeout)

/** struct to_ncurses - ncurses' functions, for those who have called to_lazy_ncurses() */
struct to_ncurses {
#define X(name) __typeof__(name) *name;
	TO_NCURSES_FUNCTIONS(X)
#undef X
};

extern struct to_ncurses to_ncurses;

/** to_lazy_ncurses() - load ncurses; returns what to_lazy_load() does */
int to_lazy_ncurses(struct to_error *err);

#endif
