/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOCTL_MOVES_H
#define TOCTL_MOVES_H

/* Cross-connects to cut or to make, as commands print them. */

#include <jansson.h>
#include <stdio.h>

#include "data/plan.h"

/** to_moves_print() - "cut panel 1 7" for those that nobody but people can move */
void to_moves_print(FILE *out, const struct to_cluster *cluster, const char *verb,
		    const struct to_cross_connect *list, unsigned int n);

/** to_moves_json() - [{"optical_switch", "a", "b"}] of all; NULL when out of memory */
json_t *to_moves_json(const struct to_cluster *cluster, const struct to_cross_connect *list,
		      unsigned int n);

#endif
