/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_HEATMAP_H
#define TOPOOPT_HEATMAP_H

/* A matrix of bytes between servers, drawn. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/** struct to_heatmap - a matrix with its title */
struct to_heatmap {
	char title[160];	/* job and meaning of the cells: "dlrm-16: demand per iteration" */
	unsigned int n;		/* servers */
	const char **names;	/* of servers, or NULL */
	uint64_t *bytes;	/* n x n, row = source */
};

/**
 * to_heatmap_text() - draw on a terminal, logarithmic in nine steps
 * @columns: width of the terminal; more servers than fit are drawn k x k to a
 *	cell
 * @color: use the 256 colours of ANSI terminals instead of characters
 */
void to_heatmap_text(FILE *out, const struct to_heatmap *map,
		     unsigned int columns, bool color);

/** to_heatmap_svg() - draw as SVG. Return: 0 or -ENOMEM. */
int to_heatmap_svg(FILE *out, const struct to_heatmap *map);

#endif
