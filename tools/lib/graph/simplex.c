// SPDX-License-Identifier: GPL-2.0-or-later
#include "graph/simplex.h"

#include <errno.h>
#include <math.h>

#define SIMPLEX_PIVOT 1e-9	/* least element that a row may be replaced by */

int to_simplex_init(struct to_simplex *s, unsigned int rows, const double *b,
		    struct to_arena *arena)
{
	unsigned int i;

	*s = (struct to_simplex){
		.rows = rows,
		.inverse = to_arena_array(arena, (size_t)rows * rows, sizeof(double)),
		.value = to_arena_array(arena, rows, sizeof(double)),
		.cost = to_arena_array(arena, rows, sizeof(double)),
		.dual = to_arena_array(arena, rows, sizeof(double)),
		.way = to_arena_array(arena, rows, sizeof(double)) };
	if (arena->failed)
		return -ENOMEM;
	for (i = 0; i < rows; i++) {
		s->inverse[(size_t)i * rows + i] = 1;
		s->value[i] = b[i];
	}
	return 0;
}

static void simplex_way(struct to_simplex *s, const double *column)
{
	unsigned int i, k;

	for (i = 0; i < s->rows; i++)
		s->way[i] = 0;
	for (k = 0; k < s->rows; k++) {
		if (column[k] == 0)
			continue;
		for (i = 0; i < s->rows; i++)
			s->way[i] += s->inverse[(size_t)i * s->rows + k] * column[k];
	}
}

static void simplex_pivot(struct to_simplex *s, double cost, unsigned int row)
{
	double *pivot = s->inverse + (size_t)row * s->rows, by = s->way[row];
	unsigned int i, k;

	for (k = 0; k < s->rows; k++)
		pivot[k] /= by;
	s->value[row] /= by;
	s->cost[row] = cost;
	for (i = 0; i < s->rows; i++) {
		double *other = s->inverse + (size_t)i * s->rows, times = s->way[i];

		if (i == row || times == 0)
			continue;
		for (k = 0; k < s->rows; k++)
			other[k] -= times * pivot[k];
		s->value[i] -= times * s->value[row];
	}
}

void to_simplex_force(struct to_simplex *s, const double *column, double cost, unsigned int row)
{
	simplex_way(s, column);
	simplex_pivot(s, cost, row);
}

int to_simplex_enter(struct to_simplex *s, const double *column, double cost)
{
	double least = INFINITY;
	int row = -1;
	unsigned int i;

	simplex_way(s, column);
	for (i = 0; i < s->rows; i++) {
		double until = s->way[i] > SIMPLEX_PIVOT ? fmax(s->value[i], 0) / s->way[i] :
							   INFINITY;

		/* of equals the largest pivot errs least */
		if (until < least || (until == least && row >= 0 && s->way[i] > s->way[row])) {
			least = until;
			row = i;
		}
	}
	if (row >= 0)
		simplex_pivot(s, cost, row);
	return row;
}

void to_simplex_price(struct to_simplex *s)
{
	unsigned int i, k;

	for (k = 0; k < s->rows; k++)
		s->dual[k] = 0;
	for (i = 0; i < s->rows; i++) {
		if (s->cost[i] == 0)
			continue;
		for (k = 0; k < s->rows; k++)
			s->dual[k] += s->cost[i] * s->inverse[(size_t)i * s->rows + k];
	}
}

void to_simplex_set(struct to_simplex *s, const double *b)
{
	unsigned int i, k;

	for (i = 0; i < s->rows; i++) {
		s->value[i] = 0;
		for (k = 0; k < s->rows; k++)
			s->value[i] += s->inverse[(size_t)i * s->rows + k] * b[k];
	}
}
