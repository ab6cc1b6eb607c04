/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_SORT_BY_H
#define TOPOOPT_SORT_BY_H

/* Indices in the order of what they stand for. */

#include <stdint.h>

/**
 * to_sort_by() - put @n indices into the order of their keys, quickly if they nearly are
 * @key: per index
 * @scratch: room for @n
 *
 * What is equal stays in its order.
 */
void to_sort_by(uint32_t *indices, unsigned int n, const double *key, uint32_t *scratch);

#endif
