/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOCTL_ROUTE_PRINT_H
#define TOCTL_ROUTE_PRINT_H

/* Routes and paths as text. */

#include <jansson.h>

/** to_route_print_answer() - print what the kernel answers, see to_route_query() */
void to_route_print_answer(const json_t *answer);

/** to_route_print_tree() - print a path of to_route_trace(), a line per link */
void to_route_print_tree(const json_t *node);

/** to_route_print_shares() - print the shares of to_route_trace_shares() */
void to_route_print_shares(const char *server, json_t *shares);

#endif
