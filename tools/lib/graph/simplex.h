/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SIMPLEX_H
#define TOPOOPT_SIMPLEX_H

/*
 * Small linear programs whose columns are found as they are needed: min cost x, A x = b,
 * x >= 0, by the revised simplex method with the inverse of the basis (G. Dantzig and
 * P. Wolfe, "Decomposition principle for linear programs", 1960).
 */

#include <stdint.h>

#include "base/arena.h"

/**
 * struct to_simplex - a basis, one variable for each row
 * @inverse: rows x rows, of the columns of the basis
 * @value, @cost: per row, of its variable
 * @dual: per row, the price of one more of it; see to_simplex_price()
 * @way: scratch: per row, how its variable falls as the one that enters grows
 */
struct to_simplex {
	unsigned int rows;
	double *inverse, *value, *cost, *dual, *way;
};

/**
 * to_simplex_init() - each row its own variable, which costs nothing
 * @b: per row, the value of its variable; may be below 0 until others are forced in
 *
 * The arrays are those of @arena. Return: 0 or -ENOMEM.
 */
int to_simplex_init(struct to_simplex *s, unsigned int rows, const double *b,
		    struct to_arena *arena);

/** to_simplex_force() - the variable of @column replaces that of @row, wherever that leads */
void to_simplex_force(struct to_simplex *s, const double *column, double cost,
		      unsigned int row);

/**
 * to_simplex_enter() - grow the variable of @column until another one is 0, and replace that
 *
 * Return: the row of the one replaced, -1 when none falls.
 */
int to_simplex_enter(struct to_simplex *s, const double *column, double cost);

/** to_simplex_price() - make to_simplex.dual: a column of less cost than it is worth there gains */
void to_simplex_price(struct to_simplex *s);

/** to_simplex_set() - the values that the basis has for another right-hand side @b */
void to_simplex_set(struct to_simplex *s, const double *b);

#endif
