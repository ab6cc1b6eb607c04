/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PAGE_H
#define TOPOOPT_PAGE_H

/* What pages have in common: head and style, names of figures. They are whole in themselves. */

#include <stdio.h>

#include "verify/figure_list.h"

/**
 * enum to_page_kind - what a page may do
 * @TO_PAGE_STILL: nothing
 * @TO_PAGE_SCRIPT: run its script, and fetch nothing
 * @TO_PAGE_LIVE: also fetch from where it came from itself
 */
enum to_page_kind { TO_PAGE_STILL, TO_PAGE_SCRIPT, TO_PAGE_LIVE };

/**
 * to_page_begin() - up to and with <body>
 * @title: text of a user's file may be in it
 * @suffix: behind it, in the title of the window
 */
void to_page_begin(FILE *out, const char *title, const char *suffix, enum to_page_kind kind);

/** to_page_figure() - begin a row of a table: the name of a figure and what it means */
void to_page_figure(FILE *out, enum to_figure which);

#endif
