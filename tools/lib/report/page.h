/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PAGE_H
#define TOPOOPT_PAGE_H

/* What all pages begin with: head and style. They are whole in themselves and fetch nothing. */

#include <stdbool.h>
#include <stdio.h>

/**
 * to_page_begin() - up to and with <body>
 * @title: text of a user's file may be in it
 * @suffix: behind it, in the title of the window
 * @script: whether the page has one
 */
void to_page_begin(FILE *out, const char *title, const char *suffix, bool script);

#endif
