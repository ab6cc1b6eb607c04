/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PHASES_H
#define TOPOOPT_PHASES_H

/* Which intervals of traffic are alike: the phases of an iteration, or of several jobs. */

#include <stdbool.h>
#include <stdint.h>

#define TO_PHASES_MAX 3
#define TO_PHASES_APART 0.3	/* share of the bytes that are of other pairs */

/**
 * to_phases_find() - group matrices by the shares that their pairs have
 * @bytes: @n_matrices matrices, each of @cells cells
 * @phase: gets the phase of each, UINT32_MAX for one without bytes
 *
 * Each matrix belongs to the nearest centre; centres are the first matrix, then those
 * farthest from all others (Gonzalez, "Clustering to minimize the maximum intercluster
 * distance", 1985), while they are more than TO_PHASES_APART away in total variation.
 *
 * Return: phases, TO_PHASES_MAX at most.
 */
unsigned int to_phases_find(const uint64_t *const *bytes, unsigned int n_matrices,
			    unsigned int cells, uint32_t *phase, double *distance);

/** to_phases_newest() - the first matrix of the phase that came last; 0 where there is none */
unsigned int to_phases_newest(const uint32_t *phase, unsigned int n_matrices);

#endif
