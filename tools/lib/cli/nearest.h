/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_NEAREST_H
#define TOPOOPT_NEAREST_H

/* Suggestions for mistyped words. */

#include <stdbool.h>

/** TO_NEAR - number of edits from which a word is no suggestion */
#define TO_NEAR 3

/**
 * to_is_nearer() - tell whether @name takes fewer edits to become @typed than @best
 * @best: least number of edits so far, TO_NEAR at first; updated if true is returned
 *
 * Letters are inserted, removed, replaced or swapped. A word of which more than half would
 * have to change is not near.
 */
bool to_is_nearer(const char *name, const char *typed, unsigned int *best);

#endif
